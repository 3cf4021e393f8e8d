$assay explain MSR_PEBS_ENABLE 0x1000001 --pmu netburst; $assay explain 0x3f1 0x80000001 --pmu knm
