#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds data/event/registers.tsv and fields.tsv against the facts: every register that they name has its number, every field
that they give bits of begins where they say and is as wide.

usage: registers.py DATA FACTS    status 77 when the facts are not there"""
import csv
import pathlib
import re
import sys

FIELD = re.compile(r"(?<![\w:])(?:(\d+):)?(\d+) +([A-Za-z_][\w]*)")
NO_ROW = {"MSR_DEBUGCTLB"}  # Pentium M's, a part of IA32_DEBUGCTL
PROSE = {"IA32_FIXED_CTR_CTRL", "IA32_PEBS_BASE", "MSR_DEBUGCTLB"}  # told in sentences


def table(path):
    with open(path, newline="", encoding="ascii") as f:
        return list(csv.DictReader(f, delimiter="\t"))


def registers(data):
    """(name, scheme) to (number, layout)."""
    found = {}
    for r in table(data / "registers.tsv"):
        for i in range(int(r["count"])):
            for scheme in r["schemes"].split():
                name = r["register"].replace("#", str(i))
                found[name, scheme] = (int(r["msr"], 16) + i * int(r["step"]), r["layout"])
    return found


def family_scheme(family):
    return "netburst" if family == "NetBurst" else "core"


def check_numbers(facts, known):
    for r in csv.DictReader(open(facts / "msr_map.csv", encoding="utf-8")):
        name = re.sub(r"\.\.| \(.*|/STATUS_RESET", "", r["name"])
        if name in NO_ROW:
            continue
        got = known.get((name, family_scheme(r["family"])))
        if got is None:
            yield f"{name} is not in registers.tsv"
        elif got[0] != int(r["msr"], 16):
            yield f"{name} is {got[0]:#x}, the facts have {r['msr']}"
    for r in csv.DictReader(open(facts / "netburst_counters.csv", encoding="utf-8")):
        for kind in ("counter", "cccr", "escr"):
            number, layout = known.get((r[kind], "netburst"), (None, None))
            if number != int(r[kind + "_msr"], 16) or layout != kind.upper():
                yield f"{r[kind]} is {number}, {layout}; the facts have {r[kind + '_msr']}"


def check_fields(facts, data, known):
    """Yields what is wrong; returns how many fields were compared."""
    layouts, compared = {}, 0
    for f in table(data / "fields.tsv"):
        layouts.setdefault(f["layout"], {})[int(f["lsb"])] = int(f["width"])
    for r in csv.DictReader(open(facts / "msr_map.csv", encoding="utf-8")):
        name = re.sub(r"\.\.| \(.*|/STATUS_RESET", "", r["name"])
        number, layout = known.get((name, family_scheme(r["family"])), (None, None))
        if name in PROSE or layout in (None, "WHOLE"):
            continue
        for high, low, field in FIELD.findall(r["bits"]):
            low = int(low)
            width = int(high or low) - low + 1
            if layouts[layout].get(low) != width and (high or low not in layouts[layout]):
                yield f"{name}: no field of {width} bits at {low} ({field})"
            compared += 1
    if compared < 80:
        yield f"only {compared} fields compared"


def main():
    data, facts = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) / "ds"
    if not facts.is_dir():
        print(f"no facts at {facts}: nothing to compare with")
        sys.exit(77)
    known = registers(data)
    wrong = [*check_numbers(facts, known), *check_fields(facts, data, known)]
    print("\n".join(wrong) or f"{len(known)} registers agree with the facts")
    sys.exit(1 if wrong else 0)


main()
