cd $data && $assay list --events events skx ITLB_MISSES.WALK_ACTIVE && $assay list --events events hsw OFFCORE_REQUESTS_OUTSTANDING.DEMAND_RFO
