$assay stat -I 0 -- true
