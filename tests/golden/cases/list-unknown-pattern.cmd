$assay list knm "Z*"
