$assay doctor now
