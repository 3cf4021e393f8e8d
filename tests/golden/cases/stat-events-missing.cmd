$assay stat --events ./none.json -e page-faults -- true
