$assay stat -e netburst::TC_DELIVER_MODE:DD -- true
