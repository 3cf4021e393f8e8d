$assay stat --repeat 3 -I 100 -- true
