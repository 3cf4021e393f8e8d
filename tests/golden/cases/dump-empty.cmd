: > empty; $assay dump empty
