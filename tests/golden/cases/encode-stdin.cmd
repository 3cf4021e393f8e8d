printf 'knm::ICACHE:HIT:u\nknm::ICACHE:HOT\r\n\nknm::OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR_NEAR:u' | $assay encode --stdin
