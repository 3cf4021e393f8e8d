#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints "PASSED FAILED" of a meson testlog.json; skipped tests count as neither and are named on stderr."""
import json
import sys

passed = failed = 0
with open(sys.argv[1], encoding="utf-8") as log:
    for line in log:
        test = json.loads(line)
        if test["result"] in ("OK", "EXPECTEDFAIL"):
            passed += 1
        elif test["result"] == "SKIP":
            print("skipped:", test["name"], file=sys.stderr)
        else:
            failed += 1
print(passed, failed)
