cd $data && for e in SQ_MISC.SPLIT_LOK SQ_MISC.SPLIT_LOCK:e ITLB_MISSES.WALK_ACTIVE:c=2 INST_RETIRED.ANY:i SQ_MISC.SPLIT_LOCK:precise=1; do $assay encode --events events/SKX skx::$e; done
