$assay encode "$(printf '%01000d' 0)"
