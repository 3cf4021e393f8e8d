$assay record
