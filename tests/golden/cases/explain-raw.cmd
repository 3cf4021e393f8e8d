$assay explain knm 0x530b80
