$assay list knm::icache:hit
