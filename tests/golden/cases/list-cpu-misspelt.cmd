$assay list --cpu 6-133
