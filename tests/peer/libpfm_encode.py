#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`assay encode --compat libpfm4` beside Debian's libpfm4: codes and full name of every event and umask that both have, and of
thousands with modifiers and a second umask. What differs must be one of the reference's defects below.

usage: libpfm_encode.py ASSAY LIBPFM"""
import ctypes
import os
import random
import re
import subprocess
import sys

PMUS = {"knm", "knl", "netburst", "netburst_p"}
DEFECTS = {
    r"OFFCORE_RESPONSE_.*DDR_FAR": "DDR_FAR has the bits of another response",
    r"b2b_cycles.*BIT[56]": "bits 5 and 6 are put at bit 4",
    r"replay_event:(?!.*BOGUS)": "neither NBOGUS nor BOGUS: counts nothing",
    r"CPU_CLK_UNHALTED:.*BUS": "an alias with another code",
    r"OFFCORE_RESPONSE_0:.*(PARTIAL_WRITES|STREAMING_STORES)": "requests that MSR 1A6H does not take",
    r"PAGE_WALKS:c=": "modifiers that the default umask sets are not checked",
}
MODIFIERS = ["u", "k", "u=1:k=0", "k=1", "c=2", "c=1:e", "c=255:i=1", "thr=3", "cmpl", "e:thr=15", "u:k"]
USER_KERNEL = 8 | 1


class Reference:
    """One string to (codes, full name), or None where it is refused."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.libc = ctypes.CDLL(None)
        self.libc.free.argtypes = [ctypes.c_void_p]
        if self.lib.pfm_initialize() != 0:
            sys.exit("the reference library does not start")

    def encode(self, name):
        text, codes = ctypes.c_char_p(), ctypes.POINTER(ctypes.c_uint64)()
        idx, count = ctypes.c_int(), ctypes.c_int(0)
        failed = self.lib.pfm_get_event_encoding(name.encode(), USER_KERNEL, ctypes.byref(text), ctypes.byref(idx),
                                                 ctypes.byref(codes), ctypes.byref(count))
        if failed:
            return None
        answer = ([hex(codes[i]) for i in range(count.value)], text.value.decode())
        self.libc.free(ctypes.cast(codes, ctypes.c_void_p))
        self.libc.free(ctypes.cast(text, ctypes.c_void_p))
        return answer


def strings(assay):
    """All names, and some with another umask or modifiers."""
    listed = subprocess.run([assay, "list", "--names"], capture_output=True, text=True, check=True).stdout.split()
    names = [n for n in listed if n.split("::")[0] in PMUS]
    chance = random.Random(1)
    umasks = {}
    for n in names:
        event, colon, umask = n.partition("::")[2].partition(":")
        umasks.setdefault(event, []).append(umask)
    more = []
    for n in names * 6:
        event = n.partition("::")[2].partition(":")[0]
        second = chance.choice(umasks[event])
        more.append(n + (f":{second}" if second and chance.random() < 0.5 else "") + ":" + chance.choice(MODIFIERS))
    return names + more


def main():
    assay, path = sys.argv[1:]
    os.environ["LIBPFM_ENCODE_INACTIVE"] = "1"
    reference, asked = Reference(path), strings(assay)
    done = subprocess.run([assay, "encode", "--stdin", "--compat", "libpfm4"], input="\n".join(asked) + "\n", text=True,
                          capture_output=True)
    same = excused = wrong = 0
    for name, line in zip(asked, done.stdout.splitlines(), strict=True):
        left, _, right = line.partition("\t")
        ours = None if left == "error" else (left.split(), right)
        theirs = reference.encode(name)
        if ours == theirs:
            same += 1
        elif theirs is None or any(re.search(d, name) for d in DEFECTS):
            excused += 1
        else:
            wrong += 1
            print(f"{name}: {line}, the reference: {theirs}")
    print(f"{same} the same, {excused} known or not in the reference, {wrong} different")
    return 1 if wrong or same < 3000 else 0


sys.exit(main())
