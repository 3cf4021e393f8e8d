#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records a program and compares the decoded flow with what QEMU really executed, thread by thread.

usage: truth.py [--perf] [--exit N] [--timing MODEL] ASSAY PROGRAM [ARGS]
  --perf   perf's own decoder must come to the same instructions too (peer; slow)
  --exit N the exit status that is due (0)"""
import argparse
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile

RETURNS = ["", "noretcomp"]
PERIODS = ["psb_period=0", "psb_period=5"]
CYCLES = ["cyc", "cyc=0", "cyc,cyc_thresh=6"]
WRAP = (1 << 64) - 1


def read_truth(path):
    truth = {}
    for line in open(path):
        w = line.split()
        if w[0] == "stream":
            truth[int(w[1])] = (int(w[5]), int(w[7]), int(w[9], 16))
    return truth


def read_flow(assay, data):
    out = subprocess.run([assay, "flow", "--digest", "--json", data], capture_output=True, text=True)
    records = [r for r in map(json.loads, out.stdout.splitlines()) if r.get("stream") not in (None, "all")]
    flow = {int(r["stream"]): (int(r["instructions"]), int(r["chk"], 16)) for r in records}
    return flow, out.stderr.strip(), out.returncode


def differences(truth, flow):
    return [f"stream {i}: executed {n} chk {c:#x}, decoded {flow.get(i)}" for i, (_, n, c) in truth.items()
            if flow.get(i) != (n, c)] + [f"stream {i} was never executed" for i in flow if i not in truth]


def check_perf(data, truth):
    """The same by perf's decoder. Its text has no stream, only the thread."""
    perf = subprocess.Popen(["perf", "script", "--itrace=i1ie", "-i", data, "-F", "tid,ip"], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    got, errors = {}, []
    for line in perf.stdout:
        w = line.split()
        if len(w) != 2:
            errors.append(line.strip())
            continue
        d = got.setdefault(int(w[0]), [0, 0])
        d[0] += 1
        d[1] = (d[1] * 31 + int(w[1], 16)) & WRAP
    perf.communicate()
    bad = [f"perf: {e}" for e in errors[:5]]
    for tid, n, c in truth.values():
        if tuple(got.get(tid, (0, 0))) != (n, c):
            bad.append(f"perf: thread {tid}: executed {n} chk {c:#x}, decoded {got.get(tid)}")
    return bad


def run_once(a, options, folder):
    data, truth = os.path.join(folder, "t.data"), os.path.join(folder, "truth")
    command = [a.assay, "record", "-q", "-f", "-o", data, "--truth", truth, "--timing", a.timing, "--pt", options, "--"]
    done = subprocess.run(command + a.program, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode != a.exit:
        return [f"exit status {done.returncode}, not {a.exit}: {done.stderr.strip()}"]
    executed = read_truth(truth)
    flow, says, status = read_flow(a.assay, data)
    bad = differences(executed, flow)
    if "inexact" in done.stderr:
        bad.append(done.stderr.strip())
    if status != 0 or says:
        bad.append(f"assay flow: exit status {status}: {says}")
    if sum(n for _, n, _ in executed.values()) == 0:
        bad.append("nothing was executed")
    if a.perf:
        bad += check_perf(data, executed)
    return bad


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--perf", action="store_true")
    p.add_argument("--exit", type=int, default=0)
    p.add_argument("--timing", default="flat")
    p.add_argument("assay")
    p.add_argument("program", nargs=argparse.REMAINDER)
    a = p.parse_args()
    if not shutil.which(a.program[0]) or not shutil.which("qemu-x86_64") or (a.perf and not shutil.which("perf")):
        print("skipped:", a.program[0], "or qemu-x86_64 or perf is not installed")
        return 77
    failed = 0
    matrix = ["psb_period=0"] if a.perf else [""] if a.timing != "flat" else map(",".join, itertools.product(RETURNS, PERIODS, CYCLES))
    for options in matrix:
        with tempfile.TemporaryDirectory() as folder:
            bad = run_once(a, options, folder)
        print("ok  " if not bad else "BAD ", options or "(default)")
        for line in bad:
            print("    ", line)
        failed += bool(bad)
    return 1 if failed else 0


sys.exit(main())
