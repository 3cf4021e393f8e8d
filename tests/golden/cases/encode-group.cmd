$assay encode knm::LLC_MISSES knm::LLC_REFERENCES knm::INSTRUCTION_RETIRED | tail -n 5
