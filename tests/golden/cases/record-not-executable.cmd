echo text >p; $assay record -o t.data -- ./p; ls
