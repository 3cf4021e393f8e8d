$assay stat -e 'page-faults,{cycles,instructions:u' -- true
