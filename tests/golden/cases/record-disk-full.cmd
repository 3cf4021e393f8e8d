$assay record -f -o /dev/full -- true
