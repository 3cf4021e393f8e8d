$assay report a b
