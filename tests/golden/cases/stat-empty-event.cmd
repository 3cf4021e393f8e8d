$assay stat -e cycles,,instructions -- true
