COLUMNS=120 $assay list --search "offcore near" --top 4
