#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Branches by kind, and mispredictions, against the log of executed blocks read with objdump's disassembly and a second predictor
written from docs/formats/machine.md; instructions against a single step of the processor, where it can be had.

usage: branches.py ASSAY DRIVER STEPPER PROGRAM   PROGRAM is static and of fixed addresses"""
import re
import shutil
import subprocess
import sys

from tally_of import record, tally_of

LINE = re.compile(r"^\s*([0-9a-f]+):\t(?:(?:repz|repnz|rep|bnd|notrack|lock|data16) )*(\S+)\s*(\S*)")
BITS, HISTORY, BTB, STACK = 14, 12, 12, 16  # the model "cache"


def kind_of(name, operand):
    name = name.rstrip("q") if name in ("callq", "jmpq", "retq") else name
    if name in ("call", "jmp"):
        return name + "-ind" if operand.startswith("*") else name
    if name in ("ret", "syscall"):
        return {"ret": "ret", "syscall": "far"}[name]
    return "cond" if name[0] == "j" or name.startswith("loop") else None


def disassemble(program):
    """ip -> (next ip, kind, target)"""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], capture_output=True, text=True, check=True).stdout
    rows = [LINE.match(line).groups() for line in text.splitlines() if LINE.match(line)]
    code = {}
    for (ip, name, operand), following in zip(rows, rows[1:] + [("0", "", "")]):
        kind = kind_of(name, operand)
        target = int(operand, 16) if kind in ("cond", "jmp", "call") else None
        code[int(ip, 16)] = int(following[0], 16), kind, target
    return code


class Predictor:
    def __init__(self):
        self.counter, self.history, self.btb, self.stack = {}, 0, {}, []

    def cond(self, ip, taken):
        at = (ip ^ self.history) % (1 << BITS)
        n = self.counter.get(at, 0)
        self.counter[at] = min(n + 1, 3) if taken else max(n - 1, 0)
        self.history = (self.history << 1 | taken) % (1 << HISTORY)
        return (n >= 2) == taken

    def target(self, ip, to):
        right = self.btb.get(ip % (1 << BTB)) == (ip, to)
        self.btb[ip % (1 << BTB)] = ip, to
        return right

    def call(self, back):
        self.stack = (self.stack + [back])[-STACK:]

    def ret(self, to):
        return bool(self.stack) and self.stack.pop() == to


def walk(code, blocks):
    count, predictor = {}, Predictor()

    def add(what):
        count[what] = count.get(what, 0) + 1

    for (start, n), after in zip(blocks, blocks[1:] + [(None, 0)]):
        ip = start
        for _ in range(n - 1):
            ip = code[ip][0]
        following, kind, target = code[ip]
        to = after[0]
        if kind == "cond":
            taken = to == target
            add("cond-taken" if taken else "cond-not-taken")
            if not predictor.cond(ip, taken):
                add("miss-taken" if taken else "miss-not-taken")
        elif kind:
            add(kind)
        if kind in ("call", "call-ind"):
            predictor.call(following)
        if kind in ("jmp-ind", "call-ind") and not predictor.target(ip, to):
            add("miss-" + kind)
        if kind == "ret" and not predictor.ret(to):
            add("miss-ret")
    return count


def main():
    assay, driver, stepper, program = sys.argv[1:]
    if not shutil.which("objdump") or not shutil.which("qemu-x86_64"):
        print("skipped: objdump or qemu-x86_64 is not installed")
        return 77
    streams, _, _ = record(assay, "flat", True, [program])
    want = walk(disassemble(program), streams[0][1])
    bad = False
    for quantities in "miss-taken", "all":
        got = tally_of(driver, "cache", quantities, [program])[0][0][2]
        for what in sorted(set(want) | {q for q in got if q.startswith("miss")}):
            print("ok " if got[what] == want.get(what, 0) else "BAD", what, got[what], want.get(what, 0))
            bad |= got[what] != want.get(what, 0)
    step = subprocess.run([stepper, program], capture_output=True, text=True)
    if step.returncode == 0:
        print("instructions", got["instructions"], "single-stepped", step.stdout.split()[0])
        bad |= got["instructions"] != int(step.stdout.split()[0])
    return bad


sys.exit(main())
