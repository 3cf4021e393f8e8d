#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails when an object of a pure folder allocates, does I/O, uses errno or threads, or owns a writable global.

usage: purity.py LIBRARY.a [NM]"""
import re
import subprocess
import sys

PURE = ("pt", "ds", "event", "oa", "cpumf", "metric")
PURE_BASE = ("ledger", "out", "json", "nearest")  # the rest of base/ says that it is not
# bcmp: what clang makes of memcmp where only equality is asked.
ALLOWED = {"memcpy", "memset", "memmove", "memcmp", "bcmp", "memchr", "strlen", "strcmp", "strncmp", "strchr", "__stack_chk_fail",
           "__assert_fail", "_GLOBAL_OFFSET_TABLE_"}
ALLOWED_PREFIX = ("assay_", "__ubsan_", "__asan_", "__tsan_", "__sanitizer_", "__gcov_", "__start_", "__stop_")
MEMBER = re.compile(r"src_([a-z]+)_(.+)\.c\.o")


def pure(folder, name):
    return folder in PURE or (folder == "base" and name in PURE_BASE)


def main():
    nm = sys.argv[2] if len(sys.argv) > 2 else "nm"
    text = subprocess.run([nm, "--format=sysv", sys.argv[1]], capture_output=True, text=True, check=True).stdout
    member, bad, seen = None, [], 0
    for line in text.splitlines():
        field = [f.strip() for f in line.split("|")]
        if len(field) < 7:
            m = MEMBER.search(line)
            if m:
                member = m.group(1, 2) if pure(*m.group(1, 2)) else None
                seen += member is not None
            continue
        if member is None:
            continue
        symbol, kind, section = field[0], field[2], field[6]
        where = "src/{}/{}.c".format(*member)
        if kind in "Uwv" and symbol not in ALLOWED and not symbol.startswith(ALLOWED_PREFIX):
            bad.append(f"{where}: refers to {symbol}")
        elif kind in "bBdDC" and not section.startswith(".data.rel.ro"):
            bad.append(f"{where}: owns the writable {symbol} in {section}")
    print("\n".join(bad) if bad else f"{seen} pure objects")
    return 1 if bad or seen == 0 else 0


sys.exit(main())
