#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures recording, counting, packets and flow beside plain QEMU and libipt; prints ratios taken within this one run.
# usage: run.sh [MEGABYTES]   trace of at least that many megabytes (100)
set -eu
cd "$(dirname "$0")/.."
want=${1:-100}
dir=build-bench
[ -f $dir/build.ninja ] || meson setup $dir -Dbuildtype=release >/dev/null
ninja -C $dir all bench/bench_flow bench/bench_packets >/dev/null
assay=$dir/cli/assay work=$dir/bench
mkdir -p $work

# A program to record: gzip of as much input as gives that much trace.
input=$work/input
if [ ! -f $input ] || [ "$(stat -c %s $input)" -lt $((want * 175000)) ]; then
    : >$input
    while [ "$(stat -c %s $input)" -lt $((want * 175000)) ]; do cat /usr/bin/qemu-x86_64 /usr/bin/qemu-i386 >>$input; done
fi

seconds() { # user + system time of a command
    python3 - "$@" <<'PY'
import os, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
r = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{r.ru_utime + r.ru_stime:.2f}")
PY
}

echo "== recording gzip -1 of $(($(stat -c %s $input) / 1000000)) MB (user + system seconds; each line beside plain QEMU in the same run)"
plain=$(seconds qemu-x86_64 /usr/bin/gzip -1 -c $input)
for options in "" "cyc=0" "cyc=0,mtc=0,tsc=0"; do
    rm -f $work/t.data
    took=$(seconds $assay record -q -f -o $work/t.data --timing flat ${options:+--pt $options} -- /usr/bin/gzip -1 -c $input)
    python3 -c "print(f'flat, --pt {\"$options\" or \"(default)\":<22} {$took:7.2f} s  plain QEMU {$plain:7.2f} s  ratio {$took / $plain:5.2f}  trace {$(stat -c %s $work/t.data) / 1e6:8.1f} MB')"
done
took=$(seconds $assay record -q -f -o $work/t.data --timing cache -- /usr/bin/gzip -1 -c $input)
python3 -c "print(f'cache timing                      {$took:7.2f} s  plain QEMU {$plain:7.2f} s  ratio {$took / $plain:5.2f}')"

echo "== counting the same on the machine model (assay stat --virtual), beside the same plain QEMU"
count() { # machine, events
    took=$(seconds $assay stat --virtual --machine "$1" -o $work/t.stat -e "$2" -- /usr/bin/gzip -1 -c $input)
    python3 -c "print(f'{\"$1\":<5} {\"$2\":<37} {$took:7.2f} s  plain QEMU {$plain:7.2f} s  ratio {$took / $plain:5.2f}')"
}
count flat instructions,branches
count cache instructions,branches,branch-misses
count flat L1-dcache-loads,L1-dcache-stores
count cache cycles,instructions,cache-misses

for options in "cyc=0,mtc=0,tsc=0,noretcomp" "cyc=0,mtc=0,tsc=0" "cyc=0" "cyc"; do
    echo "== decoding, recorded with --pt $options"
    $assay record -q -f -o $work/t.data --timing flat --pt $options -- /usr/bin/gzip -1 -c $input >/dev/null
    $dir/bench/bench_flow $work/t.data 3
done
echo "== memory of the whole command"
/usr/bin/env python3 - $assay flow --digest $work/t.data <<'PY'
import resource, subprocess, sys
print(subprocess.run(sys.argv[1:], capture_output=True, text=True).stdout.strip())
print(f"largest resident size: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.1f} MiB")
PY
bench/events.sh $dir
