#!/usr/bin/env python3
"""Compares compute-sanitizer's reports of a day's planted bugs with those of our tests.

After `cmake --workflow --preset gpu` and `cmake --build build/gpu --target wrong_on_gpu`:

    common/emulator/tests/beside_gpu/wrong_kernels.py build/gpu/bin day01 > day01.csv

With --tool it tests that the tool detects the bug of one program (common/cmake/sanitizer.cmake).
The table's cells are those of sanitizer.py.
"""
import argparse
import csv
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "common" / "cmake"))
import wrong  # noqa: E402
from sanitizer import TOOLS, first_finding, run  # noqa: E402


def words_of(source):
    """The words with which our tests reject it, and its marked lines."""
    lines = [f"{source.name}:{number}" for number, line in enumerate(source.read_text().splitlines(), 1)
             if "// <- here" in line]
    return "; ".join(wrong.announced(source, "rejected") + lines)


def watched(options, tool, program, case):
    """The output of the tool and the program, and whether they were killed."""
    command = [options.sanitizer, "--tool", tool, program, case]
    if tool == "memcheck":  # the tests make rejected calls on purpose
        command[3:3] = ["--report-api-errors", "no"]
    return run(command, 120)


def sanitizer_says(options, tool, program, case):
    text, killed = watched(options, tool, program, case)
    return "(no end within 120 s)" if killed else first_finding(text) or "nothing"


def expect_finding(options):
    """The exit status of a test: 0 if the tool reports a bug, 4 without a GPU, otherwise 1."""
    program = str(pathlib.Path(options.folder) / options.what)
    text, killed = watched(options, options.tool, program, wrong.test_of(pathlib.Path(options.source)))
    finding = "" if killed else first_finding(text)
    print(finding or text)
    if "SKIPPED: " in text and os.environ.get("SIXDAYS_REQUIRE_GPU") != "1":
        return 4
    return 0 if finding and not finding.startswith("(") else 1


def print_day(options):
    """One row per kernel in the day's wrong/: the results of our tests, and of each tool when the
    same case runs on a GPU."""
    day = options.what
    folder = next(ROOT.glob(f"{day}_*")) / "wrong"
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["wrong kernel", "our tests", *TOOLS])
    for source in sorted([*folder.glob("*.cu"), *folder.glob("*.patch")]):
        if re.search(r"/[a-z]\w*_tile[.]cu", source.read_text()):
            continue  # the tools cannot inspect tile kernels, so there is no program
        program = pathlib.Path(options.folder) / f"{day}_wrong_{source.stem}_gpu"
        table.writerow([source.stem, words_of(source),
                        *(sanitizer_says(options, tool, str(program), wrong.test_of(source))
                          for tool in TOOLS)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="where the programs were built: build/gpu/bin")
    parser.add_argument("what", help="a day: day01; with --tool, a program")
    parser.add_argument("--tool", choices=TOOLS, help="which must find what is wrong in that program")
    parser.add_argument("--source", help="the wrong kernel that the program holds")
    parser.add_argument("--sanitizer", default="compute-sanitizer")
    options = parser.parse_args()
    if options.tool:
        sys.exit(expect_finding(options))
    print_day(options)


if __name__ == "__main__":
    main()
