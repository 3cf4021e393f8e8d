$assay stat --big-num sometimes -- true
