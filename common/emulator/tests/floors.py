"""Floors: a file of the emulator includes only its own floor and those below it, and no floor below
report/ has sentences.

    python3 floors.py <common/emulator>

The headers beside the floors (common/emulator/*.hpp, include/) are what programs see, so they
include no floor. translate/ stands alone; tile/, libraries/ and try/ may include any floor, and only
the top floor includes them. The top floor and those three, which reject what they are given, may
phrase findings themselves."""

import re
import sys
from pathlib import Path

FLOORS = ["machine", "memory", "checks", "report", "api"]
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')

# Comments, lines of the preprocessor, strings, and what ends a statement.
TOKEN = re.compile(r'''//[^\n]*|^\s*\#.*$|'(?:[^'\\]|\\.)'|"(?:[^"\\]|\\.)*"|[;{}]''', re.M)
# Names that a report quotes, and what is printed when the emulator itself cannot go on.
NO_FINDING = re.compile(r"\b(reserve|give_tables|release|fprintf|asm)\(")


def target_of(root, path, include):
    """The folder of the emulator that this line includes from; None if it is another header."""
    quote, name = include.groups()
    header = root.parent.parent / name
    if quote == '"' and (path.parent / name).is_file():
        header = path.parent / name
    header = header.resolve()
    if not header.is_relative_to(root) or len(header.relative_to(root).parts) < 2:
        return None
    return header.relative_to(root).parts[0]


def upward(root):
    """A sentence for each include of a floor that is above the file's own."""
    below_all = [(root, "public"), (root / "include", "include"), (root / "translate", "translate")]
    found = []
    for folder, own in below_all + [(root / floor, floor) for floor in FLOORS]:
        height = FLOORS.index(own) if own in FLOORS else -1
        for path in sorted(folder.glob("*.[hc]pp") if own == "public" else folder.rglob("*.*")):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                include = INCLUDE.match(line)
                target = target_of(root, path, include) if include else None
                if target in FLOORS:
                    wrong = FLOORS.index(target) > height
                else:  # tile/ and libraries/ include any floor
                    wrong = target not in (None, "include", own) and 0 <= height < len(FLOORS) - 1
                if wrong:
                    found.append(f"{path.relative_to(root.parent.parent)}:{number}: a file of {own} includes one of "
                                 f"{target}, which is above it: {line.strip()}")
    return found


def sentences(root):
    """A sentence for each string of two words or more below report/."""
    found = []
    for floor in FLOORS[:FLOORS.index("report")]:
        for path in sorted((root / floor).glob("*.[hc]pp")):
            text, statement = path.read_text(encoding="utf-8"), 0
            for token in TOKEN.finditer(text):
                if token[0] in (";", "{", "}"):
                    statement = token.end()
                elif (re.match('".*[A-Za-z] [a-z]', token[0])
                      and not NO_FINDING.search(text[statement:token.start()])):
                    number = text.count("\n", 0, token.start()) + 1
                    found.append(f"{path.relative_to(root.parent.parent)}:{number}: a sentence below report/: pass a "
                                 f"fact (machine/facts.hpp), and phrase it there: {token[0]}")
    return found


def main():
    root = Path(sys.argv[1]).resolve()
    empty = [floor for floor in FLOORS if not any((root / floor).glob("*.cpp"))]
    wrong = [f"{root / floor} has no files" for floor in empty] + upward(root) + sentences(root)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)


main()
