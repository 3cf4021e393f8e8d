cd $data && $assay explain --events events skx 0x1bb 0x103fc00020 && $assay explain --events events knl-json 0x2b7 0x14800 && $assay explain --events events --cpu 6/85/7 0xc0
