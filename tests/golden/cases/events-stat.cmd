cd $data && $assay stat --events events -e clx::INST_RETIRED.ANY_P true 2>&1 | head -1; $assay stat --virtual --events events true
