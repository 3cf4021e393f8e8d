$assay encode --json 'knm::ICACHE:HOT'
