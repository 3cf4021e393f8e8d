#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records a program with several threads; the report must be the same bytes for every number of workers. Under ThreadSanitizer this
also finds what the workers share and should not.

usage: jobs.py ASSAY PROGRAM"""
import os
import subprocess
import sys
import tempfile

WAYS = [[], ["--calls"], ["--edges"], ["--json", "--top", "0"]]


def report(assay, path, ways, jobs):
    done = subprocess.run([assay, "report", *ways, "-j", str(jobs), path], capture_output=True)
    if done.returncode:
        sys.exit(f"report -j {jobs} {ways}: exit {done.returncode}\n{done.stderr.decode(errors='replace')[-4000:]}")
    return done.stdout


def main():
    assay, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.data")
        subprocess.run([assay, "record", "-o", path, "--", program], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        streams = subprocess.run([assay, "flow", "--digest", path], capture_output=True, text=True, check=True).stdout
        if len(streams.splitlines()) < 5:
            sys.exit("too few streams for a test of threads:\n" + streams)
        for ways in WAYS:
            if report(assay, path, ways, 1) != report(assay, path, ways, 4):
                sys.exit(f"report {ways} differs with the number of workers")
    return 0


sys.exit(main())
