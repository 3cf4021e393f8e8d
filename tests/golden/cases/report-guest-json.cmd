cp $step_calls prog; $assay record -q --timing flat -o t.data -- ./prog; $assay report --json t.data | sed "s,\"dso\":\"[^\"]*/,\"dso\":\"," 
