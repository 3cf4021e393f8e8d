for e in knn::ICACHE knm::ICACHES "knm::ICACHE:HIT,u" "knm::ICACHE HIT" knm::ICACHE:HOT knm::ICACHE: knm:: "" ; do $assay encode "$e"; echo "exit $?" >&2; done
