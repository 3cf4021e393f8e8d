$assay explain 0x1a6 0x80800001 --pmu knm
