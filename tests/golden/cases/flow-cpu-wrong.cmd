$assay flow --as pt a --cpu 6-158
