#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds libpfm.so.4 and a program that uses it for 32 bits, and runs the program.

usage: bits32.py SOURCE BUILD PROGRAM.c LIBRARY_SOURCE.c ...   status 77 when the compiler has no 32-bit parts"""
import os
import pathlib
import subprocess
import sys
import tempfile

# The kernel's headers are the same for both; Debian keeps a part of them with those of the compiler's own machine.
FLAGS = ["-m32", "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden",
         "-idirafter", "/usr/include/x86_64-linux-gnu"]


def main():
    source, build, program, *sources = sys.argv[1:]
    cc = os.environ.get("CC", "cc").split()
    flags = FLAGS + [f"-I{source}/include", f"-I{source}/src", f"-I{build}/src"]
    with tempfile.TemporaryDirectory() as d:
        probe = pathlib.Path(d) / "probe.c"
        probe.write_text("#include <stdio.h>\nint main(void) { return 0; }\n")
        if subprocess.run([*cc, "-m32", "-o", f"{d}/probe", probe], capture_output=True).returncode != 0:
            print("the compiler makes no 32-bit programs")
            return 77
        library = f"{d}/libpfm.so.4"
        shared = ["-shared", "-fPIC", "-ffunction-sections", "-fdata-sections",
                  "-Wl,--gc-sections,-z,defs,-soname,libpfm.so.4"]
        subprocess.run([*cc, *flags, *shared, "-o", library, *sources], check=True)
        subprocess.run([*cc, *flags, "-o", f"{d}/program", program, library, f"-Wl,-rpath,{d}"], check=True)
        return subprocess.run([f"{d}/program"], timeout=60).returncode


sys.exit(main())
