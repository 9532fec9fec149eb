#!/usr/bin/env python3
"""Draws the pictures of the documentation as SVG, into this folder.

    docs/pictures/draw.py           writes every picture
    docs/pictures/draw.py --check   exit 1 if a committed picture is not what this script draws

svg.py holds what they are made of, one file per day the pictures themselves.
"""
import pathlib
import sys

import day01
import day02
import day03
import day04
import day05
import day06
import front
import measured
import memory

HERE = pathlib.Path(__file__).parent
PICTURES = {f"{draw.__name__}.svg": draw
            for part in (day01, day02, day03, day04, day05, day06, front, measured, memory) for draw in part.PICTURES}


def main():
    stale = []
    for name, draw in PICTURES.items():
        path = HERE / name
        if "--check" in sys.argv[1:]:
            if not path.exists() or path.read_text() != draw():
                stale.append(name)
        else:
            path.write_text(draw())
            print("wrote", path)
    if stale:
        sys.exit("not what draw.py draws: " + ", ".join(stale))


if __name__ == "__main__":
    main()
