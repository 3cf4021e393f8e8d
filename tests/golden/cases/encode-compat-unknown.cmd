$assay encode --compat papi knm::ICACHE
