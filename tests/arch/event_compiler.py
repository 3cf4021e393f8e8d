#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damages the event tables, one line at a time, and expects the compiler to name file, line, column and what is wrong.

usage: event_compiler.py COMPILER FOLDER"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

# File, the text that is replaced once, by what, and a part of the message.
DAMAGE = [
    ("pmus.tsv", "knl\t203\tcore", "knm\t203\tcore", "pmu: 'knm' twice, first in line"),
    ("pmus.tsv", "knl\t203\tcore", "knl\t203\tmain", "scheme: unknown 'main', expected one of: core netburst software"),
    ("pmus.tsv", "6/87", "6-87", "models: '6-87' is no family/model"),
    ("pmus.tsv", "instr_completed", "instr_complete", "without: no event 'instr_complete'"),
    ("knm.events.tsv", "flags\tmsr", "flag\tmsr", "unknown column 'flag', expected: event alias code"),
    ("knm.events.tsv", "\nLLC_MISSES\t", "\nllc_references\t", "event: 'llc_references' twice, first in line"),
    ("knm.events.tsv", "\nLLC_MISSES\t", "\nLLC MISSES\t", "holds a character that event strings use"),
    ("knm.events.tsv", "LLC_MISSES\t\t0x412e", "LLC_MISSES\t\t0x412g", "code: '0x412g' is not a number"),
    ("knm.events.tsv", "LLC_MISSES\t\t0x412e", "LLC_MISSES\t\t0x1412e", "code: 0x1412e is not in 0..0xffff"),
    ("knm.events.tsv", "\tLLC_REFERENCES\t0x4f2e", "\tLLC_REFERENCE\t0x4f2e", "alias: no event 'LLC_REFERENCE'"),
    ("knm.events.tsv", "\tLLC_REFERENCES\t0x4f2e", "\tLLC_MISSES\t0x4f2e", "alias: 'LLC_MISSES' has the code 0x412e"),
    ("knm.events.tsv", "BR_MISP_RETIRED:ANY\t", "BR_MISP_RETIRED:NONE\t", "alias: no umask 'NONE' of BR_MISP_RETIRED"),
    ("knm.events.tsv", "0 1 f1", "0 1 g1", "counters: 'g1' is no counter"),
    ("knm.events.tsv", "u k e i c t", "u k e i c x", "modifiers: unknown 'x', expected one of: u k e"),
    ("knm.events.tsv", "\tInstructions retired\t", "\t\t", "desc: a description is missing"),
    ("knm.events.tsv", "\textra\t", "\textra extra\t", "flags: 'extra' twice"),
    ("knm.events.tsv", "ICACHE\t\t0x80", "ICACHE\t0x80", "10 columns, expected 11"),
    ("knm.umasks.tsv", "ICACHE\tHIT", "ICACHES\tHIT", "event: no event 'ICACHES'"),
    ("knm.umasks.tsv", "ICACHE\tMISSES", "ICACHE\thit", "umask: 'hit' twice"),
    ("knm.umasks.tsv", "ICACHE\tMISSES", "ICACHE\tC", "umask: 'C' is also a modifier"),
    ("knm.umasks.tsv", "BUS_LOCKS\t\t0x400\t", "BUS_LOCKS\t\t0x80000000000\t", "has bits that no register"),
    ("knm.umasks.tsv", "ANY_PF_L2\t\t0x60", "ANY_PF_L2\t\t0x70", "made_of: is 0x60 together"),
    ("knm.umasks.tsv", "e=1 c=1", "e=1 c=256", "set: 'c=256', expected"),
    ("knm.umasks.tsv", "ANY\tALL\t0x8", "ANY\tALL\t0x4", "alias: 'ALL' has the value 0x8"),
    ("knm.umasks.tsv", "ICACHE\tHIT\t\t0x1\t0\t\t", "ICACHE\tHIT\t\t0x1\t0\t\textra ", "flags: an extra row stands before"),
    ("netburst.events.tsv", "CRU_ESCR2 CRU_ESCR3", "CRU_ESCR2 CRU_ESCR9", "escrs: no ESCR 'CRU_ESCR9'"),
    ("netburst.events.tsv", "CRU_ESCR2 CRU_ESCR3", "CRU_ESCR2 CRU_ESCR1", "escrs: one or two with the same select"),
    ("netburst.umasks.tsv", "TCMISS\t\t0", "TCMISS\t\t16", "bit: 16 is not in 0..0xf"),
    ("netburst.umasks.tsv", "TAG3\t\t3", "TAG3\t\t4", "bit: 4 is not in 0..0x3"),
    ("netburst.metrics.tsv", "\tTAGLOADS\t", "\tTAGLOAD\t", "upstream_umasks: no umask 'TAGLOAD' of uops_type"),
    ("netburst.metrics.tsv", "\treplay\t", "\treplays\t", "mechanism: unknown 'replays'"),
    ("perf.events.tsv", "\tsoftware\t", "\tsoft\t", "type: unknown 'soft'"),
]


def damaged(compiler, folder, name, old, new, want):
    """What is wrong with the compiler's answer, or None."""
    with tempfile.TemporaryDirectory() as there:
        copy = pathlib.Path(there) / "event"
        shutil.copytree(folder, copy)
        text = (copy / name).read_text()
        if old not in text:
            return "the text to damage is not there"
        line = text[:text.index(old) + (old[0] == "\n")].count("\n") + 1
        (copy / name).write_text(text.replace(old, new, 1))
        lines = (copy / name).read_text().split("\n")
        got = subprocess.run([sys.executable, compiler, copy, pathlib.Path(there) / "out.h"], capture_output=True, text=True)
    message = got.stderr.strip()
    if got.returncode == 0:
        return "is accepted"
    place = f"{copy / name}:"
    if "Traceback" in message or not message.startswith(place) or want not in message:
        return f"says: {message[-300:]}"
    at, column = (int(n) for n in message[len(place):].split(":")[:2])
    if at < line:
        return f"names a line before {line}: {message}"
    if column != 1 and column != len(lines[at - 1]) + 1 and lines[at - 1][column - 2] != "\t":
        return f"names a column inside a field: {message}"
    return None


def main():
    compiler, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    failed = 0
    for name, old, new, want in DAMAGE:
        wrong = damaged(compiler, folder, name, old, new, want)
        if wrong:
            print(f"{name}: {old!r} -> {new!r}: {wrong}")
            failed += 1
    print(f"{len(DAMAGE) - failed} of {len(DAMAGE)} kinds of damage are named")
    sys.exit(1 if failed else 0)


main()
