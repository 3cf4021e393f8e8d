$assay stat --per-cpu -- true
