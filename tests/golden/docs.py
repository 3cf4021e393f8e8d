#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the commands that a document shows and compares what they print with what it shows below them.

A command is an indented line `    $ ...` of a shell, in which `assay` is the command under test; the indented lines up to the next
command or text are its standard output and error.

usage: docs.py ASSAY DOCUMENT [--record]   with --record the document gets what is printed now"""
import os
import pathlib
import subprocess
import sys
import tempfile

INDENT = "    "


def blocks(lines):
    """(command or None, lines): commands with what they print, and the text between them."""
    command, body = None, []
    for line in lines + [None]:
        starts = line is not None and line.startswith(INDENT + "$ ")
        if line is None or starts or (command and line and not line.startswith(INDENT)):
            blank = len(body)
            while command and blank and not body[blank - 1]:
                blank -= 1
            yield command, body[:blank]
            if body[blank:]:
                yield None, body[blank:]
            command, body = (line, []) if starts else (None, [line])
        else:
            body.append(line)


def run(command, env):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["sh", "-c", command[len(INDENT) + 2:]], cwd=folder, env=env, text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    return [(INDENT + line).rstrip() for line in done.stdout.splitlines()]


def main():
    assay, document = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    env = dict(os.environ, PATH=f"{assay.parent}:{os.environ['PATH']}", LC_ALL="C.UTF-8", NO_COLOR="1")
    for name in ("COLUMNS", "ASSAY_EVENTS"):
        env.pop(name, None)
    out, commands, wrong = [], 0, 0
    for command, body in blocks(document.read_text().splitlines()):
        if command:
            got = run(command, env)
            commands += 1
            if got != body and "--record" not in sys.argv:
                wrong += 1
                print(f"{command}\n" + "\n".join(got))
            body = [command] + got
        out += body
    if "--record" in sys.argv:
        document.write_text("\n".join(out) + "\n")
        return 0
    print(f"{commands} commands, {wrong} print something else than {document.name} shows")
    return 1 if wrong or not commands else 0


sys.exit(main())
