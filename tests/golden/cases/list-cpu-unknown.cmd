$assay list --cpu 6/1/0
