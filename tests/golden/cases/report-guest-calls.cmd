cp $step_calls prog; $assay record -q --timing flat -o t.data -- ./prog; $assay report --calls --min 50 t.data
