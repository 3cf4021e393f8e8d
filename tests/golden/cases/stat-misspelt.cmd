$assay stat -e page-faults,cycels:u -- true
