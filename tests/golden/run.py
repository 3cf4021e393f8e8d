#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the command as a user types it and compares stdout, stderr and exit status with files.

A case is cases/NAME.cmd (a shell line; $assay is the command, $data is tests/data, $shared the samples outside the project),
NAME.out, NAME.err (missing: empty) and NAME.exit (missing: 0). It runs in an empty folder. A line "..." in an expectation
stands for any number of lines. A case whose first line is `# needs: shared` is skipped where those samples are not.

usage: run.py ASSAY CASES_DIR [--record] [VARIABLE=VALUE ...] [NAME ...]   variables are for the shell lines"""
import os
import pathlib
import subprocess
import sys
import tempfile


def matches(expected, got):
    """Line by line; "..." is any number of lines."""
    want, have = expected.splitlines(), got.splitlines()
    if "..." not in want:
        return expected == got
    at = 0
    for i, part in enumerate("\n".join(want).split("...")):
        lines = part.strip("\n").splitlines()
        if not lines:
            continue
        places = [at] if i == 0 else range(at, len(have) - len(lines) + 1)
        at = next((p + len(lines) for p in places if have[p:p + len(lines)] == lines), None)
        if at is None:
            return False
    return want[-1] == "..." or at == len(have)


def read(path, default=""):
    return path.read_text() if path.exists() else default


def run_case(cmd, env):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["sh", "-c", cmd.read_text()], cwd=folder, env=env, capture_output=True, timeout=120,
                              stdin=subprocess.DEVNULL)
    return done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"), done.returncode


def record(cmd, out, err, code):
    for suffix, text in ((".out", out), (".err", err), (".exit", f"{code}\n" if code else "")):
        path = cmd.with_suffix(suffix)
        if text:
            path.write_text(text)
        elif path.exists():
            path.unlink()


def main():
    assay, cases = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    names = [a for a in sys.argv[3:] if a != "--record" and "=" not in a]
    root = cases.parents[2]
    shared = pathlib.Path(os.environ.get("ASSAY_SHARED", root.parent / "shared"))
    env = dict(os.environ, assay=assay, data=str(root / "tests/data"), shared=str(shared), LC_ALL="C.UTF-8", NO_COLOR="1")
    for name in ("COLUMNS", "ASSAY_EVENTS"):
        env.pop(name, None)
    env.update(a.split("=", 1) for a in sys.argv[3:] if "=" in a)
    failed = 0
    for cmd in sorted(cases.glob("*.cmd")):
        if names and cmd.stem not in names:
            continue
        if cmd.read_text().startswith("# needs: shared") and not (shared / "data").is_dir():
            print("skipped, no shared samples:", cmd.stem)
            continue
        out, err, code = run_case(cmd, env)
        if "--record" in sys.argv:
            record(cmd, out, err, code)
            continue
        wrong = [what for what, ok in (("stdout", matches(read(cmd.with_suffix(".out")), out)),
                                       ("stderr", matches(read(cmd.with_suffix(".err")), err)),
                                       ("exit", int(read(cmd.with_suffix(".exit"), "0")) == code)) if not ok]
        print("FAILED" if wrong else "ok", cmd.stem, *wrong)
        if wrong:
            failed += 1
            print(f"--- stdout\n{out}--- stderr\n{err}--- exit {code}")
    return 1 if failed else 0


sys.exit(main())
