COLUMNS=400 $assay encode --latency DMND_DATA_RD:PF_L2_RFO --pmu knm | grep -v "^  Request"
