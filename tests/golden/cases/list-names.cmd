$assay list --names knm "I*"
