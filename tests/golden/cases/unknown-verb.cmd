$assay hepl x
