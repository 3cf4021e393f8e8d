$assay record -o t.data -- ./nowhere; ls
