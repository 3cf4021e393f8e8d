$assay encode --pebs knm::LLC_MISSES knm::BR_MISP_RETIRED:RETURN:precise=1 | sed -n "/^writes/,\$p"
