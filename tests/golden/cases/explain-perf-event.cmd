$assay explain --perf cpu/event=0xb7,umask=0x1,offcore_rsp=0x10001/u; $assay explain --perf r412e:k
