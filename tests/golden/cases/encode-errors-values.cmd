for e in ICACHE:HIT=1 ICACHE:c ICACHE:c=x ICACHE:u=7 ICACHE:c=256 ICACHE:c=1:c=2 ICACHE:precise=4; do $assay encode knm::$e; done
