#!/usr/bin/env python3
"""Draws the pictures of the documentation as SVG, into this folder.

    docs/pictures/draw.py           writes every picture
    docs/pictures/draw.py --check   exit 1 if a committed picture is not what this script draws

One visual language for all days: memory is a strip of cells with offsets below, a tensor is a grid,
an index is written inside its cell, and one colour follows one row (or one block of threads)
through the whole picture. Colours are Okabe and Ito's, which the colour-blind can tell apart, and
every colour is repeated in words or by place. Ink follows the reader's light or dark theme; in the
pages, which put the pictures inline, docs/site/site.css lets it follow the pages' own switch.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
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
  svg.pic text.tiny { font-size: 10.5px; }
  svg.pic text.small { font-size: 12px; text-anchor: middle; }
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
</style>"""


class Svg:
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


def four_dims():
    """Scores of shape (2, 3, 4, 5): boxes in boxes, and how far one step goes in each dim."""
    c, left, top = 27, 20, 92
    head, gap = 5 * c, 16
    sequence = 3 * head + 2 * gap
    svg = Svg(960, 330, "Attention scores of shape (2, 3, 4, 5): a step in b skips 60 elements, in h "
                        "20, in q 5, in k 1; element (1, 2, 3, 1) lies at 60 + 40 + 15 + 1 = 116")
    first = {}
    for b in range(2):
        x_b = left + 12 + b * (sequence + 40)
        svg.box(x_b - 10, top - 10, sequence + 20, 4 * c + 42)
        svg.text(x_b + sequence / 2, top + 4 * c + 48, f"b = {b}", "small")
        for h in range(3):
            x_h = x_b + h * (head + gap)
            svg.text(x_h + head / 2, top + 4 * c + 18, f"h = {h}", "small")
            for q in range(4):
                for k in range(5):
                    x, y = x_h + k * c, top + q * c
                    first[b, h, q, k] = x, y
                    svg.cell(x, y, COLOURS[h], ((b * 3 + h) * 4 + q) * 5 + k, c, c, "in tiny",
                             "thin")
    for index in ((1, 0, 0, 0), (1, 2, 0, 0), (1, 2, 3, 0), (1, 2, 3, 1)):
        svg.outline(*first[index], c, c)
    half = c / 2
    (x0, y0), (x1, _) = first[0, 0, 0, 0], first[1, 0, 0, 0]
    svg.arch(x0 + half, x1 + half, y0 - 1, 74)
    svg.text((x0 + x1) / 2 + half, y0 - 62, "one step in b: 60", "small")
    x2, _ = first[1, 2, 0, 0]
    svg.arch(x1 + half + 9, x2 + half, y0 - 1, 56)
    svg.text((x1 + x2) / 2 + half, y0 - 48, "two steps in h: 2 * 20", "small")
    svg.text(left + 2, top + 4 * c + 84, "k runs to the right, step 1; q runs down, step 5.")
    svg.text(left + 2, top + 4 * c + 112, "(1, 2, 3, 1):")
    svg.text(left + 122, top + 4 * c + 112, "1*60 + 2*20 + 3*5 + 1*1 = 116", "")
    svg.text(left + 398, top + 4 * c + 112, "the outlined cells: 60, 100, 115, 116", "note")
    return svg.done()


def guard():
    """Ten elements shared out to three blocks of four threads; two threads have nothing to do."""
    left, top, n = 40, 60, 10
    svg = Svg(660, 300, "Ten elements, three blocks of four threads: threads 10 and 11 of the grid "
                        "have no element, and the guard keeps them still")
    for block in range(3):
        x = left + block * (4 * CELL + 12)
        svg.box(x - 5, top - 32, 4 * CELL + 10, CELL + 40)
        svg.text(x + 2 * CELL, top - 14, f"blockIdx.x = {block}", "small")
        for t in range(4):
            i = 4 * block + t
            if i < n:
                svg.cell(x + t * CELL, top, COLOURS[block], f"t{t}")
            else:
                svg.cell(x + t * CELL, top, "none", f"t{t}", kind="inkin", border="idle")
    memory = top + CELL + 62
    for i in range(12):
        x_thread = left + i // 4 * (4 * CELL + 12) + i % 4 * CELL + CELL / 2
        x_cell = left + i * CELL + CELL / 2
        if i < n:
            svg.line(x_thread, top + CELL, x_cell, memory)
            svg.cell(left + i * CELL, memory, COLOURS[i // 4], i)
        else:
            svg.cell(left + i * CELL, memory, "none", kind="inkin", border="idle")
            if i == n:
                svg.text(x_thread + CELL / 2, top + CELL + 26, "i &lt; n ? no", "small")
            svg.text(x_cell, memory + 28, "?", "small")
    svg.text(left, memory + CELL + 26, "memory of out, n = 10; what lies behind it is not ours")
    svg.text(left, memory + CELL + 54, "i = blockIdx.x * 4 + threadIdx.x", "")
    svg.text(left + 320, memory + CELL + 54, "(2 * 4 + 1 = 9, the last element)")
    return svg.done()


def gpt2_tensors():
    """The 16 parameter tensors of GPT-2 124M in one allocation, to scale."""
    V, max_T, L, C = 50304, 1024, 12, 768
    parts = [("wte", V * C), ("wpe", max_T * C), ("ln1w", L * C), ("ln1b", L * C),
             ("qkvw", L * 3 * C * C), ("qkvb", L * 3 * C), ("attprojw", L * C * C),
             ("attprojb", L * C), ("ln2w", L * C), ("ln2b", L * C), ("fcw", L * 4 * C * C),
             ("fcb", L * 4 * C), ("fcprojw", L * 4 * C * C), ("fcprojb", L * C), ("lnfw", C),
             ("lnfb", C)]
    total = sum(count for _, count in parts)
    left, width, top, height = 20, 760, 60, 52
    svg = Svg(800, 200, "GPT-2's 16 parameter tensors in one allocation, to scale: five of them take "
                        "99 percent, the others are as thin as a line")
    svg.text(left, 28, f"one allocation, {total:,} floats, to scale")
    begin, shown, thin = 0, 0, []
    for name, count in parts:
        x, w = left + begin / total * width, count / total * width
        if w > 20:
            wide = w > 90  # room for its name
            svg.cell(x, top, COLOURS[shown % 4], name if wide else "", w, height)
            if not wide:
                svg.text(x + w / 2, top - 10, name, "small")
            svg.text(x + 2, top + height + 18 + 14 * (shown % 2), f"{begin:,}", "tiny")
            shown += 1
        else:
            svg.cell(x, top, FAINT, "", w, height, border="thin")
            thin.append(name)
        begin += count
    svg.text(left, top + height + 58, "Below each: the offset where it begins, the sum of all before it.",
             "note")
    svg.text(left, top + height + 78, "Lines between the boxes: " + ", ".join(thin) + ".", "note")
    return svg.done()


def sectors():
    """What one load of a warp moves: 32 neighbours, and 32 elements a row apart."""
    left, c = 20, 23.5
    svg = Svg(800, 336, "A warp that reads 32 neighbours touches 4 sectors of 32 bytes; a warp that "
                        "reads 32 elements a row apart touches 32 sectors")
    svg.text(left, 26, "32 neighbours: each lane reads the float beside its neighbour's")
    for lane in range(32):
        svg.cell(left + lane * c, 44, COLOURS[lane // 8], lane, c, 30, "in tiny", "thin")
    for s in range(4):
        svg.outline(left + s * 8 * c, 44, 8 * c, 30)
    svg.text(left, 96, "4 sectors of 32 bytes. 128 bytes moved, 128 bytes used.", "word")

    svg.text(left, 150, "32 rows: each lane reads the float one row further on")
    for lane in range(32):
        line, place = divmod(lane, 8)
        w = 11
        x, y = left + place * (8 * w + 6.3), 168 + line * 30
        for e in range(8):
            if e == 2:
                svg.cell(x + e * w, y, COLOURS[lane // 8], "", w, 22, border="thin")
            else:
                svg.cell(x + e * w, y, FAINT, "", w, 22, border="thin")
        svg.outline(x, y, 8 * w, 22)
    svg.text(left, 312, "32 sectors. 1,024 bytes moved, 128 bytes used: the same 32 floats, eight "
                        "times the traffic.", "word")
    return svg.done()


# --- one small picture a day, for the front page --------------------------------------------------
def small(title):
    return Svg(200, 120, title)


def day01():
    svg = small("Day 01: rows of a matrix laid end to end")
    for m in range(3):
        for k in range(4):
            svg.cell(64 + 18 * k, 8 + 18 * m, COLOURS[m], "", 18, 18)
    for i in range(12):
        svg.cell(10 + 15 * i, 88, COLOURS[i // 4], "", 15, 22)
    svg.line(100, 64, 100, 84)
    return svg.done()


def day02():
    svg = small("Day 02: a stride skips the same number of elements at every step")
    for i in range(12):
        svg.cell(10 + 15 * i, 70, SKY if i % 4 == 1 else FAINT, "", 15, 26)
    for i in range(2):
        svg.arch(10 + 15 * (1 + 4 * i) + 7.5, 10 + 15 * (5 + 4 * i) + 7.5, 66, 40)
    return svg.done()


def day03():
    svg = small("Day 03: one strip of memory seen as a matrix and as its transpose")
    for m in range(2):
        for k in range(4):
            svg.cell(14 + 20 * k, 36 + 20 * m, COLOURS[m], "", 20, 20)
            svg.cell(138 + 20 * m, 16 + 20 * k, COLOURS[m], "", 20, 20)
    svg.arrow(100, 56, 130, 56)
    return svg.done()


def day04():
    svg = small("Day 04: eight values become four, two, one")
    xs = [20 + 20 * i for i in range(8)]
    level, y = xs, 10
    for depth in range(4):
        for x in level:
            svg.cell(x, y, [SKY, SKY, SKY, ORANGE][depth], "", 18, 18)
        following = [(level[2 * i] + level[2 * i + 1]) / 2 for i in range(len(level) // 2)]
        for i, x in enumerate(following):
            for child in (level[2 * i], level[2 * i + 1]):
                svg.line(child + 9, y + 18, x + 9, y + 30)
        level, y = following, y + 30
    return svg.done()


def day05():
    svg = small("Day 05: a row times a column makes one element")
    c = 15
    for m in range(4):
        for k in range(3):
            svg.cell(46 + c * k, 56 + c * m, SKY if m == 2 else FAINT, "", c, c)
    for k in range(3):
        for n in range(5):
            svg.cell(98 + c * n, 6 + c * k, ORANGE if n == 3 else FAINT, "", c, c)
    for m in range(4):
        for n in range(5):
            svg.cell(98 + c * n, 56 + c * m, GREEN if (m, n) == (2, 3) else FAINT, "", c, c)
    return svg.done()


def day06():
    svg = small("Day 06: each token looks back at the tokens before it")
    for q in range(6):
        for k in range(6):
            svg.cell(52 + 16 * k, 12 + 16 * q, PURPLE if k <= q else FAINT, "", 16, 16)
    return svg.done()


PICTURES = {f"{draw.__name__}.svg": draw
            for draw in (flat_memory, four_dims, guard, gpt2_tensors, sectors,
                         day01, day02, day03, day04, day05, day06)}


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
