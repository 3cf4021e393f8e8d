$assay stat -C 0-x --timeout 1
