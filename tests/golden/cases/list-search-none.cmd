$assay list --search xyzzy
