for e in knm::OFFCORE_RESPONSE_0:PARTIAL_WRITES netburst::IOQ_allocation:TYPE_BIT1 netburst::TC_deliver_mode:DD:thr=16; do $assay encode $e; done
