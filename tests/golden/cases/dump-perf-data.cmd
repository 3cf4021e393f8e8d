# needs: shared
f=$shared/data/pt/quipper/perf.data.intel_pt-4.14
$assay dump $f > file; echo $?
$assay dump - < $f | cmp - file
cat $f | $assay dump - | cmp - file
grep ^stream file
grep -c gap file
$assay dump --json --stream 0 $f | sed -n '1,2p'
$assay dump --stream 2 $f
