# needs: shared
head -c 100000 $shared/data/pt/quipper/perf.data.intel_pt-4.14 | $assay dump - > /dev/null
