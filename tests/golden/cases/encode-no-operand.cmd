$assay encode
