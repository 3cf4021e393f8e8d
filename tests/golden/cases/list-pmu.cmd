COLUMNS=120 $assay list knm
