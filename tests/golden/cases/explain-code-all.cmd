$assay explain 0x53412e
