"""What every picture is made of: cells, arrows, words, in one visual language for all days.

Memory is a strip of cells with offsets below, a tensor is a grid, an index is written inside its
cell, and one colour follows one row (or one block of threads) through the whole picture. Colours are
Okabe and Ito's, which the colour-blind can tell apart, and every colour is repeated in words or by
place. Ink follows the reader's light or dark theme; in the pages, which put the pictures inline,
docs/site/site.css lets it follow the pages' own switch.
"""

import collections
import operator
import re

COLOURS = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7"]  # sky blue, orange, green, purple
SKY, ORANGE, GREEN, PURPLE = COLOURS
FAINT = "var(--faint)"
CELL = 46

# Names of variables and not colours, so that a page can set them for all its pictures at once.
INKS = """\
  svg.pic { --ink: #1f2328; --soft: #57606a; --faint: #e4e7eb; }
  @media (prefers-color-scheme: dark) {
    svg.pic { --ink: #e6edf3; --soft: #9aa4af; --faint: #343b44; }
  }
"""

# A picture states those that it uses, in this order: where two apply, the later one holds.
RULES = """\
text { font: 15px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: var(--ink); }
text.in { fill: #111; text-anchor: middle; }
text.inkin { text-anchor: middle; }
text.tiny { font-size: 12px; }
text.small { font-size: 13px; text-anchor: middle; }
text.word { font-family: system-ui, 'DejaVu Sans', sans-serif; }
text.note { font: 13px system-ui, 'DejaVu Sans', sans-serif; fill: var(--soft); }
text.middle { text-anchor: middle; }
text.end { text-anchor: end; }
rect { stroke: var(--ink); stroke-width: 1.2; }
rect.thin { stroke-width: 0.6; }
rect.box { fill: none; stroke: var(--soft); rx: 6px; }
rect.idle { fill: none; stroke-dasharray: 4 3; stroke: var(--soft); }
rect.marked { fill: none; stroke-width: 3.5; }
path { stroke: var(--soft); stroke-width: 1.4; fill: none; }
path.head { fill: var(--soft); stroke: none; }
path.lead { stroke-dasharray: 3 3; }
path.thick { stroke-width: 2.6; }
path.cells { stroke: var(--ink); stroke-width: 1.2; }
path.thin { stroke-width: 0.6; }
""".splitlines()


def style(body):
    """The rules for what stands in `body`."""
    used = {tag + dot + kind for tag, kinds in re.findall(r'<(\w+)(?: class="([^"]*)")?', body)
            for dot, kind in [("", ""), *((".", kind) for kind in kinds.split())]}
    rules = "".join(f"  svg.pic {rule}\n" for rule in RULES if rule.partition(" ")[0] in used)
    return f"<style>\n{INKS}{rules}</style>"


class Cell(collections.namedtuple("Cell", "x y width height colour border text kind")):
    @property
    def middle(self):
        return self.x + self.width / 2

    @property
    def line(self):
        """Where its text stands."""
        return self.y + self.height / 2 + (4 if "tiny" in self.kind else 5)

    def overlaps(self, other):
        return (self.x < other.x + other.width and other.x < self.x + self.width and
                self.y < other.y + other.height and other.y < self.y + self.height)

    def joins(self, cells):
        """May it be drawn at once with these? Then it is of their size, and above none of them."""
        alike = operator.attrgetter("width", "height", "border")
        filled = self.colour != "none"
        return (self.border != "idle" and alike(self) == alike(cells[0]) and filled == (cells[0].colour != "none") and
                not any(map(self.overlaps, cells)))


def outline(cells):
    """The path around each of them. Where they fill a grid it is the grid's box and the lines in it."""
    xs, ys = sorted({cell.x for cell in cells}), sorted({cell.y for cell in cells})
    w, h = cells[0].width, cells[0].height
    wide, high = len(xs) * w, len(ys) * h
    if len(xs) * len(ys) > len(cells) or xs[-1] - xs[0] > wide - w + .01 or ys[-1] - ys[0] > high - h + .01:
        return " ".join(f"M{cell.x:g} {cell.y:g}h{w:g}v{h:g}h{-w:g}z" for cell in cells)
    return " ".join([f"M{xs[0]:g} {ys[0]:g}h{wide:g}v{high:g}h{-wide:g}z",
                     *(f"M{x:g} {ys[0]:g}v{high:g}" for x in xs[1:]), *(f"M{xs[0]:g} {y:g}h{wide:g}" for y in ys[1:])])


def drawn(cells):
    """Cells that may be drawn at once: one path in the most common colour, over it one for each further colour, and
    one text for the words of a row."""
    if len(cells) == 1:
        x, y, width, height, colour, border, *_ = cells[0]
        border = f' class="{border}"' if border else ""
        yield f'<rect{border} x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{colour}"/>'
    else:
        border = f" {cells[0].border}".rstrip()
        colours = collections.Counter(cell.colour for cell in cells).most_common()
        for number, (colour, _) in enumerate(colours):
            shape = outline([cell for cell in cells if number == 0 or cell.colour == colour])
            yield f'<path class="cells{border}" style="fill: {colour}" d="{shape}"/>'
    rows = collections.defaultdict(list)
    for cell in cells:
        if cell.text != "":
            rows[cell.kind, cell.line].append(cell)
    for (kind, line), row in rows.items():
        if len(row) == 1:
            yield f'<text class="{kind}" x="{row[0].middle:g}" y="{line:g}">{row[0].text}</text>'
        else:
            words = "".join(f'<tspan x="{cell.middle:g}">{cell.text}</tspan>' for cell in row)
            yield f'<text class="{kind}" y="{line:g}">{words}</text>'


class Svg:
    """A page shrinks a picture to the window's width; one of 440 or less stays legible on a phone."""

    def __init__(self, width, height, title):
        self.parts = []
        self.head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="pic" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" aria-label="{title}">\n'
            f"<title>{title}</title>\n"
        )

    def cell(self, x, y, colour, text="", width=CELL, height=CELL, kind="in", border=""):
        self.parts.append(Cell(x, y, width, height, colour, border, text, kind))

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
        """Cells that follow each other are drawn at once as far as they may be."""
        lines, cells = [], []
        for part in [*self.parts, ""]:
            if cells and not (isinstance(part, Cell) and part.joins(cells)):
                lines += drawn(cells)
                cells = []
            if isinstance(part, Cell):
                cells.append(part)
            else:
                lines.append(part)
        body = "\n".join(lines)
        return f"{self.head}{style(body)}\n{body}</svg>\n"
