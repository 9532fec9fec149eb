"""What every picture is made of: cells, arrows, words, in one visual language for all days.

Memory is a strip of cells with offsets below, a tensor is a grid, an index is written inside its
cell, and one colour follows one row (or one block of threads) through the whole picture. Colours are
Okabe and Ito's, which the colour-blind can tell apart, and every colour is repeated in words or by
place. Ink follows the reader's light or dark theme; in the pages, which put the pictures inline,
docs/site/site.css lets it follow the pages' own switch.
"""

COLOURS = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7"]  # sky blue, orange, green, purple
SKY, ORANGE, GREEN, PURPLE = COLOURS
FAINT = "var(--faint)"
CELL = 46

# Names of variables and not colours, so that a page can set them for all its pictures at once.
STYLE = """<style>
  svg.pic { --ink: #1f2328; --soft: #57606a; --faint: #e4e7eb; }
  @media (prefers-color-scheme: dark) {
    svg.pic { --ink: #e6edf3; --soft: #9aa4af; --faint: #343b44; }
  }
  svg.pic text { font: 15px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace;
    fill: var(--ink); }
  svg.pic text.in { fill: #111; text-anchor: middle; }
  svg.pic text.inkin { text-anchor: middle; }
  svg.pic text.tiny { font-size: 12px; }
  svg.pic text.small { font-size: 13px; text-anchor: middle; }
  svg.pic text.word { font-family: system-ui, 'DejaVu Sans', sans-serif; }
  svg.pic text.note { font: 13px system-ui, 'DejaVu Sans', sans-serif; fill: var(--soft); }
  svg.pic text.middle { text-anchor: middle; }
  svg.pic text.end { text-anchor: end; }
  svg.pic rect { stroke: var(--ink); stroke-width: 1.2; }
  svg.pic rect.thin { stroke-width: 0.6; }
  svg.pic rect.box { fill: none; stroke: var(--soft); rx: 6px; }
  svg.pic rect.idle { fill: none; stroke-dasharray: 4 3; stroke: var(--soft); }
  svg.pic rect.marked { fill: none; stroke-width: 3.5; }
  svg.pic path { stroke: var(--soft); stroke-width: 1.4; fill: none; }
  svg.pic path.head { fill: var(--soft); stroke: none; }
  svg.pic path.lead { stroke-dasharray: 3 3; }
  svg.pic path.thick { stroke-width: 2.6; }
</style>"""


class Svg:
    """A page shrinks a picture to the window's width; one of 440 or less stays legible on a phone."""

    def __init__(self, width, height, title):
        self.parts = []
        self.head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="pic" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" aria-label="{title}">\n'
            f"<title>{title}</title>\n{STYLE}"
        )

    def cell(self, x, y, colour, text="", width=CELL, height=CELL, kind="in", border=""):
        border = f' class="{border}"' if border else ""
        self.parts.append(
            f'<rect{border} x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{colour}"/>'
        )
        if text != "":
            drop = 4 if "tiny" in kind else 5
            self.parts.append(
                f'<text class="{kind}" x="{x + width / 2:g}" y="{y + height / 2 + drop:g}">{text}</text>'
            )

    def text(self, x, y, text, kind="word"):
        self.parts.append(f'<text class="{kind}" x="{x:g}" y="{y:g}">{text}</text>')

    def line(self, x1, y1, x2, y2, kind=""):
        middle = (y1 + y2) / 2
        kind = f' class="{kind}"' if kind else ""
        self.parts.append(
            f'<path{kind} d="M{x1:g} {y1:g} C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}"/>'
        )

    def arrow(self, x1, y1, x2, y2):
        """A straight arrow along one axis, with its head at (x2, y2)."""
        dx, dy = (x2 > x1) - (x2 < x1), (y2 > y1) - (y2 < y1)
        self.parts.append(f'<path d="M{x1:g} {y1:g} L{x2 - 5 * dx:g} {y2 - 5 * dy:g}"/>')
        self.parts.append(
            f'<path class="head" d="M{x2:g} {y2:g} L{x2 - 7 * dx + 4 * dy:g} {y2 - 7 * dy + 4 * dx:g} '
            f'L{x2 - 7 * dx - 4 * dy:g} {y2 - 7 * dy - 4 * dx:g} Z"/>'
        )

    def arch(self, x1, x2, y, rise):
        """An arrow from above (x1, y) over to (x2, y)."""
        self.parts.append(
            f'<path d="M{x1:g} {y:g} C{x1:g} {y - rise:g} {x2:g} {y - rise:g} {x2:g} {y - 5:g}"/>'
            f'<path class="head" d="M{x2:g} {y:g} L{x2 - 4:g} {y - 7:g} L{x2 + 4:g} {y - 7:g} Z"/>'
        )

    def outline(self, x, y, width=CELL, height=CELL):
        self.parts.append(
            f'<rect class="marked" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"/>'
        )

    def box(self, x, y, width, height):
        self.parts.append(
            f'<rect class="box" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"/>'
        )

    def done(self):
        return self.head + "\n" + "\n".join(self.parts) + "\n</svg>\n"
