$assay list netburst replay_event
