$assay explain knm 0x5300fe
