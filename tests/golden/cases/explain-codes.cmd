$assay explain knm 0x5301b7 0x181800001
