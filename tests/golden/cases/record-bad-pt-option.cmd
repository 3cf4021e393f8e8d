$assay record -o t.data --pt cyc,mtcc -- true; ls
