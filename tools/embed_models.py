#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns the built-in machine models into a C table of name and text.

usage: embed_models.py OUTPUT.c MODEL..."""
import pathlib
import sys


def c_string(line):
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'


def main():
    out, models = sys.argv[1], [pathlib.Path(p) for p in sys.argv[2:]]
    text = ['#include "virtual/machine_models.h"', "", "const struct machine_builtin assay_machine_builtins[] = {"]
    for m in models:
        lines = m.read_text(encoding="ascii").splitlines()
        text.append('    {"%s",' % m.stem)
        text += ["     " + c_string(line) for line in lines]
        text.append("    },")
    text += ["};", "const unsigned assay_machine_builtin_count = %d;" % len(models), ""]
    pathlib.Path(out).write_text("\n".join(text), encoding="ascii")


if __name__ == "__main__":
    main()
