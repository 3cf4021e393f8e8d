#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares every event of event files as the library encodes it with what this, straight from the JSON, says it is: the
register layouts of the SDM (Vol. 3B, 20.2 and 20.3) and perf's names for events of fixed counters.

usage: json_model.py PRINT_EVENTS FOLDER..."""
import csv
import json
import pathlib
import subprocess
import sys

# tools/perf/pmu-events/jevents.py gives these the codes that general counters have for the same; the time stamp
# counter's cycles have a code of the kernel's own.
FIXED = {"INST_RETIRED.ANY": (0xC0, 0), "CPU_CLK_UNHALTED.THREAD": (0x3C, 1), "CPU_CLK_UNHALTED.CORE": (0x3C, 1),
         "CPU_CLK_UNHALTED.THREAD_ANY": (0x3C, 1), "CPU_CLK_UNHALTED.REF": (0x300, 2),
         "CPU_CLK_UNHALTED.REF_TSC": (0x300, 2)}
MSR_TERMS = {0x1A6: "offcore_rsp", 0x1A7: "offcore_rsp", 0x3F6: "ldlat", 0x3F7: "frontend"}
BASE = 0x530000  # user, kernel, interrupt, enable


def number(text):
    return int(text.strip(), 0) if text.strip().lower().startswith("0x") else int(text.strip(), 10)


def numbers(event, key):
    return [number(v) for v in event.get(key, "0").split(",")]


def flag(event, key, bit):
    return int(event.get(key, "0"), 0) << bit


def counter_mask(text):
    mask = 0
    for part in (p.strip() for p in text.split(",") if p.strip()):
        n = 32 + int(part.removeprefix("Fixed counter ")) if part.startswith("Fixed") else int(part)
        mask |= 1 << n
    return mask


def fixed_event(event):
    """The select and the counter of an event on a fixed counter, or None."""
    code, umask = numbers(event, "EventCode")[0], numbers(event, "UMask")[0]
    counters = counter_mask(event.get("Counter", ""))
    if counters & 0xFFFFFFFF or (not counters and code):
        return None
    return FIXED.get(event["EventName"], (umask << 8, umask - 1))


def general_event(event):
    codes, umasks, msrs = numbers(event, "EventCode"), numbers(event, "UMask"), numbers(event, "MSRIndex")
    last = msrs[0] == 0x1A7  # what goes with the second register stands second
    select = codes[-1 if last else 0] | (umasks[-1 if last else 0] & 0xFF) << 8
    select |= flag(event, "EdgeDetect", 18) | flag(event, "Invert", 23) | flag(event, "CounterMask", 24)
    select |= flag(event, "Equal", 36) | (number(event.get("UMaskExt", "0")) | umasks[0] >> 8) << 40
    return select, msrs[0]


def perf_string(kernel, select, msr, value):
    if select >> 32:
        terms = [f"config={select:#x}"]
    else:
        terms = [f"event={select & 0xFF:#x}"]
        terms += [f"umask={select >> 8 & 0xFF:#x}"] if select & 0xFF00 else []
        terms += [f"cmask={select >> 24:#x}"] if select >> 24 else []
        terms += [name for name, bit in (("inv", 23), ("edge", 18), ("any", 21)) if select >> bit & 1]
    terms += [f"{MSR_TERMS.get(msr, 'config1')}={value:#x}"] if msr else []
    return f"{kernel}/{','.join(terms)}/"


def line_of(pmu, kernel, event, general):
    fixed = fixed_event(event)
    msr = value = 0
    if fixed:
        select, counters = fixed[0], 1 << 32 + fixed[1]
    else:
        select, msr = general_event(event)
        counters = counter_mask(event.get("Counter", "")) or general
        value = number(event.get("MSRValue", "0")) if msr else 0
    select |= flag(event, "AnyThread", 21)
    return (f"{pmu}::{event['EventName']} {select | BASE:#x} {msr:#x} {value:#x} {counters:#x} "
            f"{perf_string(kernel, select, msr, value)}").replace(" 0x0", " 0")


def events_of(path):
    data = json.loads(path.read_text(encoding="utf-8-sig"))
    events = data["Events"] if isinstance(data, dict) else data
    return [e for e in events if "EventName" in e]


def files_of(folder):
    """The name of each PMU, the kernel's name of it, and its events."""
    with open(folder / "mapfile.csv", encoding="ascii") as f:
        rows = [r for r in csv.DictReader(f) if r["EventType"] in ("core", "hybridcore")
                and r["Family-model"].startswith("GenuineIntel")]
    roles = {r["Filename"]: r["Core Role Name"].lower() for r in rows if r.get("Core Role Name")}
    for name in {r["Filename"] for r in rows}:
        path = folder / name.lstrip("/")
        if path.is_dir():
            events = [e for p in sorted(path.glob("*.json")) for e in events_of(p)]
            for unit in (None, "cpu_core", "cpu_atom"):
                suffix = unit.replace("cpu_", "-") if unit else ""
                yield path.name + suffix, unit or "cpu", [e for e in events if e.get("Unit") == unit]
        else:
            pmu, role = path.parts[-3].lower(), roles.get(name)
            yield f"{pmu}-{role}" if role else pmu, f"cpu_{role}" if role else "cpu", events_of(path)


def expected(folder):
    for pmu, kernel, events in files_of(folder):
        general = 0
        for e in events:
            general |= counter_mask(e.get("Counter", "")) & 0xFFFFFFFF
        for e in events:
            yield line_of(pmu, kernel, e, general or 0xF)


def main():
    wrong = total = 0
    for folder in map(pathlib.Path, sys.argv[2:]):
        out = subprocess.run([sys.argv[1], str(folder)], check=True, capture_output=True, text=True).stdout
        have, want = set(out.splitlines()), set(expected(folder))
        for sign, lines in (("-", want - have), ("+", have - want)):
            for line in sorted(lines):
                print(sign, line)
        wrong += len(want ^ have)
        total += len(want)
    print(f"{total} events, {wrong} lines differ")
    return 1 if wrong or total < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
