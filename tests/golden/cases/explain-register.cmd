$assay explain IA32_PERFEVTSEL0 0x14c412e --pmu knm
