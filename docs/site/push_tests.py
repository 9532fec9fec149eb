#!/usr/bin/env python3
"""push.js and site.css in a real browser, headless: push_tests.py <browser> <folder>"""
import pathlib
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
import run_tests  # noqa: E402

PAGE_HTML = """<!doctype html><script src="{script}"></script>
<link rel="stylesheet" href="{style}"><style>table, tbody {{ display: block; overflow-x: auto }}</style>
<table class="markdownTable"><tbody><tr><td><div style="width: 300px">narrow</div></td></tr></tbody></table>
<table class="markdownTable"><tbody><tr><td><div style="width: 600px">wide</div></td></tr></tbody></table>
<div class="contents"><div class="picture"><svg class="pic" viewBox="0 0 900 90" width="900" height="90"></svg></div>
<div class="fragment"><div class="line">{long}</div></div>
<div class="run"><pre class="fragment" style="--columns:80"><span class="row" style="--wrap:60ch">{long}</span></pre></div></div>"""


def said():
    """Of each line whether it is in sight, once the browser has measured."""
    return PAGE.value("""new Promise((said) => requestAnimationFrame(() => requestAnimationFrame(() => said(
        [...document.querySelectorAll("p.push")].map((line) => !line.hidden)))))""")


def test_says_so_where_something_is_wider_than_its_place():
    file = FOLDER / "push.html"
    file.write_text(PAGE_HTML.format(script=(HERE / "push.js").as_uri(), style=(HERE / "site.css").as_uri(),
                                     long=8 * "    a word"), encoding="utf-8")
    PAGE.open(file.as_uri())
    for width, right in ((420, [False, True]), (800, [False] * 2), (420, [False, True])):
        PAGE.resize(width, 900)
        assert said() == right, (width, said())
    assert not PAGE.errors(), PAGE.errors()
    assert PAGE.value("""[...document.querySelectorAll(".picture svg, .fragment, .fragment > *")].every((shown) =>
        shown.getBoundingClientRect().right <= innerWidth && shown.scrollWidth <= shown.clientWidth + 1)""")  # nothing is cut
    assert PAGE.value("document.querySelector('table').previousElementSibling.className") == "push"


if __name__ == "__main__":
    run_tests.in_browser(globals(), 420)
