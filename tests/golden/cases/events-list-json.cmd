cd $data && $assay list --events events --json adl-core MEM_TRANS_RETIRED.LOAD_LATENCY_GT_128
