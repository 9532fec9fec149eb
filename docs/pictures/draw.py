#!/usr/bin/env python3
"""Draws the pictures of the documentation as SVG, into this folder.

    docs/pictures/draw.py           writes every picture
    docs/pictures/draw.py --check   exit 1 if a committed picture is not what this script draws

One visual language for all days: memory is a strip of cells with offsets below, a tensor is a grid,
an index is written inside its cell, and one colour follows one row (or one block of threads)
through the whole picture. Colours are Okabe and Ito's, which the colour-blind can tell apart, and
every colour is repeated in words or by place. Ink follows the reader's light or dark theme.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
COLOURS = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7"]  # sky blue, orange, green, purple
CELL = 46

STYLE = """<style>
  text { font: 15px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #1f2328; }
  text.in { fill: #111; text-anchor: middle; }
  text.small { font-size: 12px; text-anchor: middle; }
  text.word { font-family: system-ui, 'DejaVu Sans', sans-serif; }
  rect { stroke: #1f2328; stroke-width: 1.2; }
  rect.marked { fill: none; stroke-width: 4; }
  path { stroke: #57606a; stroke-width: 1.4; fill: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } text.in { fill: #111; }
    rect { stroke: #e6edf3; } path { stroke: #9aa4af; }
  }
</style>"""


class Svg:
    def __init__(self, width, height, title):
        self.parts = []
        self.head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" aria-label="{title}">\n'
            f"<title>{title}</title>\n{STYLE}"
        )

    def cell(self, x, y, colour, text, width=CELL, height=CELL):
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{colour}"/>'
            f'<text class="in" x="{x + width / 2:g}" y="{y + height / 2 + 5:g}">{text}</text>'
        )

    def text(self, x, y, text, kind="word"):
        self.parts.append(f'<text class="{kind}" x="{x:g}" y="{y:g}">{text}</text>')

    def line(self, x1, y1, x2, y2):
        middle = (y1 + y2) / 2
        self.parts.append(
            f'<path d="M{x1:g} {y1:g} C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}"/>'
        )

    def outline(self, x, y):
        self.parts.append(f'<rect class="marked" x="{x}" y="{y}" width="{CELL}" height="{CELL}"/>')

    def done(self):
        return self.head + "\n" + "\n".join(self.parts) + "\n</svg>\n"


def flat_memory():
    """A (3, 4) matrix, the same elements in memory, and the threads that will visit them."""
    rows, columns, left = 3, 4, 40
    svg = Svg(640, 400, "A matrix of 3 rows and 4 columns lies in memory row after row; "
                        "thread i takes the element at offset i")
    svg.text(left, 28, "x, as we think of it: shape (3, 4)")
    top = 44
    for m in range(rows):
        for k in range(columns):
            svg.cell(left + k * CELL, top + m * CELL, COLOURS[m], f"{m},{k}")
    svg.text(left + 5 * CELL, top + 30, "element (m, k)")
    svg.text(left + 5 * CELL, top + 56, "lies at offset  m * 4 + k")
    svg.text(left + 5 * CELL, top + 98, "(2, 1) lies at  2 * 4 + 1 = 9")

    strip = top + rows * CELL + 66
    svg.line(left + 1.5 * CELL, top + rows * CELL, left + 9.5 * CELL, strip)
    for m in range(rows):
        svg.text(left + (m * columns + 2) * CELL, strip - 12, f"row {m}", "small")
    for i in range(rows * columns):
        m, k = divmod(i, columns)
        svg.cell(left + i * CELL, strip, COLOURS[m], f"{m},{k}")
        svg.text(left + (i + 0.5) * CELL, strip + CELL + 18, str(i), "small")
    svg.text(left, strip - 34, "in memory")
    for x, y in ((left + CELL, top + 2 * CELL), (left + 9 * CELL, strip)):
        svg.outline(x, y)
    svg.text(left, strip + CELL + 40, "offset, and thread i of the kernel")

    lanes = strip + CELL + 56
    for i in range(rows * columns):
        svg.cell(left + i * CELL, lanes, COLOURS[3], f"t{i % 4}", height=28)
    for block in range(3):
        svg.text(left + (4 * block + 2) * CELL, lanes + 46, f"block {block}", "small")
    return svg.done()


PICTURES = {"flat_memory.svg": flat_memory}


def main():
    stale = []
    for name, draw in PICTURES.items():
        path = HERE / name
        if "--check" in sys.argv[1:]:
            if not path.exists() or path.read_text() != draw():
                stale.append(name)
        else:
            path.write_text(draw())
            print("wrote", path)
    if stale:
        sys.exit("not what draw.py draws: " + ", ".join(stale))


if __name__ == "__main__":
    main()
