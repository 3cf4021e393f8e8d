$assay encode --print codes knm::OFFCORE_RESPONSE_0:DMND_DATA_RD:OUTSTANDING knm::LLC_MISSES
