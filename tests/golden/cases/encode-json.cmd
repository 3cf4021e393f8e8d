$assay encode --json knm::OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR_NEAR:u
