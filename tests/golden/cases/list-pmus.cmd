$assay list
