COLUMNS=72 $assay list knm "PAGE_*"
