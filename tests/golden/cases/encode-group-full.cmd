$assay encode --print codes knm::LLC_MISSES knm::LLC_REFERENCES knm::ICACHE
