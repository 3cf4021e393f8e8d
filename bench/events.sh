#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures the drop-in libpfm.so.4 beside Debian's libpfm4 in one run: time, instructions, size, relocations, memory.
# usage: events.sh [BUILD]   a release build (build-bench)
set -eu
cd "$(dirname "$0")/.."
dir=${1:-build-bench}
[ -f "$dir/build.ninja" ] || meson setup "$dir" -Dbuildtype=release >/dev/null
reference=$(ls /usr/lib/*/libpfm.so.4 2>/dev/null | head -n 1)
[ -n "$reference" ] || { echo "libpfm4 is not installed: events are not measured"; exit 0; }
ninja -C "$dir" src/compat/libpfm.so.4 bench/bench_events >/dev/null
ours=$dir/src/compat/libpfm.so.4 bench=$dir/bench/bench_events

# What stands on disk may still be in memory as written; then all of it would count as the process's own.
sync "$ours"
echo "== events: libpfm.so.4 of Debian and ours, medians of alternating rounds"
"$bench" "$reference" "$ours"

relocations() { readelf -rW "$1" | grep -cE '\bR_[A-Z0-9]+_'; }
stripped() { strip -o "$dir/bench/stripped" "$1" && stat -c %s "$dir/bench/stripped"; }
compare() { python3 -c "print(f'{\"$1\":<34} {$2:12d} {$3:12d}       {$2 / $3:8.1f} x')"; }
compare "library, stripped, bytes" "$(stripped "$reference")" "$(stripped "$ours")"
compare "relocations" "$(relocations "$reference")" "$(relocations "$ours")"

command -v valgrind >/dev/null || { echo "valgrind is not installed: instructions are not counted"; exit 0; }
# Instructions of one call: the difference between 1100 and 100.
instructions() {
    for n in 100 1100; do
        valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bench" count "$1" "$2" $n 2>&1 |
            sed -n 's/.*Collected : //p'
    done | python3 -c "a, b = map(int, open(0)); print((b - a) // 1000)"
}
for work in "registers, simple" "registers, offcore" "perf, offcore" "find, first of the table" "listing knm"; do
    compare "instructions: $work" "$(instructions "$reference" "$work")" "$(instructions "$ours" "$work")"
done
