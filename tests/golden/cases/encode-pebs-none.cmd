$assay encode --pebs --print codes knm::ICACHE; $assay encode --pebs --print codes knm::LLC_MISSES knm::BR_MISP_RETIRED
