#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns data/event/fields.tsv and registers.tsv into C: layouts of fields, rows of registers sorted by number, one pool of
descriptions; without a pointer and so without a relocation.

usage: compile_registers.py FIELDS.tsv REGISTERS.tsv OUTPUT.h"""
import pathlib
import sys

SCHEMES = {"core": 0, "netburst": 1}
NAME_ROOM = {"field": 22, "register": 30}


def rows(path, columns):
    """Each line as a dictionary, with its place in the file under 'at'."""
    lines = pathlib.Path(path).read_text(encoding="ascii").splitlines()
    if lines[0].split("\t") != columns.split():
        sys.exit(f"{path}:1: the columns are {columns}")
    for number, line in enumerate(lines[1:], 2):
        fields = line.split("\t")
        if len(fields) != len(columns.split()):
            sys.exit(f"{path}:{number}: {len(fields)} fields where {len(columns.split())} are due")
        yield dict(zip(columns.split(), fields), at=f"{path}:{number}")


def name(row, column, text):
    if len(text) >= NAME_ROOM[column]:
        sys.exit(f"{row['at']}: {text} is longer than {NAME_ROOM[column] - 1}")
    return text


def read_layouts(path):
    layouts = {}
    for row in rows(path, "layout field lsb width desc"):
        fields = layouts.setdefault(row["layout"], [])
        lsb, width = int(row["lsb"]), int(row["width"])
        if width < 1 or lsb + width > 64 or (fields and lsb < fields[-1][1] + fields[-1][2]):
            sys.exit(f"{row['at']}: bits out of order or beyond 63")
        fields.append((name(row, "field", row["field"]), lsb, width, row["desc"]))
    return layouts


def read_registers(path, layouts):
    found = []
    for row in rows(path, "register msr count step layout schemes"):
        if row["layout"] not in layouts:
            sys.exit(f"{row['at']}: no layout {row['layout']}")
        schemes = sum(1 << SCHEMES[s] for s in row["schemes"].split())
        for i in range(int(row["count"])):
            text = name(row, "register", row["register"].replace("#", str(i)))
            found.append((int(row["msr"], 16) + i * int(row["step"]), schemes, text, row["layout"]))
    return sorted(found)


def main():
    layouts = read_layouts(sys.argv[1])
    pool, offset = ['    "\\0"'], {"": 0}
    size = 1
    for fields in layouts.values():
        for field in fields:
            if field[3] not in offset:
                offset[field[3]] = size
                size += len(field[3]) + 1
                pool.append('    "%s\\0"' % field[3].replace("\\", "\\\\").replace('"', '\\"'))
    out = ["static const char field_pool[] =", *pool]
    out[-1] += ";"
    out.append("static const struct assay_event_field field_rows[] = {")
    out += [f'    {{"{n}", {offset[d]}, {lsb}, {width}}},' for fields in layouts.values() for n, lsb, width, d in fields]
    out += ["};", "static const struct field_range field_ranges[ASSAY_EVENT_REGISTERS_KNOWN] = {"]
    first = 0
    for layout, fields in layouts.items():
        out.append(f"    [ASSAY_EVENT_REG_{layout}] = {{{first}, {len(fields)}}},")
        first += len(fields)
    out += ["};", "static const struct assay_event_msr registers[] = {"]
    out += [f'    {{"{n}", ASSAY_EVENT_REG_{layout}, {schemes}, {number:#x}}},'
            for number, schemes, n, layout in read_registers(sys.argv[2], layouts)]
    out += ["};", ""]
    pathlib.Path(sys.argv[3]).write_text("\n".join(out), encoding="ascii")


if __name__ == "__main__":
    main()
