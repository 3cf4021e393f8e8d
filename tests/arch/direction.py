#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails on an #include that points up, sideways where that is not allowed, or into another folder's insides.

usage: direction.py ROOT [SELFTEST]   with SELFTEST it must fail on a made-up violation"""
import pathlib
import re
import sys

# What a folder's files may include, besides their own folder and public headers of what is below.
BELOW = {
    "base": set(),
    "pt": {"base"}, "ds": {"base"}, "event": {"base"}, "oa": {"base"}, "cpumf": {"base"},
    "metric": {"base"},
    "image": {"base"},
    "flow": {"base", "pt", "image"},
    "profile": {"base", "pt", "image", "flow", "metric"},
    "file": {"base", "pt", "ds", "event", "oa", "cpumf", "image", "flow", "profile", "metric"},
    "sink": {"base", "pt", "ds", "event", "oa", "cpumf", "image", "flow", "profile", "metric"},
    "linux": {"base", "pt", "ds", "event", "oa", "cpumf", "image", "flow", "profile", "metric"},
    "virtual": {"base", "pt", "ds", "event", "oa", "cpumf", "image", "flow", "profile", "metric"},
    "compat": {"base", "event"},
}
# Which folder a public header describes.
HEADER = {
    "base": "base", "cursor": "base", "text": "base", "workers": "base",
    "pt": "pt", "event": "event", "event_table": "event", "event_list": "event",
    "image": "image", "flow": "flow", "profile": "profile",
    "perfdata": "file", "recording": "file", "event_json": "file",
    "perfwrite": "sink", "probe": "linux", "sys": "linux", "count": "linux",
    "pt_unit": "virtual", "machine": "virtual", "machine_event": "virtual", "core_unit": "virtual", "record": "virtual",
    "tally": "virtual",
}
# Headers that are only numbers of a file format: readers and writers both need them.
SHARED = {"perfdata"}
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')


def folder_of_include(path, own, text):
    """The folder an include line leads to, or None for the system's own headers."""
    if text.startswith("assay/"):
        name = text[len("assay/"):-2]
        if name == "assay":
            return "everything"
        if name in SHARED:
            return None
        return HEADER.get(name, "unknown header " + name)
    if "/" in text and text.split("/")[0] in BELOW:
        return text.split("/")[0]
    return None if not (path.parent / text).exists() else own


def violations(root):
    for path in sorted((root / "src").rglob("*.[ch]")):
        own = path.relative_to(root / "src").parts[0]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            m = INCLUDE.match(line)
            if not m:
                continue
            to = folder_of_include(path, own, m.group(1))
            if to is None or to == own or to in BELOW.get(own, set()):
                continue
            yield f"{path.relative_to(root)}:{number}: {own} must not include {m.group(1)} ({to})"


def main():
    root = pathlib.Path(sys.argv[1])
    found = list(violations(root))
    print("\n".join(found) if found else "every include points down")
    return 1 if found else 0


sys.exit(main())
