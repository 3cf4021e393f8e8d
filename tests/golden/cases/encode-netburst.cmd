$assay encode netburst::replay_event:L1_LD_MISS:NBOGUS
