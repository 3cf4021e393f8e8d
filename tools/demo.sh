#!/bin/sh
# SPDX-License-Identifier: MIT
# Records a real program on virtual Processor Trace and shows what it did.
# usage: demo.sh BUILD
set -eu
assay=$1/cli/assay file=$1/demo.data
set -- /usr/bin/python3 -I -S -c 'print("sum of squares:", sum(i * i for i in range(500000)))'
say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }

say assay record -o demo.data -- python3 -c "'...sum(i * i for i in range(500000))...'"
"$assay" record -f -o "$file" -- "$@"
say assay report --top 15 demo.data
"$assay" report --top 15 "$file"
say assay report --calls --top 20 --min 20 demo.data
"$assay" report --calls --top 20 --min 20 "$file"
printf '\nThe recording is %s; `perf script --itrace=b -i` reads it too.\n' "$file"
