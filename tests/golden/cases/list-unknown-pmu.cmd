$assay list knn
