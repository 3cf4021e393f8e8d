# SPDX-License-Identifier: MIT
"""Runs the counting driver; shared by the tests of this folder."""
import collections
import json
import os
import subprocess
import tempfile


def environment():
    """The same for every run: what stands in it moves the program's stack."""
    keep = ("PATH", "ASSAY_QEMU_PLUGIN", "ASAN_OPTIONS", "TMPDIR")
    return {k: v for k, v in os.environ.items() if k in keep}


def tally_of(driver, model, quantities, program):
    """A list of (pid, tid, {quantity: count}), and what else was said."""
    with tempfile.NamedTemporaryFile("r") as out:
        done = subprocess.run([driver, model, quantities, out.name, *program], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=environment(), stdin=subprocess.DEVNULL)
        lines = out.read().splitlines()
    threads = []
    for line in lines:
        word = line.split()
        if word[0] == "thread":
            threads.append((word[1], word[2], {}))
        elif word[0] != "exec":
            threads[-1][2][word[0]] = int(word[1])
    return threads, done.stderr.decode()


def record(assay, timing, blocks, program):
    """Records program; the truth's streams as (instructions, [(ip, instructions) of blocks]), the recording's packets and the branches
    of its decoded flow by kind."""
    with tempfile.TemporaryDirectory() as folder:
        data, truth = os.path.join(folder, "t.data"), os.path.join(folder, "truth")
        subprocess.run([assay, "record", "-q", "-o", data, "--truth", truth, "--timing", timing,
                        *(["--truth-blocks"] if blocks else []), "--", *program],
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment())
        streams = []
        for line in open(truth):
            word = line.split()
            if word[0] == "stream":
                streams.append((int(word[7]), []))
            else:
                streams[-1][1].append((int(word[1], 16), int(word[2])))
        dump = list(json_lines(assay, "dump", data))
        branches = collections.Counter(b.get("branch") for b in json_lines(assay, "flow", "--blocks", data))
    return streams, dump, branches


def json_lines(assay, *words):
    done = subprocess.run([assay, words[0], "--json", *words[1:]], capture_output=True, text=True)
    return map(json.loads, done.stdout.splitlines())
