#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The flow decoded from a virtual recording must equal a single-step of the same program on the real processor.

usage: compare.py ASSAY STEPPER PROGRAM"""
import json
import os
import subprocess
import sys
import tempfile

OPTIONS = ["cyc,psb_period=0", "psb_period=5,cyc=0,noretcomp", "cyc,noretcomp,mtc_period=0"]


def main():
    assay, stepper, program = sys.argv[1:]
    step = subprocess.run([stepper, program], capture_output=True, text=True)
    if step.returncode:
        print("no ptrace here:", step.stderr)
        return 77
    insns, chk = step.stdout.split()
    bad = 0
    for options in OPTIONS:
        with tempfile.TemporaryDirectory() as folder:
            data = os.path.join(folder, "t.data")
            subprocess.run([assay, "record", "-q", "-o", data, "--pt", options, "--", program], stdin=subprocess.DEVNULL)
            out = subprocess.run([assay, "flow", "--digest", "--json", data], capture_output=True, text=True)
        total = [r for r in map(json.loads, out.stdout.splitlines()) if r.get("stream") in (None, "all")][-1]
        same = int(total["instructions"]) == int(insns) and int(total["chk"], 16) == int(chk, 16)
        print("equal" if same else "DIFFERENT", options, insns, chk, total, out.stderr.strip())
        bad += not same
    return 1 if bad else 0


sys.exit(main())
