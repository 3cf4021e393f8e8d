#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Loads, stores and cache misses of small assembly programs against counts made by hand.

usage: accesses.py DRIVER hand PROGRAM
       accesses.py DRIVER stride PROGRAM LINES ROUNDS load|store"""
import sys
import tempfile

from tally_of import tally_of

# Of accesses.S: the instructions in order, REP MOVSB with its five rounds.
LOADS = 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 5 + 1 + 4 + 4 + 1 + 1 + 2
STORES = 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 5 + 1 + 4 + 1
L1D_LINES, L2_LINES = 32768 // 64, 262144 // 64  # the model "cache"


def compare(got, **want):
    bad = {k: (v, got[k.replace("_", "-")]) for k, v in want.items() if got[k.replace("_", "-")] != v}
    print("BAD" if bad else "ok ", bad or want)
    return bool(bad)


def by_hand(driver, program):
    bad = False
    for model in "flat", "cache":
        bad |= compare(tally_of(driver, model, "all", [program])[0][0][2], loads=LOADS, stores=STORES)
    bad |= compare(tally_of(driver, "flat", "loads", [program])[0][0][2], loads=LOADS, stores=STORES)
    with tempfile.NamedTemporaryFile("w") as model:
        model.write("base = flat\nsyscall_cycles = 7\ncore_ratio = 12\n")  # half of max_ratio: two ticks of the TSC a cycle
        model.flush()
        got = tally_of(driver, model.name, "ref-cycles", [program])[0][0][2]
    cycles = got["instructions"] + 7 * got["far"]
    return bad | compare(got, cycles=cycles, ref_cycles=2 * cycles)


def stride(driver, program, lines, rounds, which):
    """All lines miss in the first round. Later ones find them in L1D when they fit; when they are twice as many, the least recently
    used going first means that none is left when its turn comes, and L2, four times as large, has them all."""
    again = 0 if lines <= L1D_LINES else lines
    assert lines in (L1D_LINES // 2, 2 * L1D_LINES) and lines < L2_LINES
    got = tally_of(driver, "cache", "all", [program])[0][0][2]
    want = {f"{which}_l2": again * (rounds - 1), f"{which}_llc": 0, f"{which}_memory": lines}
    stall = 0 if which == "store" else again * (rounds - 1) * 8 + lines * (8 + 26 + 150)
    return compare(got, **want, **{which + "s": lines * rounds}, load_cycles=stall, code_llc=0,
                   instructions=1 + rounds * (2 + 4 * lines + 2) + 3)


def main():
    driver, what, program = sys.argv[1:4]
    if what == "hand":
        return by_hand(driver, program)
    return stride(driver, program, int(sys.argv[4]), int(sys.argv[5]), sys.argv[6])


sys.exit(main())
