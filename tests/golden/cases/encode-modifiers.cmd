$assay encode knm::BR_INST_RETIRED.JCC:k:c=2:i:precise=1 | tail -n +3; $assay encode knm::unhalted_core_cycles:t | tail -n +3
