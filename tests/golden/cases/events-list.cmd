cd $data && COLUMNS=110 $assay list --events events snb
