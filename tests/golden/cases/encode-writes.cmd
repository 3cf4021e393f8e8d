$assay encode --writes knm::OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR_NEAR:u knm::INST_RETIRED:ANY_P knm::INSTRUCTION_RETIRED | sed -n "/^all/,\$p"
