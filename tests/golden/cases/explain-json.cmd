$assay explain --json knm 0x5101b7 0x80800001; $assay explain --json MSR_PEBS_MATRIX_VERT 0x11 --pmu netburst
