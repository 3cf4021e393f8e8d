$assay list knm "LLC_*" "*_MISSES" | cut -c1-60
