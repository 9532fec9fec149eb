#!/usr/bin/env python3
"""Runs a program while the docs are built and cuts what it prints, so that pages can show it:

    capture.py <folder>/<name>.txt [--fails] [--gdb FILE] [--wrong FILE] -- program [argument...]

<name>.txt          everything, from the first numbered heading on cut into:
<name>.0.txt        what comes before section 1
<name>.<n>.txt      section n; of a trace, its n-th part

With --fails the program ends with another status than 0, and <name>.txt has its stderr too.
With --gdb, a file of commands for gdb, it is run by it; its prompt stands before each command.
With --wrong the program is a test program that must reject this planted mistake, a kernel or a patch. Its lines `case:`
and `rejected:` say which case does, and in which words; <name>.txt is what the case says about the last of them that a
failure says, or else about the first failure beside them. Of an address, which changes from run to run, the last digit stays.
Source paths lose the folder that this tree lies in.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import xml.sax.saxutils

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "common" / "cmake"))
import wrong  # noqa: E402

ADDRESS = re.compile(r"\b0x[0-9a-f]{8,13}(?=[0-9a-f]\b)")  # but for its last digit; a float has 8, a double 16
NO_WORDS = re.compile(r"\{Unknown expression|\{\?\}|\{null string\}?")  # what Catch2 puts where it has none


def command(options):
    if options.gdb:
        said = [word for line in options.gdb.read_text().splitlines() for word in ("-ex", f"echo (gdb) {line}\\n", "-ex", line)]
        return ["gdb", "-q", "-batch", "-x", f"{ROOT}/common/emulator/debug.gdb", *options.program[1:], *said, options.program[0]]
    if options.wrong:
        return [options.program[0], wrong.test_of(options.wrong), *options.program[1:]]
    return options.program


def first_failure(text, words):
    """What the first failed check or unexpected exception that holds `words` says, from Catch2's XML."""
    asked = ""
    for tag, said in re.findall(r"<(Original|Expanded|Exception)\b[^>]*>(.*?)</\1>", text, re.S):
        said = re.sub(r"\n *", "\n", xml.sax.saxutils.unescape(said, {"&quot;": '"', "&apos;": "'"})).strip()
        if tag == "Original":
            asked = said  # what the check says, in C++; followed by its values
        elif words in " ".join(said.split()) and not said.startswith("{Unknown expression"):  # of an exception
            return said
        elif asked == words:
            return f"CHECK( {asked} )\nhere: " + re.sub(r"(\d) \(0x[0-9a-f]+\)", r"\1", said)
    return ""


def rejection(text, file):
    """What a page quotes of the tests' rejection of a planted mistake."""
    promised = [words for words in wrong.announced(file, "rejected") if not words.startswith("at ")]  # a line of the kernel
    found = next(filter(None, (first_failure(text, words) for words in reversed(promised))), "")
    beside = text.replace("&quot;", '"')
    if not found and promised and promised[0] in beside:
        found = first_failure(beside[beside.index(promised[0]):], "")
    if not found:
        raise ValueError(f"no failure of the tests says what {file} promises:\n" + "\n".join(promised))
    if NO_WORDS.search(found):
        raise ValueError(f"{file}: what its test says holds '{NO_WORDS.search(found)[0]}', which Catch2 puts where it has no "
                         f"words; announce other words in `rejected:`:\n{found}")
    return ADDRESS.sub("0x…", found)


def sections(text):
    """(number, text): a trace has parts, which begin with a line of their own above a table; a run has numbered headings."""
    parts = re.split(r"(?:^|(?<=\n))(?=[^ \n][^\n]*\n\n  requests )", text)
    if len(parts) > 1:
        return list(enumerate(parts))
    found = []
    while (at := text.find(f"\n{len(found) + 1}. ")) >= 0:
        found.append(text[:at])
        text = text[at:]
    return list(enumerate([*found, text]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--fails", action="store_true")
    parser.add_argument("--gdb", type=pathlib.Path)
    parser.add_argument("--wrong", type=pathlib.Path)
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    done = subprocess.run(command(options), capture_output=True, encoding="utf-8", errors="replace", timeout=120)
    text, errors = (re.sub(r"[ \t]+\n", "\n", printed.replace(f"{ROOT}/", "")) for printed in (done.stdout, done.stderr))
    wanted = bool(options.fails or options.wrong)
    if not options.gdb and wanted != (done.returncode != 0):
        sys.exit(f"{' '.join(options.program)} ended with {done.returncode}, but was to "
                 f"{'fail' if wanted else 'end with 0'}:\n{text}{errors}")
    pieces = []
    if options.fails:
        text += errors
    elif options.gdb:
        text = text[text.index("\nblock ("):]  # from where the first thread stops; addresses change with every build
        text = re.sub(r"=0x[0-9a-f]+", "=0x…", re.sub(r"^(#\d+ +)0x[0-9a-f]+ in ", r"\1", text, flags=re.M))
    elif options.wrong:
        try:
            text = rejection(text, options.wrong)
        except ValueError as error:
            sys.exit(f"{error}\n{errors}")
    else:
        pieces = sections(text)
    for number, piece in [("", text), *pieces]:
        suffix = f".{number}.txt" if number != "" else ".txt"
        options.output.with_name(options.output.stem + suffix).write_text(piece.strip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
