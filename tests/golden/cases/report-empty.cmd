: >t.data; $assay report t.data
