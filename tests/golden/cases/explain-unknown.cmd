$assay explain knm zork; $assay explain MSR_PEBS_ENABEL 1; $assay explain
