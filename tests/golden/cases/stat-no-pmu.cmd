$assay stat -e no_such_pmu/event=1/ -- true
