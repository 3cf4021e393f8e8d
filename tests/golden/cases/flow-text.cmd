echo hello >t.data; $assay flow --digest t.data
