"""Reference results from NumPy, kept in git as a C++ file.

A generator yields lines; this module writes them or, with --check, compares them with the file in
git. Floats are written by float.hex, so no digit is lost.

    import golden
    def lines():
        yield "// shape, row-major strides"
        yield "const GoldenStrides golden_strides[] = {"
        yield "{{2, 3}, {3, 1}},"
        yield "};"
    golden.main(lines(), __doc__, __file__)

    golden.py            writes golden.inc beside the generator
    golden.py --check    exit status 1 and the first difference if golden.inc is out of date
"""
import argparse
import pathlib
import sys


def braces(values):
    """(2, 3) as {2, 3}."""
    return "{" + ", ".join(str(int(v)) for v in values) + "}"


def main(lines, what, script, inc="golden.inc", who="NumPy"):
    arguments = argparse.ArgumentParser(description=what)
    arguments.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments.add_argument("file", nargs="?", type=pathlib.Path,
                           default=pathlib.Path(script).with_name(inc))
    asked = arguments.parse_args()
    text = "// Made by %s from %s: do not edit, run it.\n" % (pathlib.Path(script).name, who)
    text += "".join(line + "\n" for line in lines)
    if not asked.check:
        asked.file.write_text(text)
        return
    have = asked.file.read_text().splitlines() if asked.file.exists() else []
    want = text.splitlines()
    for number, (a, b) in enumerate(zip(have + [None] * len(want), want + [None] * len(have)), 1):
        if a != b:
            sys.exit("%s, line %d, differs from %s.\n  file:  %s\n  %s: %s"
                     % (asked.file.name, number, who, a, who, b))
    print("%s: %d lines, as from %s" % (asked.file.name, len(want), who))
