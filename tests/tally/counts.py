#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts must be those of what the recorder says was executed: instructions thread by thread, branches by kind as in the
decoded flow, cycles to where the trace ends. Two runs must count the same.

usage: counts.py [--no-cycles] ASSAY DRIVER PROGRAM [ARGS]
  --no-cycles  for programs that change their code, at which a recording's clock jumps, or that something kills"""
import shutil
import sys

from tally_of import record, tally_of

ISSUE, PENALTY, SYSCALL_CYCLES = 4, 16, 300  # of the model "cache"
MISSES = "miss-not-taken", "miss-taken", "miss-jmp-ind", "miss-call-ind", "miss-ret"


def traced_cycles(dump):
    """Of each stream the cycles up to its last TIP.PGD."""
    at, ends = {}, {}
    for p in dump:
        if p["packet"] == "CYC":
            at[p["stream"]] = at.get(p["stream"], 0) + int(p["cycles"])
        elif p["packet"] == "TIP.PGD":
            ends[p["stream"]] = at.get(p["stream"], 0)
    return [ends[s] for s in sorted(ends)]


def branches(threads):
    """In the words of `assay flow`."""
    kinds = {"cond": ("cond-taken", "cond-not-taken"), "jump": ("jmp",), "call": ("call",), "jump-indirect": ("jmp-ind",),
             "call-indirect": ("call-ind",), "return": ("ret",), "far": ("far",)}
    return {kind: sum(t[q] for _, _, t in threads for q in quantities) for kind, quantities in kinds.items()}


def adds_up(t):
    """Cycles are those of issue, whose left-over slots are carried on, and of all that is waited for."""
    waits = t["fetch-cycles"] + t["load-cycles"] + t["branch-cycles"] + t["far-cycles"]
    return (t["cycles"] == t["instructions"] // ISSUE + waits and t["ref-cycles"] == t["cycles"] and
            t["branch-cycles"] == PENALTY * sum(t[m] for m in MISSES) and t["far-cycles"] == SYSCALL_CYCLES * t["far"])


def main():
    no_cycles = sys.argv[1] == "--no-cycles"
    assay, driver, *program = sys.argv[1 + no_cycles:]
    if not shutil.which("qemu-x86_64") or not shutil.which(program[0]):
        print("skipped: qemu-x86_64 or the program is not installed")
        return 77
    bad = []
    streams, dump, flow = record(assay, "cache", False, program)
    truth = [n for n, _ in streams]
    for model, what in (("flat", "instructions"), ("cache", "miss-taken"), ("cache", "all")):
        threads, said = tally_of(driver, model, what, program)
        again, _ = tally_of(driver, model, what, program)
        counts = [t["instructions"] for _, _, t in threads]
        print(model, what, counts, truth, said)
        if counts != truth or ("tally:" in said and not said.strip().endswith("not understood: 0")):
            bad.append(f"{model} {what}: instructions")
        if [t for _, _, t in threads] != [t for _, _, t in again]:
            bad.append(f"{model} {what}: two runs differ")
    print("branches", branches(threads), dict(flow))
    if any(flow[kind] != n for kind, n in branches(threads).items()):
        bad.append("branches")
    bad += [f"thread {i}: cycles do not add up" for i, (_, _, t) in enumerate(threads) if not adds_up(t)]
    cycles = [t["cycles"] - SYSCALL_CYCLES for _, _, t in threads]
    print("cycles without the last system call's, which come after the last packet", cycles, traced_cycles(dump))
    if len(truth) == 1 and not no_cycles and cycles != traced_cycles(dump):
        bad.append("cycles")
    print("\n".join(bad))
    return bool(bad)


sys.exit(main())
