$assay stat -e 'cpu/event=0x3c,umask=1' -- true
