printf 'knm::ICACHE:HIT:u\nknm::ICACHE:"\nknm::OFFCORE_RESPONSE_1:DMND_RFO\n' | $assay encode - --csv
