$assay encode netburst_p::execution_event:NBOGUS0:u netburst_p::packed_SP_uop:TAG0:u | tail -n 8
