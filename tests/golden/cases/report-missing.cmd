$assay report nowhere.data
