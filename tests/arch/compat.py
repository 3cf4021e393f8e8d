#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails when the drop-in libpfm.so.4 exports, needs, weighs or relocates more than it may.

usage: compat.py LIBRARY.so [any-size]   with any-size the build is instrumented: only names are looked at"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

EXPORTS = {"pfm_initialize", "pfm_terminate", "pfm_strerror", "pfm_get_version", "pfm_get_pmu_info",
           "pfm_get_event_next", "pfm_get_event_info", "pfm_get_event_attr_info", "pfm_find_event",
           "pfm_get_os_event_encoding", "pfm_get_event_encoding", "pfm_get_perf_event_encoding",
           "pfm_pmu_validate"}
# What it may take from libc: nothing that opens or reads a file. fprintf is pfm_pmu_validate's, write LIBPFM_VERBOSE's.
IMPORTS = {"malloc", "free", "getenv", "memcpy", "memset", "memmove", "memcmp", "memchr", "strlen", "strcmp", "strncmp",
           "bcmp", "strchr", "strchrnul", "strcspn", "strspn", "strstr", "strncasecmp", "strcasecmp", "fprintf", "fwrite",
           "fputs", "fputc", "write", "__stack_chk_fail", "__assert_fail", "__fprintf_chk", "__memcpy_chk",
           "__cxa_finalize", "__gmon_start__", "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable"}
BYTES = 150_000
RELOCATIONS = 48  # calls of libc, and three that every shared object has; tables have none


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def names(library, kind):
    out = run("nm", "-D", kind, library)
    return [line.split()[-1] for line in out.splitlines()]


def wrong_names(library, imports):
    exports = names(library, "--defined-only")
    for n in sorted(set(exports) ^ EXPORTS):
        yield f"{n} is {'exported' if n in exports else 'not exported'}"
    for n in names(library, "--undefined-only"):
        if imports and n.split("@")[0] not in IMPORTS:
            yield f"needs {n}"


def wrong_header(library):
    dynamic = run("readelf", "-dW", library)
    if "Library soname: [libpfm.so.4]" not in dynamic:
        yield "the SONAME is not libpfm.so.4"
    if "VERDEF" in dynamic:
        yield "symbols have versions"
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
    if not needed <= {"libc.so.6"}:
        yield f"needs {', '.join(sorted(needed))}"


def wrong_size(library):
    relocations = len(re.findall(r"\bR_[A-Z0-9]+_[A-Z0-9_]+\b", run("readelf", "-rW", library)))
    if relocations > RELOCATIONS:
        yield f"{relocations} relocations, at most {RELOCATIONS}"
    if ".data.rel.ro" in run("readelf", "-SW", library):
        yield "tables hold pointers: there is a section .data.rel.ro"
    with tempfile.TemporaryDirectory() as d:
        stripped = pathlib.Path(d) / "stripped"
        run("strip", "-o", os.fspath(stripped), library)
        size = stripped.stat().st_size
    print(f"{size} bytes stripped, {relocations} relocations")
    if size >= BYTES:
        yield f"{size} bytes stripped, has to be under {BYTES}"


def main():
    library, whole = sys.argv[1], sys.argv[2:] != ["any-size"]
    found = list(wrong_names(library, whole))
    if whole:
        found += list(wrong_header(library)) + list(wrong_size(library))
    print("\n".join(found) if found else "the drop-in is as small as it has to be")
    return 1 if found else 0


sys.exit(main())
