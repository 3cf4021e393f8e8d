#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails when a program prints something else here than where it was cross compiled to, at the first line that differs.

usage: same.py HERE THERE WHAT [FOLDER]   with the files of FOLDER, in order; Meson's MESON_EXE_WRAPPER runs THERE"""
import os
import pathlib
import shlex
import subprocess
import sys


def output(command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.splitlines(keepends=True)


def first_difference(a, b):
    for number, (x, y) in enumerate(zip(a, b), 1):
        if x != y:
            return number
    return min(len(a), len(b)) + 1


def main():
    here, there, what = sys.argv[1:4]
    args = [what] + [str(p) for folder in sys.argv[4:] for p in sorted(pathlib.Path(folder).iterdir())]
    a = output([here] + args)
    b = output(shlex.split(os.environ.get("MESON_EXE_WRAPPER", "")) + [there] + args)
    if a == b:
        print(f"{len(a)} lines, {sum(map(len, a))} bytes")
        return not a
    line = first_difference(a, b)
    for name, text in (("here", a), ("there", b)):
        print(f"{name}, line {line} of {len(text)}:", text[line - 1].decode(errors="replace") if line <= len(text) else "nothing")
    return 1


sys.exit(main())
