$assay record -o nowhere/t.data -- true
