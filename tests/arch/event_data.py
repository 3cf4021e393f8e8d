#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails when the built-in event table needs relocations in its data, has writable data, or is larger than it should be.

usage: event_data.py LIBRARY.a [READELF [SIZE]]"""
import re
import subprocess
import sys

MEMBER, MOST = "src_event_builtin.c.o", 110_000


def main():
    library = sys.argv[1]
    readelf = sys.argv[2] if len(sys.argv) > 2 else "readelf"
    text = subprocess.run([readelf, "-SW", library], capture_output=True, text=True, check=True).stdout
    parts = re.split(r"^File: ", text, flags=re.M)
    part = next((p for p in parts if MEMBER in p.splitlines()[0]), None)
    if part is None:
        sys.exit(f"no {MEMBER} in {library}")
    size, bad = 0, []
    for name, kind, bytes_ in re.findall(r"\]\s+(\.\S+)\s+(\S+)\s+[0-9a-f]+\s+[0-9a-f]+\s+([0-9a-f]+)", part):
        count = int(bytes_, 16)
        if name.startswith(".rodata"):
            size += count
        if re.match(r"\.rela?\.(rodata|data|bss)", name):
            bad.append(f"{name}: relocations in data")
        if re.match(r"\.(data|bss)", name) and count and kind in ("PROGBITS", "NOBITS"):
            bad.append(f"{name}: {count} bytes of writable data")
    if not 10_000 < size < MOST:
        bad.append(f"{size} bytes of constants, expected 10,000 to {MOST}")
    print("\n".join(bad) or f"{size} bytes of constants, no relocation")
    sys.exit(1 if bad else 0)


main()
