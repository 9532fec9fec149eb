#!/usr/bin/env python3
"""All live pictures in one file that needs nothing else: docs/explorers.html, from the scripts that the pages load.

    bundle.py            writes it
    bundle.py --check    is it current? (the test docs.explorers.current)
    bundle.py --still    writes ../../pictures/live_pictures.svg, what the front page shows of it (needs Chromium)"""
import base64
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import browser  # noqa: E402

PAGE = HERE.parents[1] / "explorers.html"
STILL = HERE.parents[1] / "pictures" / "live_pictures.svg"
SCRIPTS = sorted(HERE.glob("explore*.js"))  # by name: what all share comes before each kind of picture
PICTURES = (  # kind, heading, lesson, what to try
    ("layout", "Shape and strides", "day02_strides", "Change a stride and watch which element of memory each index reads."),
    ("views", "Views of one buffer", "day03_views", "Slice, flip and transpose. The numbers in memory never move."),
    ("warp", "Coalesced access", "day01_flat_memory", "Change the stride between lanes and count the sectors that one warp requests."),
    ("banks", "Bank conflicts", "day03_views", "Pad the rows of a tile by one word and watch a 32-way conflict disappear."),
    ("tree", "A reduction in a warp", "day04_argmax", "Follow eight values through a shuffle tree to one."),
    ("product", "A tile and its reuse", "day05_matmul", "Change the tile of a matrix product and see how often each element is loaded."),
    ("running", "Online softmax", "day06_transformer_ops_fast", "Step through a running maximum and the sum that it rescales."),
)
STYLE = """
html { --page-background-color: #fff; --page-foreground-color: #1f2328; --page-secondary-foreground-color: #57606a;
    --separator-color: #c8ced5; --primary-color: #0b66a8; --fragment-background: #f6f8fa; }
html.dark-mode { --page-background-color: #16191d; --page-foreground-color: #dde4ea; --page-secondary-foreground-color: #9aa4af;
    --separator-color: #3a424b; --primary-color: #6cb6ff; --fragment-background: #22272e; }
body { margin: 0 auto; max-width: 1100px; padding: 1rem 1rem 50vh; font: 1rem/1.5 system-ui, sans-serif; color: var(--page-foreground-color);
    background: var(--page-background-color); }
a { color: var(--primary-color); }
"""
SCHEME = """
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.className = dark.matches ? "dark-mode" : "light-mode";
dark.addEventListener("change", follow);
follow();
"""


def made():
    sections = "\n".join(
        f'<h2>{heading}</h2>\n<p>{what} Lesson: <a href="{lesson}.md">{lesson[:5].title().replace("y0", "y 0")}</a>.</p>\n'
        f'<div class="explorer" id="explorer_{kind}" data-explorer="{kind}"></div>' for kind, heading, lesson, what in PICTURES)
    style = STYLE + (HERE / "explorer.css").read_text(encoding="utf-8")
    scripts = SCHEME + "\n".join(script.read_text(encoding="utf-8") for script in SCRIPTS)
    return f"""<!DOCTYPE html>
<!-- Made by docs/site/explorers/bundle.py from the files beside it: change those. -->
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Live pictures: six days from flat memory to a transformer</title>
<style>{style}</style>
<script>{scripts}</script>
</head><body>
<h1>Live pictures</h1>
<p>Seven pictures from the lessons that you can change. Type into a field, drag it sideways, or use the arrow keys.</p>
{sections}
</body></html>
"""


def still():
    """The first picture after a click at its second preset."""
    program = browser.find()
    if program is None:
        sys.exit("--still needs Chromium: apt install chromium-headless-shell")
    only = "body > :is(h1, h2, p, .explorer ~ .explorer) { display: none } body { padding: 0 } .explorer { margin: 0 }"
    panel = made().replace("</style>", only + "</style>", 1)
    panel += "<script>addEventListener('load', () => document.querySelectorAll('.presets button')[1].click())</script>"
    width, height = 870, 535
    images = ""
    with tempfile.TemporaryDirectory() as folder:
        page, shot = pathlib.Path(folder, "page.html"), pathlib.Path(folder, "shot.png")
        page.write_text(panel, encoding="utf-8")
        for mode, setting in (("light", 1), ("dark", 0)):
            subprocess.run([program, "--no-sandbox", "--hide-scrollbars", f"--blink-settings=preferredColorScheme={setting}",
                            f"--window-size={width},{height}", f"--screenshot={shot}", page.as_uri()],
                           check=True, capture_output=True)
            data = base64.b64encode(shot.read_bytes()).decode()
            images += f'<image class="still_{mode}" width="{width}" height="{height}" href="data:image/png;base64,{data}"/>'
    style = ".still_dark { display: none } @media (prefers-color-scheme: dark) " \
            "{ .still_dark { display: inline } .still_light { display: none } }"
    STILL.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
                     f"<style>{style}</style>{images}</svg>\n", encoding="utf-8")


def main():
    if sys.argv[1:] == ["--still"]:
        return still()
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    page = made()
    if not sys.argv[1:]:
        PAGE.write_text(page, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page:
        sys.exit("docs/explorers.html is not what docs/site/explorers/bundle.py makes; run it")


if __name__ == "__main__":
    main()
