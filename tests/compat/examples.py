#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The reference library's own example programs, compiled with our headers against our libpfm.so.4.

usage: examples.py LIBRARY.so INCLUDE   status 77 when libpfm4-dev with its examples is not installed"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

EXAMPLES = pathlib.Path("/usr/share/doc/libpfm4-dev/examples")


def build(name, library, include, folder):
    """err.h is what the examples bring along in their own tree; it is libc's here."""
    (folder / "perfmon").mkdir(exist_ok=True)
    (folder / "perfmon" / "err.h").write_text("#include <err.h>\n")
    out = folder / name
    subprocess.run(["cc", "-w", f"-I{folder}", f"-I{include}", "-o", out, EXAMPLES / f"{name}.c", library,
                    f"-Wl,-rpath,{library.parent}"], check=True)
    return out


def run(program, *arguments):
    env = dict(os.environ, LIBPFM_FORCE_PMU="knm")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, env=env, timeout=60)
    if done.returncode != 0:
        sys.exit(f"{program} {arguments}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    library, include = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    if not (EXAMPLES / "check_events.c").exists():
        print("libpfm4-dev is not installed: no examples")
        return 77
    wrong = []
    with tempfile.TemporaryDirectory() as d:
        check, show = (build(n, library, include, pathlib.Path(d)) for n in ("check_events", "showevtinfo"))
        out = run(check, "OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR_NEAR:u")
        for want in ("Requested Event: OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR_NEAR:u", "knm::OFFCORE_RESPONSE_0:",
                     "0x5101b7", "0x80800001"):
            if want not in out:
                wrong.append(f"check_events does not say {want}:\n{out}")
        events = re.findall(r"^Name\s*: (\S+)", run(show), re.MULTILINE)
        if len(events) != 31:
            wrong.append(f"showevtinfo shows {len(events)} events, not 31")
    print("\n".join(wrong) if wrong else "the examples are built and say what they should")
    return 1 if wrong else 0


sys.exit(main())
