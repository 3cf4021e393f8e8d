$assay encode --pebs --pmi netburst::replay_event:NBOGUS:L1_LD_MISS | sed -n "/^writes/,\$p"
