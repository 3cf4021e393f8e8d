COLUMNS=400 $assay list knm | cut -c1-66
