#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the fuzzers and runs each of them on its corpus. usage: run.sh [SECONDS [NAME ...]]   default: 60, all
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60}
[ $# -gt 0 ] && shift
dir=build-fuzz
[ -f $dir/build.ninja ] || CC=clang meson setup $dir -Dfuzz=true
[ $# -gt 0 ] || set -- $(cd tests/fuzz/corpus && ls)
failed=0
for name in "$@"; do
    ninja -C $dir "tests/fuzz/fuzz_$name"
    mkdir -p "$dir/found/$name"
    # New inputs go to the first folder; the corpus in the source tree is only read.
    "$dir/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -rss_limit_mb=512 -print_final_stats=1 -artifact_prefix="$dir/found/$name-" \
        "$dir/found/$name" "tests/fuzz/corpus/$name" || failed=1
done
exit $failed
