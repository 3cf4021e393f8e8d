$assay list --cpu 6/133/0 ICACHE | head -1; $assay list --cpu 15/2/7 ITLB_reference | head -1
