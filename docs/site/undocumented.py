#!/usr/bin/env python3
"""Public declarations of the reference without text: undocumented.py <Doxyfile> [<part of a path>...]

Doxygen reads the headers alone, as reference.py gives them to it, which also says what is left out; so this takes
seconds. One line per class, function, enumerator, member or alias without text; the test docs.reference wants none.
"""
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from reference import ROOT, filtered, is_left_out  # noqa: E402

ALONE = """@INCLUDE = "{doxyfile}"
INPUT = "{out}/headers"
STRIP_FROM_PATH = "{out}/headers"
FILE_PATTERNS = *.hpp
FILTER_PATTERNS =
OUTPUT_DIRECTORY = "{out}"
USE_MDFILE_AS_MAINPAGE =
EXTRACT_ALL = YES
SOURCE_BROWSER = NO
GENERATE_HTML = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
WARNINGS = NO
WARN_AS_ERROR = NO
"""


def has_text(element):
    return any("".join(part.itertext()).strip() for part in element if part.tag in ("briefdescription", "detaileddescription"))


def place(element):
    at = element.find("location")
    return at.get("declfile") or at.get("file"), int(at.get("declline") or at.get("line"))


def declared(folder):
    """{id: (file, line, name, whether it has text)} of what the XML in this folder declares."""
    found = {}
    for path in sorted(folder.glob("*.xml")):
        compound = ElementTree.parse(path).getroot().find("compounddef")
        kind = compound.get("kind") if compound is not None else ""
        if kind not in ("class", "struct", "union", "namespace", "group"):
            continue
        name = compound.findtext("compoundname")
        if compound.get("prot", "public") != "public":
            continue
        if kind in ("class", "struct", "union") and "@" not in name:
            found[compound.get("id")] = *place(compound), name, has_text(compound)
        for member in compound.iter("memberdef"):
            if member.get("kind") == "friend" or member.get("prot") != "public" or "@" in member.findtext("name"):
                continue
            of = "" if kind == "group" else name + "::"
            file, line = place(member)
            full = of + member.findtext("name")
            arguments = " ".join((member.findtext("argsstring") or "").split()) if member.get("kind") == "function" else ""
            found[member.get("id")] = file, line, full + arguments, has_text(member)
            for value in member.iter("enumvalue"):
                found[value.get("id")] = file, line, f"{full}::{value.findtext('name')}", has_text(value)
    return found


def main():
    with tempfile.TemporaryDirectory() as out:
        for part in ("common", "day[0-9][0-9]_*"):
            for path in ROOT.glob(part + "/**/*.hpp"):
                name = path.relative_to(ROOT)
                if not is_left_out(name):
                    copy = pathlib.Path(out, "headers", name)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy.write_text("\n".join(filtered(path)), encoding="utf-8")
        text = ALONE.format(doxyfile=pathlib.Path(sys.argv[1]).resolve(), out=out)
        subprocess.run(["doxygen", "-"], input=text, text=True, check=True, stdout=subprocess.DEVNULL)
        found = declared(pathlib.Path(out, "xml"))
    if len(found) < 500:
        sys.exit(f"Doxygen found {len(found)} declarations: the headers were not read")
    without = sorted(one[:3] for one in found.values() if not one[3] and (not sys.argv[2:] or any(part in one[0] for part in sys.argv[2:])))
    for file, line, name in without:
        print(f"{file}:{line} {name}")
    print(f"{len(without)} of {len(found)} public declarations have no text")
    sys.exit(bool(without))


if __name__ == "__main__":
    main()
