$assay help --mna
