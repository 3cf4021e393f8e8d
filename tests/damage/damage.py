#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records a small program, then damages the recording: every prefix and many flipped bits through the library, some of both
through the command, whose exit status must be 0, 3 or 4, with a line on stderr that says why.

usage: damage.py ASSAY DAMAGE ROUNDS PROGRAM"""
import os
import random
import subprocess
import sys
import tempfile

VERBS = [["report"], ["report", "--calls"], ["flow"], ["flow", "--calls"], ["dump"]]
COMMAND_RUNS = 60


def complain(what, done):
    print(f"{what}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return 1


def run(assay, verb, path, what):
    done = subprocess.run([assay, *verb, path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          errors="replace", timeout=60)
    if done.returncode not in (0, 3, 4) or (done.returncode and not done.stderr.startswith("assay ")):
        return complain(f"assay {' '.join(verb)} {what}", done)
    return 0


def damaged(data, n):
    """Cut or flipped, with a word that says how."""
    r = random.Random(n)
    if n % 2:
        at = r.randrange(len(data))
        return data[:at], f"cut at {at}"
    out, places = bytearray(data), [r.randrange(len(data)) for _ in range(r.randrange(1, 9))]
    for at in places:
        out[at] ^= 1 << r.randrange(8)
    return bytes(out), f"flipped with seed {n}"


def main():
    assay, damage, rounds, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.data")
        done = subprocess.run([assay, "record", "-o", path, "--", program], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
        if not os.path.exists(path):
            return complain("record", done)
        with open(path, "rb") as f:
            data = f.read()
        failed = subprocess.run([damage, path, rounds]).returncode
        for n in range(COMMAND_RUNS):
            bytes_, what = damaged(data, n)
            with open(path, "wb") as f:
                f.write(bytes_)
            failed |= run(assay, VERBS[n // 2 % len(VERBS)], path, what)
    return 1 if failed else 0


sys.exit(main())
