#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a command and draws what it prints, with its colours, as an SVG.

usage: capture.py OUT.svg [--as TEXT] -- COMMAND [ARGS]     TEXT stands for the command in the picture"""
import html
import re
import subprocess
import sys

COLOR = {"31": "#e06c75", "32": "#98c379", "33": "#e5c07b", "36": "#56b6c2"}
CELL, LINE, PAD = 7.83, 17, 14


def spans(line):
    """(style, text) of a line with SGR escapes."""
    style = ""
    for part in re.split(r"(\033\[[0-9;]*m)", line):
        m = re.fullmatch(r"\033\[([0-9;]*)m", part)
        if not m:
            if part:
                yield style, part
            continue
        codes = m.group(1).split(";")
        style = "" if codes in ([""], ["0"]) else style
        for code in codes:
            if code == "1":
                style += "font-weight:bold;"
            elif code in COLOR:
                style += f"fill:{COLOR[code]};"


def draw(lines):
    plain = [re.sub(r"\033\[[0-9;]*m", "", l) for l in lines]
    width = PAD * 2 + CELL * max(map(len, plain))
    height = PAD * 2 + LINE * len(lines)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">',
           f'<rect width="100%" height="100%" rx="8" fill="#1e2127"/>',
           '<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="13" fill="#d7dae0" xml:space="preserve">']
    for n, line in enumerate(lines):
        column = 0
        for style, text in spans(line):
            out.append(f'<text x="{PAD + CELL * column:.1f}" y="{PAD + LINE * (n + 0.75):.1f}" textLength="{CELL * len(text):.1f}"'
                       f'{f" style={chr(34)}{style}{chr(34)}" if style else ""}>{html.escape(text)}</text>')
            column += len(text)
    return "\n".join(out + ["</g>", "</svg>", ""])


def main():
    at = sys.argv.index("--")
    options, command = sys.argv[1:at], sys.argv[at + 1:]
    shown = options[2] if "--as" in options else " ".join(command)
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = [f"\033[1m$ {shown}\033[0m"] + text.rstrip("\n").split("\n")
    with open(options[0], "w", encoding="utf-8") as f:
        f.write(draw(lines))


main()
