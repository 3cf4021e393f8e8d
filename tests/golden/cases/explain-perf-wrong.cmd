$assay explain cpu/event=0x1b7/; $assay explain cpu/evnt=1/; $assay explain cpu/event=0x3c; $assay explain --perf config=zz
