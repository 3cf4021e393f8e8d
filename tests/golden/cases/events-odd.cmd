cd $data && $assay list --events events/odd odd
