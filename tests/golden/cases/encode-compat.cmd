$assay encode --compat libpfm4 knm::OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR_NEAR:u knm::OFFCORE_RESPONSE_0:ANY_READ netburst::global_power_events
