$assay flow nothing.data
