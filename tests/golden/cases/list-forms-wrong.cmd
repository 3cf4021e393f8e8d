for o in "--csv" "--csv --search near" "knm ICACHE --search near"; do $assay list $o; echo "exit $?" >&2; done
