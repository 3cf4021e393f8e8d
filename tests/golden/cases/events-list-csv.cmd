cd $data && $assay list --events events --csv knl-json
