$assay encode perf::cycles:u perf::PERF_COUNT_HW_CACHE_L1D:READ:MISS | grep -v "^  [A-Z]"
