#!/usr/bin/env python3
"""push.js in a real browser, headless: push_tests.py <browser> <folder>"""
import pathlib
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "explorers"))
import browser as real  # noqa: E402
import run_tests  # noqa: E402

PAGE_HTML = """<!doctype html><script src="{script}"></script>
<style>table {{ display: block }} .picture, tbody {{ display: block; overflow-x: auto }} .b {{ width: 600px }}</style>
<div class="picture"><div style="width: 300px">narrow</div></div>
<div class="picture"><div class="b">wide</div></div>
<table class="markdownTable"><tbody><tr><td><div class="b">wide</div></td></tr></tbody></table>"""


def said():
    """Of each line whether it is in sight, once the browser has measured."""
    return PAGE.value("""new Promise((said) => requestAnimationFrame(() => requestAnimationFrame(() => said(
        [...document.querySelectorAll("p.push")].map((line) => !line.hidden)))))""")


def test_says_so_where_something_is_wider_than_its_place():
    file = FOLDER / "push.html"
    file.write_text(PAGE_HTML.format(script=(HERE / "push.js").as_uri()), encoding="utf-8")
    PAGE.open(file.as_uri())
    for width, right in ((420, [False, True, True]), (800, [False] * 3), (420, [False, True, True])):
        PAGE.resize(width, 900)
        assert said() == right, (width, said())
    assert not PAGE.errors(), PAGE.errors()
    assert PAGE.value("document.querySelector('table').previousElementSibling.className") == "push"


if __name__ == "__main__":
    FOLDER = pathlib.Path(sys.argv[2])
    FOLDER.mkdir(parents=True, exist_ok=True)
    with real.Browser(sys.argv[1]) as browser:
        PAGE = real.Page(browser, 420, 900)
        run_tests.run(globals())
