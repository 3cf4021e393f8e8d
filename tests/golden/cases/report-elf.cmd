cp /bin/true t.data; $assay report t.data
