$assay encode --latency DMND_DATA_RD:PF_L2_RFO --pmu knm | grep -v "^  [A-Z][a-z]\|their latency\|streaming"
