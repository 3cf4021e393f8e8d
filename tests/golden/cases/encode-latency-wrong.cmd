$assay encode --latency DDR_NEAR
