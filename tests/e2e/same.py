#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same run gives the same bytes: two recordings may differ in the process's number only.

usage: same.py ASSAY PROGRAM [ARGS]"""
import os
import shutil
import subprocess
import sys
import tempfile


def record(assay, program, folder):
    data, truth = os.path.join(folder, "t.data"), os.path.join(folder, "truth")
    subprocess.run([assay, "record", "-q", "-f", "-o", data, "--truth", truth, "--"] + program, check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    pid = int(open(truth).read().split()[3])
    return open(data, "rb").read().replace(pid.to_bytes(4, "little"), b"PID!")


def main():
    assay, program = sys.argv[1], sys.argv[2:]
    if not shutil.which("qemu-x86_64"):
        print("skipped: qemu-x86_64 is not installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        one, two = (record(assay, program, folder) for _ in range(2))
    print(len(one), "bytes,", "equal" if one == two else "DIFFERENT")
    return one != two


sys.exit(main())
