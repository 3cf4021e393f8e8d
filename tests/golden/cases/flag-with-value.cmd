$assay help --man=x
