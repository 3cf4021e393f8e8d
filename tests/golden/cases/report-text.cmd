echo hello >t.data; $assay report t.data
