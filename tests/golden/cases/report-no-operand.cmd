$assay report
