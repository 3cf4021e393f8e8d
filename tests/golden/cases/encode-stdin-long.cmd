head -c 100000 /dev/zero | tr "\000" x > long; (cat long; echo; echo knm::ICACHE) | $assay encode --stdin | cut -c1-60
