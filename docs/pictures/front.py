"""One small picture a day, for the front page."""
from svg import COLOURS, FAINT, GREEN, ORANGE, PURPLE, SKY, Svg


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


PICTURES = (day01, day02, day03, day04, day05, day06)
