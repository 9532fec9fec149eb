#!/usr/bin/env python3
"""The live pictures in a real browser, headless.

    tests.py <browser> <explorer_cases> <folder>     their logic, and each clicked through in docs/explorers.html
    tests.py <browser> --pages <html> <folder>       a click each on the pages that have them

Screenshots at all widths go to the folder; of the pages, light and dark."""
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import browser as real  # noqa: E402
import bundle  # noqa: E402

PAGES = {kind: lesson for kind, _, lesson, _ in bundle.PICTURES}
WIDTHS = 1250, 800, 420


class Explorer:
    """One of them, on an open page; what is asked for is looked for inside of it."""

    def __init__(self, page, kind):
        self.page, self.kind, self.root = page, kind, f"#explorer_{kind} .live "

    def __getattr__(self, name):  # click, hover, ... of the page
        return lambda selector, *more: getattr(self.page, name)(self.root + selector, *more)

    def press(self, label):
        """The button that says so."""
        self.page.value(f"""document.querySelectorAll('{self.root}button').forEach((button) =>
            button.toggleAttribute("data-sought", button.textContent === {label!r}))""")
        self.click("[data-sought]")

    def count(self, selector):
        return self.page.value(f"document.querySelectorAll('{self.root}{selector}').length")

    def has(self, selector, words):
        assert words in self.text(selector), f"{self.kind}: {selector} says {self.text(selector)!r}, not {words!r}"

    def field(self, name):
        return self.page.value(f"document.querySelector('{self.root}[name={name}]').value")

    def equal(self, got, right):
        assert got == right, f"{self.kind}: {got!r}, not {right!r}"

    def link_keeps(self, names, shown):
        """The link leads to a page that shows what this one shows."""
        before = [self.field(name) for name in names], self.text(shown)
        self.page.open(self.page.value(f"document.querySelector('{self.root}.link a').href"))
        self.equal(([self.field(name) for name in names], self.text(shown)), before)
        top = self.page.value(f"document.querySelector('{self.root}').getBoundingClientRect().top")
        assert -5 < top < 900, f"the link leads past the picture, {top} px away"


def layout(e):
    e.press("padded rows")
    e.equal([e.field(name) for name in ("shape0", "shape1", "strides0", "strides1", "first", "storage")],
            ["3", "3", "4", "1", "0", "12"])
    e.has(".answers", "required_span11is_contiguousnois_injectiveyes")
    e.equal((e.count(".memory .unused"), e.count(".tensor .cell"), e.text(".verdicts")), (3, 9, ""))
    e.hover('.tensor [data-n="5"]')
    e.has(".formula:not(.seen)", "offset(1, 2) = 1 · 4 + 2 · 1 = 6")
    e.equal(e.count('.memory .lit[data-position="6"]'), 1)
    e.hover('.memory [data-position="7"]')
    e.has(".formula:not(.seen)", "Element 7: no index leads here.")
    e.touch('.memory [data-position="8"]')
    e.equal(e.count('.tensor .lit[data-n="6"]'), 1)
    e.click('.tensor [data-n="0"]')
    for key in ("ArrowRight", "ArrowDown"):
        e.page.key(key)
    e.has(".formula:not(.seen)", "offset(1, 1)")
    # Outside of the storage: shown, not clamped. Typed, and by a key.
    e.type("[name=shape0]", "4")
    e.has(".verdicts .outside", "Outside: 3 of 12 indices leave the storage, which is elements 0 to 11. (3, 0) "
          "would be element 12.")
    e.equal((e.count(".memory .outside"), e.count(".tensor .outside")), (3, 3))
    e.page.key("ArrowDown")
    e.equal((e.field("shape0"), e.text(".verdicts")), ("3", ""))
    # Two indices at one element; dragged.
    e.click(".title")
    e.drag("[name=strides0]", -30)
    e.equal(e.field("strides0"), "1")
    e.has(".verdicts .shared", "(0, 1) and (1, 0) are one element, 1.")
    e.has(".answers", "is_injectiveno")
    e.equal((e.count(".memory .shared"), e.count(".tensor .shared")), (3, 7))
    e.hover('.memory [data-position="2"]')
    e.equal(e.count(".tensor .lit"), 3)
    e.touch("[name=storage]", 40)
    e.equal((e.field("storage"), e.count(".memory .unused")), ("16", 11))
    e.touch("[name=storage]")
    e.page.key("ArrowDown")
    e.equal(e.field("storage"), "15")
    e.type("[name=storage]", "12")
    # What is wrong stays as typed, with a sentence; the picture pales until it is right.
    e.type("[name=strides0]", "x")
    e.has(".group .wrong:not(:empty)", 'stride of dim 0: "x" is not a whole number')
    e.equal((e.count("[name=strides0][aria-invalid=true]"), e.count(".stage.stale")), (1, 1))
    e.type("[name=strides0]", "-3")
    e.type("[name=first]", "6")
    e.equal((e.count(".stale"), e.count("[aria-invalid=true]")), (0, 0))
    e.equal(e.text(".line"), "View<float> x{data + 6, Layout({3, 3}, {-3, 1})};")
    e.press("copy")
    e.equal(e.page.value("getSelection().toString()"), e.text(".line"))
    e.press("one dimension more")
    e.equal((e.field("shape0"), e.field("strides2"), e.count(".matrix")), ("2", "1", 2))
    e.link_keeps(["shape0", "shape2", "strides1", "first", "storage"], ".answers")
    e.press("one less")
    e.equal((e.field("shape0"), e.count("[name=shape2]")), ("3", 0))
    # From button to button by keys alone.
    e.press("row-major")
    for key in ("Tab", "Enter"):
        e.page.key(key)
    e.equal(e.field("strides1"), "3")


def views(e):
    for op, now in (("slice", "shape (3, 2), strides (4, 1), first 1"),
                    ("select", "shape (4), strides (1), first 4"),
                    ("transpose", "shape (4, 3), strides (1, 4), first 0"),
                    ("permute", "shape (4, 3), strides (1, 4), first 0"),
                    ("flip", "shape (3, 4), strides (4, -1), first 3"),
                    ("broadcast_to", "shape (2, 3, 4), strides (0, 4, 1), first 0"),
                    ("reshape", "shape (2, 6), strides (6, 1), first 0")):
        e.press("x")
        e.press(op)
        e.equal(e.text(".seen").replace("\u2212", "-"), "x now: " + now)
    e.press("x")
    e.press("transpose")
    e.press("reshape")
    e.has(".transforms .wrong", "no single stride describes dims")
    e.type(".op [name=reshape]", "4, 3, 1")
    e.page.key("Enter")
    e.equal(e.text(".transforms .wrong"), "")
    e.press("flip")
    e.equal(e.text(".line"), "View<float> x{data, Layout({3, 4}, {4, 1})};\nx = transpose(x);\n"
            "x = reshape(x, {4, 3, 1});\nx = flip(x, 1);")
    e.press("undo")
    e.has(".seen", "shape (4, 3, 1), strides (1, 4, ")
    e.type("[name=storage]", "11")  # what is typed goes through the steps again
    e.has(".verdicts .outside", "(3, 2, 0) would be element 11")
    e.link_keeps(["shape0", "storage"], ".line")
    e.press("row 1, repeated")
    e.has(".verdicts .shared", "(0, 0) and (1, 0) are one element, 4.")


def warp(e):
    e.has(".said", "4 sectors touched, 4 at least. 128 bytes used of 128 moved: 100 %.")
    e.press("one element later")
    e.has(".said", "5 sectors touched, 4 at least. 128 bytes used of 160 moved: 80 %.")
    e.press("a row apart")
    e.equal((e.count(".sector"), e.count(".skipped")), (32, 31))
    e.has(".skipped", "3 skipped")
    e.hover('.lanes [data-n="3"]')
    e.has(".formula", "Lane 3 loads bytes 392 to 395: sector 12.")
    e.equal(e.count(".sectors .lit"), 1)
    e.press("neighbours")
    e.click('.sectors [data-n="9"]')
    e.page.key("ArrowRight")
    e.has(".formula", "Lane 10 loads bytes 40 to 43: sector 1.")
    e.type("[name=first]", "1")
    e.choose("[name=wide]", "1")
    e.has("> .wrong", 'A load of 16 bytes begins at a multiple of 16, and lane 0\'s would begin at byte 4.')
    e.equal(e.count(".stale"), 1)
    e.type("[name=first]", "4")
    e.has(".said", "17 sectors touched, 16 at least.")
    e.drag("[name=stride]", 10)
    e.has(".said", "32 sectors touched, 16 at least. 512 bytes used of 1,024 moved: 50 %.")
    e.link_keeps(["stride", "first", "wide"], ".said")


def banks(e):
    e.has(".said", "32 wavefronts, 1 at least.")
    e.equal((e.text(".heads .met"), e.count(".word.pad")), ("32", 0))
    e.press("step 4: padded")
    e.has(".said", "1 wavefront, 1 at least.")
    e.equal((e.count(".heads .met"), e.count(".word.pad")), (0, 32))
    e.hover('.banks [data-n="3"]')
    e.has(".formula", "Lane 3: row 3, word 2 is 3 · 33 + 2 = word 101, bank 5.")
    e.hover('.banks [data-place="4,7"]')
    e.has(".formula", "row 4, word 7 is 4 · 33 + 7 = word 139, bank 11.")
    e.press("step 6: float4, swizzled")
    e.has(".said", "4 wavefronts, 4 at least.")
    e.click('.banks [data-n="1"]')
    e.has(".formula", "Lane 1: row 4, float4 2 is at position 2 ^ 1 = 3: 4 · 64 + 3 · 4 = words 268 to 271, "
          "banks 12 to 15.")
    e.page.key("ArrowRight")
    e.has(".formula", "Lane 2: row 8, float4 2 is at position 2 ^ 2 = 0")
    e.choose("[name=swizzle]", "0")
    e.has(".said", "32 wavefronts, 4 at least.")
    e.type("[name=pad]", "1")
    e.has("> .wrong", "A pad of 1 words: a float4 begins at multiples of 16 bytes")
    e.type("[name=pad]", "4")
    e.link_keeps(["width", "pad", "unit"], ".said")


def tree(e):
    e.has(".said", "3 rounds, 7 values combined. Thread 0 ends with 48 (number 1); there is a barrier")
    e.equal(e.count(".rounds .unused"), 4 + 6 + 7)
    e.hover('.rounds [data-n="8"]')
    e.has(".formula", "Thread 0 has 8 (number 0), and thread 4 has 48 (number 4): the larger is 48 (number 4).")
    e.equal(e.count(".rounds .lit"), 3)
    e.click('.rounds [data-n="17"]')
    e.has(".formula", "Thread 1 has 48 (number 1), and thread 3 has 31 (number 7): the larger is 48 (number 1).")
    for key in ("ArrowDown", "ArrowLeft"):
        e.page.key(key)
    e.has(".formula", "Of equal ones it is the earlier.")
    e.hover('.rounds [data-n="15"]')
    e.has(".formula", "Thread 7 has nothing to do in round 1")
    e.press("largest, butterfly")
    e.has(".said", "3 rounds, 24 values combined. Every lane ends with 48 (number 1)")
    e.equal(e.count(".rounds .unused"), 0)
    e.choose("[name=sum]", "1")
    e.type("[name=x0]", "-1")
    e.has(".said", "Every lane ends with 189;")
    e.page.key("ArrowUp")
    e.has(".said", "Every lane ends with 190;")
    e.type("[name=x0]", "y")
    e.has(".group .wrong:not(:empty)", 'number 0: "y" is not a whole number')
    e.type("[name=x0]", "7")
    e.link_keeps(["x0", "sum", "butterfly"], ".said")


def product(e):
    e.has(".said", "128 elements loaded for 256 multiply-adds: 2.00 per element. a and b have 64 elements.")
    e.equal((e.text(".operand[data-of=a]"), e.text(".operand[data-of=b]")), ("2" * 32, "2" * 32))
    e.hover('[data-of=out] [data-n="36"]')
    e.has(".formula", "Output (4, 4): its tile needs rows 4 to 7 of a and columns 4 to 7 of b, 16 + 16 elements for "
          "16 · 4 = 64 multiply-adds: 2.00 per element.")
    e.equal(e.count(".lit"), 48)
    e.click('[data-of=out] [data-n="36"]')
    for key in ("ArrowUp", "ArrowLeft"):
        e.page.key(key)
    e.has(".formula", "Output (3, 3): its tile needs rows 0 to 3")
    e.press("1 x 8: a row")
    e.has(".said", "288 elements loaded for 256 multiply-adds: 0.89 per element.")
    e.press("8 x 8: all at once")
    e.equal(e.text(".operand[data-of=a]"), "1" * 32)
    e.press("3 x 3: edges")
    e.has(".said", "192 elements loaded")
    e.type("[name=BM]", "9")
    e.has(".group .wrong:not(:empty)", "rows of a tile: 9 asked for, but here it is 1 to 8")
    e.type("[name=BM]", "5")
    e.type("[name=M]", "1")
    e.has(".formula", "Output (0, 7): its tile needs row 0 of a and columns 6 to 7 of b")
    e.link_keeps(["M", "N", "K", "BM", "BN"], ".said")


def running(e):
    e.has(".said", "largest 5, sum 1.719. A larger score came 3 times")
    e.equal(e.count(".rounds .cell"), 21)
    e.hover('.rounds [data-n="4"]')
    e.has(".formula", "2^(1 − 3) = 0.25. The sum: 1.5 · 0.25 + 1 = 1.375.")
    e.press("two threads")
    e.has(".rounds", "thread 1")
    e.has(".rounds", "1.375 · 0.25 + 1.375 · 1 = 1.719")
    e.press("falling")
    e.has(".said", "A larger score came 0 times")
    e.choose("[name=base]", "e")
    e.has(".said", "largest 5, sum 1.578")
    e.type("[name=x5]", "100")
    e.has(".group .wrong:not(:empty)", "number 5: 100 asked for, but here it is -99 to 99")
    e.press("far apart")
    e.has(".said", "largest 99, sum 2.368")
    e.equal(e.text('.rounds [data-n="1"]'), "~0")
    e.click('.rounds [data-n="0"]')
    e.page.key("ArrowRight")
    e.has(".formula", "e^(−99 − 99) = 1.023e-86")
    e.link_keeps(["x0", "x5", "base", "threads"], ".said")


def glance(e):
    """On the real pages, where the other tests need not be made again: that it answers at all."""
    before = e.text(".stage")
    e.click(".presets button:nth-child(2)")
    assert e.text(".stage") != before, f"{e.kind}: a button changed nothing"


def in_browser(browser, urls, tests, schemes, pictures):
    for width in WIDTHS:
        page = real.Page(browser, width, 900)
        for kind, test in tests.items():
            page.open(urls[kind])
            page.value("window.MathJax && new Promise((done) => MathJax.Hub.Queue(done))")  # pushes things down
            test(Explorer(page, kind))
            ours = [error for error in page.errors() if "explor" in error]
            assert not ours, ours
            wide = page.value("document.documentElement.scrollWidth")
            assert wide <= width, f"{kind}: {wide} px wide in a window of {width}"
            inside = page.value(f"""(() => {{
                const box = document.querySelector("#explorer_{kind}");
                return box.scrollWidth <= box.clientWidth;
            }})()""")
            assert inside, f"{kind}: something sticks out of its frame at {width} px"
            page.resize(width, 2600)
            for scheme in schemes:
                page.colours(scheme)
                page.screenshot(f"#explorer_{kind}", pictures / f"{kind}_{width}_{scheme}.png")
            page.resize(width, 900)
    print(", ".join(tests) + ": " + ", ".join(f"{width} px" for width in WIDTHS))


def logic(browser, program, folder):
    cases = folder / "cases.js"
    with cases.open("w") as file:
        subprocess.run([program], stdout=file, check=True)
    scripts = [HERE / "explore.js", HERE / "explore_inputs.js", HERE / "check.js", cases]
    page = real.Page(browser, 800, 600)
    (folder / "logic.html").write_text("<!DOCTYPE html><meta charset='utf-8'>" + "".join(
        f'<script src="{script.as_uri()}"></script>' for script in scripts))
    page.open((folder / "logic.html").as_uri())
    assert not page.errors(), page.errors()
    result = page.value("({...check_cases(cases), inputs: check_inputs()})")
    wrong = result["wrong"] + result["inputs"]
    assert not wrong, f"{len(wrong)} answers differ:\n" + "\n".join(wrong[:10])
    print(f"{sum(result['done'].values())} cases, equal:",
          ", ".join(f"{count} {kind}" for kind, count in sorted(result["done"].items())))


def main():
    program, what, *more = sys.argv[1:]
    folder = pathlib.Path(more[-1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with real.Browser(program, seconds=240) as browser:
        if what == "--pages":
            html = pathlib.Path(more[0]).resolve()
            urls = {kind: (html / f"{page}.html").as_uri() for kind, page in PAGES.items()}
            tests, schemes = dict.fromkeys(PAGES, glance), ("dark", "light")
        else:
            logic(browser, what, folder)
            urls = dict.fromkeys(PAGES, bundle.PAGE.as_uri())
            tests = {"layout": layout, "views": views, "warp": warp, "banks": banks, "tree": tree,
                     "product": product, "running": running}
            schemes = ("light",)
        in_browser(browser, urls, tests, schemes, folder)


if __name__ == "__main__":
    main()
