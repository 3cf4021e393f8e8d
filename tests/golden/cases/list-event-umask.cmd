COLUMNS=400 $assay list knm::icache:hit | cut -c1-60
