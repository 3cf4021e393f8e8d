cd $data && $assay list --events events | sed "s/  <- this machine//" | grep "^PMU\|^[a-z-]* .*Fixture\|header"; $assay list --events events --names | grep -c "^skx::"
