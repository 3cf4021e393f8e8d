$assay stat -e '{page-faults,task-clock}:ux' -- true
