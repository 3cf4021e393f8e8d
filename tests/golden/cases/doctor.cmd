$assay doctor | cut -c 1-20 | grep -v "^ "
