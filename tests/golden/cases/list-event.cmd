$assay list knm OFFCORE_RESPONSE_0
