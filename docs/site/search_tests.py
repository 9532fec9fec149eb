#!/usr/bin/env python3
"""search_pages.js in a real browser, headless, with lunr of the system: search_tests.py <browser> <folder>"""
import json
import pathlib
import shutil
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "explorers"))
import browser as real  # noqa: E402
import run_tests  # noqa: E402

LUNR = pathlib.Path("/usr/share/javascript/lunr/lunr.min.js")
ENTRIES = [  # page, section, address, text, words set off, listings and outputs, weight
    ["Day 04, argmax", "Warp", "a", "a reduction", "", "blockIdx.x " * 20, 3],
    ["Day 01, flat memory", "Loop and kernel", "b", "which block it is in (blockIdx.x)", "", "", 3],
    ["Words", "blockIdx", "c", "which block this is", "blockIdx", "", 3],
    ["Block", "blockIdx", "d", "a member", "", "", 0.5],
    ["Step through a kernel", "", "e", "views of a window", "", "", 1.5],
    ["Words", "view", "f", "pointer and layout", "view", "", 3],
    ["Day 03, views", "", "g", "slices", "", "", 3],
    ["View< T >", "operator()()", "i", "the element", "View::operator()", "T & operator", 0.5],
    ["View< T >", "operator()()", "j", "the element at an index", "View::operator()", "T & operator", 0.5],
    ["View< T >", "", "k", "memory that it does not own", "View", "", 0.5],
    ["CpuOperations", "layer_norm()", "l", "the same", "CpuOperations::layer_norm", "void", 0.5],
    ["Norm", "layer_norm_cuda()", "m", "the kernel", "layer_norm_cuda", "void", 0.5],
    ["Layout", "Layout()", "n", "any strides", "Layout::Layout", "Layout", 0.5],
    ["Layout", "size()", "o", "as the constructor of Layout", "Layout::size", "int", 0.5],
    ["Day 03, views", "Pitfalls", "h", "views views views", "views", "", 3],
]


def found(words):
    """The addresses that are shown, the first result first."""
    return PAGE.value("""new Promise((done) => {
        const field = document.getElementById("MSearchField");
        field.value = %s;
        field.dispatchEvent(new Event("input"));
        setTimeout(() => done([...document.querySelectorAll("#found a")].map((a) => a.href.split("/").pop()).join("")), 500);
    })""" % json.dumps(words))


def test_definitions_come_first_then_text_then_listings_then_the_reference():
    assert found("blockIdx") == "cbad" or found("blockIdx") == "cbda", found("blockIdx")


def test_titles_of_pages_come_before_sections():
    assert found("views").startswith("g"), found("views")
    assert found("nowhere") == ""


def test_names_of_the_reference():
    assert found("View")[0] == "k" and found("view")[0] in "fg", (found("View"), found("view"))
    assert found("View::operator()") == found("operator()") == found("View::operator") == "ij", found("operator()")
    assert found("sixdays::View")[0] == found("a::b::View")[0] == "k" and found("gpu::blockIdx")[0] == "c", found("sixdays::View")
    assert found("layer_norm") == "ml" and found("layer norm kernel") == "m", found("layer_norm")  # the operation, then members
    assert found("Layout constructor") == "no", found("Layout constructor")


def test_what_a_result_shows():
    found("view")
    shown = PAGE.value("[...document.querySelectorAll('#found a')].find((a) => a.href.endsWith('/f')).textContent")
    assert shown.endswith("viewpointer and layout"), shown  # its text, though that does not have the word


if __name__ == "__main__":
    if not LUNR.is_file():
        sys.exit(print("SKIPPED: libjs-lunr was not found"))
    FOLDER = pathlib.Path(sys.argv[2])
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file in (LUNR, HERE / "search_pages.js"):
        shutil.copy(file, FOLDER)
    (FOLDER / "search_data.js").write_text(f"searchData({json.dumps(ENTRIES)});")
    (FOLDER / "page.html").write_text('<!doctype html><script src="search_pages.js"></script><input id="MSearchField">')
    with real.Browser(sys.argv[1]) as browser:
        PAGE = real.Page(browser, 1250, 900)
        PAGE.open((FOLDER / "page.html").resolve().as_uri())
        PAGE.value("new Promise((done) => setTimeout(done, 300))")
        run_tests.run(globals())
        assert not PAGE.errors(), PAGE.errors()
