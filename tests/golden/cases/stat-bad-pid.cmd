$assay stat -p x,12
