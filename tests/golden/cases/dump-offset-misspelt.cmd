$assay dump --offset 12-34 x
