#!/usr/bin/env python3
"""capture.py with programs made up for it: what a page gets, and what ends the build."""
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import run_tests  # noqa: E402

FAILED = """<Expression success="false"><Original>{asked}</Original><Expanded>{said}</Expanded></Expression>"""


def run(printed, rejected=None, status=1, options=()):
    """(what <name>.txt holds, what capture.py said when it failed)"""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "program"
        (folder / "printed").write_text(printed)
        guard = '[ -z "$1" ] || [ "$1" = "a case; or two\\\\, b" ] || exit 0'
        program.write_text(f"#!/bin/sh\ncat {folder}/printed\n{guard}\nexit {status}\n")
        program.chmod(0o755)
        if rejected:
            (folder / "wrong.patch").write_text(f"case: a case; or two, b\n// rejected: {rejected}\nrejected: path := x\n")
            options = ["--wrong", folder / "wrong.patch"]
        done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("capture.py"), folder / "out.txt", *options,
                               "--", program], capture_output=True, text=True)
        files = {path.name: path.read_text() for path in folder.glob("out*.txt")}
        return files, " ".join(done.stderr.split()) if done.returncode else ""


def test_planned_sentence():
    printed = FAILED.format(asked="x", said="not this") + FAILED.format(
        asked="got.matches(want)", said="\n   expected 5,\n   got &lt;15&gt;.\n   It is (2)\n  ")
    assert run(printed, "got <15>. It is") == ({"out.txt": "expected 5,\ngot <15>.\nIt is (2)\n"}, "")
    counted = FAILED.format(asked="a == b", said="1024 (0x400) == 32")
    assert run(counted, "a == b") == ({"out.txt": "CHECK( a == b )\nhere: 1024 == 32\n"}, "")
    addressed = FAILED.format(asked="x", said="got nan (0xffc00000); it is 0x7ff4ae995804, which leaves 4")
    assert run(addressed, "it is") == ({"out.txt": "got nan (0xffc00000); it is 0x…4, which leaves 4\n"}, "")
    thrown = "<Exception filename=\"x\" line=\"1\">x.cu:1: past its end</Exception>"
    assert run(thrown, "past its end") == ({"out.txt": "x.cu:1: past its end\n"}, "")


def test_rejected():
    printed = FAILED.format(asked="x", said="expected 5, got 15.")
    assert run(printed, "first\n// rejected: got 15.")[1] == ""
    assert run(printed + FAILED.format(asked="y", said="got 16."), "got 15.\n// rejected: got 16.")[0] == {
        "out.txt": "got 16.\n"}  # the last one
    beside = FAILED.format(asked="x", said="an earlier one") + "<Info>path := &quot;x&quot;</Info>" + printed
    assert run(beside, 'path := "x"')[0] == {"out.txt": "expected 5, got 15.\n"}
    files, said = run(printed, "got 16.")
    assert not files and "promises: got 16. path := x" in said, said
    files, said = run(printed, "got 15.", status=0)
    assert not files and "ended with 0" in said, (files, said)
    for nothing in ("{Unknown expression", "{?}", "{null string}"):
        files, said = run(FAILED.format(asked="x", said=f"got 15. {nothing} and more"), "got 15.")
        assert not files and f"holds '{nothing}'" in said, (files, said)


def test_sections():
    files, said = run("title\n\n1. One   \n   a\n\n2. Two\n   b\n", status=0)
    assert said == "" and files == {"out.txt": "title\n\n1. One\n   a\n\n2. Two\n   b\n", "out.0.txt": "title\n",
                                    "out.1.txt": "1. One\n   a\n", "out.2.txt": "2. Two\n   b\n"}, files
    files, _ = run("first\n\n  requests  x\n  1\n\nsecond\n\n  requests  x\n  2\n", status=0)
    assert files["out.1.txt"] == "first\n\n  requests  x\n  1\n" and files["out.2.txt"].startswith("second\n"), files
    assert "ended with 3" in run("x\n", status=3)[1]
    assert "was to fail" in run("x\n", status=0, options=["--fails"])[1]
    assert run("x\n", options=["--fails"]) == ({"out.txt": "x\n"}, "")


if __name__ == "__main__":
    run_tests.run(globals())
