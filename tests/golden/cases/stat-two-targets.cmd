$assay stat -a -p 1
