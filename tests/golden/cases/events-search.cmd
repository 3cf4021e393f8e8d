cd $data && $assay list --events events --cpu 6/85/4 --search "slow load"
