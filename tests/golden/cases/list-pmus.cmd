$assay list | sed "s/  <- this machine//; /^This machine/d; /^\$/d"
