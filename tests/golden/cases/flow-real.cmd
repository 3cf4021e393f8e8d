# needs: shared
$assay flow --as pt $shared/data/pt/dynamorio-cyc/pt.bin --image $shared/data/pt/dynamorio-cyc/hello@0x400000 --insn
