printf 'knm::ICACHE:\303\274x:HIT\nknm::LLC\033[31m\n' > f; while IFS= read -r e; do $assay encode "$e"; done < f
