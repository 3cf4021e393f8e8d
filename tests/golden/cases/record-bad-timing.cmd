$assay record -o t.data --timing flatt -- true; ls
