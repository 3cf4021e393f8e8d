$assay encode knm::llc_misses
