#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the fuzzers and runs each of them on its corpus. usage: run.sh [SECONDS [NAME ...]]   default: 60, all
# With "events" also goes a share of ten million event strings made from the tables' words: mutate_events takes a count.
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
    if [ "$name" = events ]; then
        ninja -C $dir tests/fuzz/mutate_events
        "$dir/tests/fuzz/mutate_events" $((seconds * 20000)) "$(date +%s)" || failed=1
    fi
done
exit $failed
