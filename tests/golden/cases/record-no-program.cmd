$assay record -o t.data
