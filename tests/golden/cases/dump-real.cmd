# needs: shared
$assay dump $shared/data/pt/dynamorio-cyc/pt.bin > all; echo $?; grep -c '  CYC ' all; grep -c '  MTC ' all
