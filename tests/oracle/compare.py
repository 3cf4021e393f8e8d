#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The fast decoder against the oracle, on recordings made here and now and on files given.

compare.py ASSAY ORACLE POINTS record PROGRAM ARGS...    records with every option set, then compares
compare.py ASSAY ORACLE POINTS file FILE                 compares what both make of a recording
compare.py ASSAY ORACLE POINTS raw RAW IMAGE@ADDRESS...  the same of a raw trace, digests only
"""
import json
import os
import subprocess
import sys
import tempfile

SKIP = 77
OPTION_SETS = [
    "pt,branch,tsc,mtc,mtc_period=3,psb_period=3",
    "pt,branch,cyc",
    "pt,branch,cyc,noretcomp,psb_period=0",
    "pt,branch,tsc,mtc,mtc_period=0,cyc,psb_period=5",
    "pt,branch,tsc,mtc,mtc_period=3,cyc,cyc_thresh=4,psb_period=1",
    "pt,branch,noretcomp,psb_period=5",
]


def output(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 3):  # 3: with losses
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout.splitlines()


def streams_of_oracle(oracle, path):
    """A list of {insns, chk, losses, cycles, time} in the order of the streams."""
    streams, cycles, time = [], [], []
    for line in output(oracle, "--cycles", "--time", path):
        word = line.split()
        if word[0] == "stream":
            streams.append({"insns": int(word[2]), "chk": int(word[3], 16), "losses": int(word[4]), "cycles": cycles,
                            "time": time})
            cycles, time = [], []
        else:
            (cycles if word[0] == "cycles" else time).append((int(word[1]), int(word[2])))
    return streams


def points_of_flow(points, path):
    streams, cycles, time = [], [], []
    for line in output(points, path):
        word = line.split()
        if word[0] == "stream":
            streams.append({"cycles": cycles, "time": time})
            cycles, time = [], []
        else:
            (cycles if word[0] == "cycles" else time).append((int(word[1]), int(word[2])))
    return streams


def digests_of_flow(assay, *what):
    found = [json.loads(line) for line in output(assay, "flow", "--digest", "--json", *what)]
    return [(int(f["instructions"]), int(f["chk"], 16)) for f in found if f["stream"] != "all"]


def differences(assay, oracle, points, path):
    want = streams_of_oracle(oracle, path)
    digest = digests_of_flow(assay, path)
    place = points_of_flow(points, path)
    if not len(want) == len(digest) == len(place):
        yield f"streams: oracle {len(want)}, flow {len(digest)}"
        return
    for n, (w, d, p) in enumerate(zip(want, digest, place)):
        if (w["insns"], w["chk"]) != d:
            yield f"stream {n}: oracle {w['insns']} {w['chk']:016x}, flow {d[0]} {d[1]:016x}"
            continue
        for here, there in zip(w["cycles"], p["cycles"]):
            if here != there:
                yield f"stream {n}: (instructions, cycles) oracle {here}, flow {there}"
                break
        if len(w["cycles"]) != len(p["cycles"]):
            yield f"stream {n}: places with exact cycles: oracle {len(w['cycles'])}, flow {len(p['cycles'])}"
        yield from differences_of_time(f"stream {n}", w, p["time"])


def differences_of_time(what, want, found):
    """The flow tells no time where it is lost. An MTC's time may be rounded either way; estimates may be ahead."""
    told = iter(want["time"])
    for insns, tsc in found:
        if not any(i == insns and t <= tsc + 1 for i, t in told):
            yield f"{what}: after {insns} instructions flow says that it is {tsc}"
            return
    if want["losses"] == 0 and len(found) != len(want["time"]):
        yield f"{what}: TSC and MTC: oracle {len(want['time'])}, flow {len(found)}"


def compare(tools, path, what):
    found = list(differences(*tools, path))
    for line in found:
        print(f"{what}: {line}")
    return bool(found)


def record(tools, program):
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for options in OPTION_SETS:
            path = os.path.join(folder, "t.data")
            command = [tools[0], "record", "-q", "-f", "-o", path, "--pt", options, "--"] + program
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
            if not os.path.exists(path):
                print(done.stderr)
                return SKIP if done.returncode == 4 else 1
            failed |= compare(tools, path, options)
            os.remove(path)
    return int(failed)


def compare_raw(tools, path, images):
    words = [word for image in images for word in ("--image", image)]
    want = [line.split() for line in output(tools[1], "--raw", path, *words)]
    want = [(int(word[2]), int(word[3], 16)) for word in want]
    found = digests_of_flow(tools[0], "--as", "pt", path, *words)
    if found != want or want[0][0] == 0:
        print(f"{path}: oracle {want}, flow {found}")
    return found != want or want[0][0] == 0


def main():
    tools, verb, rest = sys.argv[1:4], sys.argv[4], sys.argv[5:]
    if verb == "record":
        sys.exit(record(tools, rest))
    if not os.path.exists(rest[0]):
        print(f"{rest[0]} is not here")
        sys.exit(SKIP)
    if verb == "raw":
        sys.exit(int(compare_raw(tools, rest[0], rest[1:])))
    sys.exit(int(compare(tools, rest[0], rest[0])))


main()
