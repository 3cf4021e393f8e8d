$assay encode knm::UNHALTED_REFERENCE_CYCLES:u | tail -n +4
