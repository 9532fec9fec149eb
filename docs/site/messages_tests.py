#!/usr/bin/env python3
"""docs/when_it_goes_wrong.md quotes what common/learn and the exercises' cases say. Those that are not captured
from a run are looked up in the source: a message that was reworded must not stand on the page in its old words."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ["common/learn", "common/learn.d/*.sh", "common/testing/*.cpp", "common/testing/*.hpp", "common/gpu/runtime.cpp",
           "common/cmake/*.cmake", "common/gpu/device.hpp", "day*/exercises/*/tests.cpp"]


def texts():
    for pattern in SOURCES:
        for path in ROOT.glob(pattern):
            text = path.read_text(encoding="utf-8")
            yield re.sub(r'"\s*\n\s*"', "", text)  # one literal, written on two lines


def quoted(page):
    """The messages of the tables below `## What common/learn check says`, cut where values stand in them."""
    page = page[page.index("## What common/learn check says"):]
    for row in re.findall(r"^\| (.*?) \|", page, re.M):
        for message in re.findall(r"`+([^`]+)`+", row):
            yield message, [part.strip(" (,)") for part in re.split(r"\.\.\.|[0-9][0-9,]*", message)]


def main():
    known = list(texts())
    count, wrong = 0, []
    for message, parts in quoted((ROOT / "docs/when_it_goes_wrong.md").read_text(encoding="utf-8")):
        parts = [part for part in parts if len(part) >= 6]
        count += len(parts)
        wrong += [f"'{message}': nothing says '{part}'" for part in parts if not any(part in text for text in known)]
    if wrong or count < 10:
        sys.exit("\n".join(wrong) or f"only {count} messages were found on the page")
    print(f"{count} pieces of messages are said somewhere")


if __name__ == "__main__":
    main()
