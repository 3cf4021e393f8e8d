$assay encode --print codes netburst::replay_event:L1_LD_MISS netburst::replay_event:L2_LD_MISS
