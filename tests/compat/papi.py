#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Debian's PAPI tools on our libpfm.so.4: the same presets and native events as on the library they come with.

usage: papi.py LIBRARY.so   status 77 when papi-tools are not installed"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

TOOLS = ("papi_avail", "papi_component_avail", "papi_native_avail")


def ask(tool, arguments=(), library=None, pmu="knm"):
    env = dict(os.environ, LIBPFM_FORCE_PMU=pmu)
    env.pop("LD_LIBRARY_PATH", None)
    if library:
        env["LD_LIBRARY_PATH"] = os.fspath(library.parent)
    done = subprocess.run([tool, *arguments], capture_output=True, text=True, env=env, timeout=60)
    if done.returncode != 0:
        sys.exit(f"{tool} on {library or 'the original'}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def names(listing):
    """Of papi_native_avail: events and, indented under them, their umasks and modifiers; descriptions are free."""
    return re.findall(r"^\| {1,5}(\S+) *\|$", listing, re.MULTILINE)


def main():
    library = pathlib.Path(sys.argv[1]).resolve()
    missing = [t for t in TOOLS if not shutil.which(t)]
    if missing:
        print(f"papi-tools are not installed: no {missing[0]}")
        return 77
    wrong = []
    for pmu in ("knm", "knl", "netburst", "netburst_p"):
        for tool, arguments in (("papi_avail", ["-a"]), ("papi_component_avail", [])):
            if ask(tool, arguments, library, pmu) != ask(tool, arguments, pmu=pmu):
                wrong.append(f"{tool} says something else for {pmu}")
        ours, original = names(ask("papi_native_avail", (), library, pmu)), names(ask("papi_native_avail", pmu=pmu))
        if not original or ours != original:
            wrong.append(f"papi_native_avail has other names for {pmu}: {sorted(set(ours) ^ set(original))[:10]}")
    if "Of 26 available events" not in ask("papi_avail", ["-a"], library):
        wrong.append("knm has not 26 presets")
    if "Native: 31, Preset: 26" not in ask("papi_component_avail", (), library):
        wrong.append("knm has not 31 native events")
    print("\n".join(wrong) if wrong else "26 presets and 31 native events on knm, and the same names on every PMU")
    return 1 if wrong else 0


sys.exit(main())
