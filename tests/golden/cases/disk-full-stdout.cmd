$assay help >/dev/full
