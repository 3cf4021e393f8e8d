$assay record --pt cyc_thresh=15 -- true
