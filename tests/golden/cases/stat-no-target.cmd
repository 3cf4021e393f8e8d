$assay stat -e page-faults
