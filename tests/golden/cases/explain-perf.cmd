$assay explain knm cpu/event=0xb7,umask=0x1,offcore_rsp=0x80800001/u; $assay explain --pmu knm r412e; $assay explain knm --perf type=4,config=0x412e; $assay explain perf --perf type=3,config=0x10000
