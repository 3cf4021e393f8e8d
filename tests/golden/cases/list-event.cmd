COLUMNS=400 $assay list knm OFFCORE_RESPONSE_0 | cut -c1-55
