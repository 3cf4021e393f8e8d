$assay explain cycles; $assay explain knm::ICACHE:HIT; $assay explain --pmu knm LLC_MISSES
