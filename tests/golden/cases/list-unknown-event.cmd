$assay list knm ICACE
