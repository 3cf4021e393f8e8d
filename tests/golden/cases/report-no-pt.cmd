# needs: shared
$assay report $shared/data/ds/skx-load-latency.perf.data 2>err; echo $?; sed "s,/[^ ]*/,,g" err
