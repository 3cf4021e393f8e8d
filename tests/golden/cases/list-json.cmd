$assay list --json knm PAGE_WALKS; $assay list --json netburst ITLB_reference
