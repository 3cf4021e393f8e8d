$assay stat --virtual --machine flat -e LLC-loads,dTLB-loads -- $tally_accesses
