$assay encode --json knm::LLC_MISSES knm::LLC_REFERENCES knm::ICACHE | tail -n 1
