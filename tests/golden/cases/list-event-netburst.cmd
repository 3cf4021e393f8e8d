COLUMNS=400 $assay list netburst replay_event | cut -c1-70
