for e in ICACHE:e ICACHE:i ICACHE:u=0:k=0 ICACHE:t ICACHE:precise=2 MEM_UOPS_RETIRED:L1_MISS_LOADS:precise=1 ICACHE:period=1:freq=2; do $assay encode knm::$e; done
