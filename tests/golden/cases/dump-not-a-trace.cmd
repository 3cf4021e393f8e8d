echo hello > text; $assay dump text
