cp $step_calls prog; $assay record -q --timing flat -o t.data -- ./prog; head -c 4000 t.data >cut.data; $assay report cut.data >out; echo $?
