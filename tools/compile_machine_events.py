#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns data/machine/events.tsv into a C table.

usage: compile_machine_events.py OUTPUT.c EVENTS.tsv"""
import pathlib
import sys

PARTS = {"l1i": "L1I", "l1d": "L1D", "l2": "L2", "llc": "LLC", "predictor": "PREDICTOR", "targets": "TARGETS",
         "returns": "RETURNS"}


def code_of(pmu, text):
    if pmu != "perf":
        return int(text, 0)
    kind, config = text.split(":")
    return int(kind) << 32 | int(config, 0)


def set_of(names):
    """An expression of ASSAY_MACHINE_BIT()s; C says when there is no such quantity."""
    names = [n for name in names.split() if name != "-"
             for n in ([w + name[3:] for w in ("code", "load", "store")] if name.startswith("all-") else [name])]
    return " | ".join(f"ASSAY_MACHINE_BIT(ASSAY_MACHINE_{n.upper().replace('-', '_')})" for n in names) or "0"


def row_of(line, number, seen):
    field = line.split("\t")
    if len(field) != 7:
        sys.exit(f"line {number}: {len(field)} columns, not 7")
    pmu, code, name, quantities, needs, nearest, note = field
    key = pmu, code_of(pmu, code)
    if key in seen:
        sys.exit(f"line {number}: {pmu} {code} is in line {seen[key]} already")
    if (quantities == "-") != bool(nearest):
        sys.exit(f"line {number}: {name}: a nearest event is what an event has that is not modelled")
    seen[key] = number
    parts = " | ".join(f"ASSAY_MACHINE_PART_{PARTS[n]}" for n in needs.split()) or "0"
    return f'    {{{key[1]:#x}, {set_of(quantities)}, "{name}", "{nearest}", "{note}", MACHINE_EVENT_{pmu.upper()}, {parts}}},'


def main():
    lines = pathlib.Path(sys.argv[2]).read_text(encoding="ascii").splitlines()
    seen = {}
    rows = [row_of(line, n, seen) for n, line in enumerate(lines, 1) if line and line[0] != "#"]
    text = ["#include <assay/machine.h>", '#include "virtual/machine_events.h"', "",
            "const struct machine_event_row assay_machine_event_rows[] = {", *rows, "};",
            f"const unsigned assay_machine_event_row_count = {len(rows)};", ""]
    pathlib.Path(sys.argv[1]).write_text("\n".join(text), encoding="ascii")


main()
