"""Pictures of Day 02: strides."""
from svg import CELL, COLOURS, FAINT, GREEN, ORANGE, PURPLE, SKY, Svg


def strip(svg, x, y, colours, texts=None, c=CELL, first=0, offsets=True):
    """A run of memory: one cell per element, offsets below."""
    for i, colour in enumerate(colours):
        kind = "in" if colour != FAINT else "inkin"
        svg.cell(x + i * c, y, colour, texts[i] if texts else "", c, c, kind)
        if offsets:
            svg.text(x + (i + 0.5) * c, y + c + 16, str(first + i), "small")


def two_layouts():
    """Six numbers in memory, read as two rows of three and as two interleaved rows."""
    c = 40
    svg = Svg(400, 600, "The same six numbers in memory read row-major, strides (3, 1), and "
                        "column-major, strides (1, 2): two different matrices")
    for side, (strides, name) in enumerate((((3, 1), "row-major"), ((1, 2), "column-major"))):
        left, top = 20, side * 300
        svg.text(left, top + 26, f"{name}: shape (2, 3), strides {strides}")
        row_of = {}
        for m in range(2):
            for k in range(3):
                at = m * strides[0] + k * strides[1]
                row_of[at] = m
                svg.cell(left + 40 + k * c, top + 44 + m * c, COLOURS[m], 10 * (at + 1), c, c)
        svg.text(left + 40 + 3 * c + 16, top + 70, "row 0", "note")
        svg.text(left + 40 + 3 * c + 16, top + c + 70, "row 1", "note")
        y = top + 190
        strip(svg, left, y, [COLOURS[row_of[i]] for i in range(6)],
              [10 * (i + 1) for i in range(6)], c)
        for k in range(2):  # one step in k, twice
            a, b = k * strides[1], (k + 1) * strides[1]
            svg.arch(left + (a + 0.5) * c, left + (b + 0.5) * c, y - 1, 34)
        elements = "1 element" if strides[0] == 1 else f"{strides[0]} elements"
        svg.text(left, y + c + 44, f"stride of m: {elements}; of k: {strides[1]}")
        svg.text(left, y + c + 66, f"(1, 2) is at 1*{strides[0]} + 2*{strides[1]} = "
                 f"{strides[0] + 2 * strides[1]}, and holds {10 * (strides[0] + 2 * strides[1] + 1)}")
    return svg.done()


def three_layouts():
    """Rows with a pitch, a flipped row, a stride of zero, each over its strip."""
    c, left = 34, 14
    svg = Svg(440, 460, "Three layouts: rows 4 apart of which 3 elements are used; an array read "
                        "backwards with stride -1; one element read four times with stride 0")
    svg.text(left, 24, "pitch")
    svg.text(left, 46, "shape (3, 3), strides (4, 1); span 11, not 12", "note")
    y = 84
    strip(svg, left, y, [COLOURS[i // 4] if i % 4 < 3 else FAINT for i in range(12)],
          [f"{i // 4},{i % 4}" if i % 4 < 3 else "" for i in range(12)], c)
    svg.arch(left + 0.5 * c, left + 4.5 * c, y - 1, 34)

    svg.text(left, 174, "negative stride")
    svg.text(left, 196, "shape (5), strides (-1); the pointer is at index 0", "note")
    y = 226
    strip(svg, left, y, [GREEN] * 5, [f"{4 - i}" for i in range(5)], c, -4)
    svg.arrow(left + 4.5 * c, y + c + 50, left + 4.5 * c, y + c + 22)
    svg.text(left + 4.5 * c + 10, y + c + 46, "data: index 0, offset 0", "word")
    svg.arch(left + 4.5 * c, left + 3.5 * c, y - 1, 26)

    svg.text(left, 348, "stride 0")
    svg.text(left, 370, "shape (4), strides (0); span 1: four indices, one position", "note")
    y = 390
    strip(svg, left, y, [PURPLE], ["0..3"], 44)
    svg.text(left + 60, y + 18, "may be read; as an output it is rejected,", "note")
    svg.text(left + 60, y + 36, "as all four would write here", "note")
    return svg.done()


def stride_pieces():
    """The sectors and 64-byte segments of the first 512 bytes that an access with stride s touches."""
    c, left = 4.4, 118
    strides = (1, 2, 8, 16, 32, 64)
    svg = Svg(720, 92 + 44 * len(strides), "The 32-byte sectors and 64-byte segments of 512 bytes that are "
                                           "touched with strides 1, 2, 8, 16, 32 and 64")
    svg.text(left, 22, "512 bytes of memory: 128 floats, 16 sectors of 32 bytes, 8 segments of 64")
    for row, s in enumerate(strides):
        y = 44 + row * 44
        svg.text(left - 14, y + 15, f"stride {s}", "end")
        for half in range(8):  # 64-byte segments
            touched = any(i % s == 0 for i in range(16 * half, 16 * half + 16))
            if touched:
                svg.cell(left + half * 16 * c, y + 20, ORANGE, "", 16 * c, 7, border="thin")
        for sector in range(16):
            touched = any(i % s == 0 for i in range(8 * sector, 8 * sector + 8))
            svg.cell(left + sector * 8 * c, y, SKY if touched else FAINT, "", 8 * c, 18,
                     border="thin")
        for i in range(0, 128, s):
            svg.cell(left + i * c + 0.6, y + 5, "#111", "", c - 1.2, 8, border="thin")
    y = 44 + 44 * len(strides)
    svg.text(left, y + 16, "black: floats used; blue: sectors touched (32 bytes);", "note")
    svg.text(left, y + 36, "orange: 64-byte segments moved. From stride 16, each float costs one "
             "segment.", "note")
    return svg.done()


PICTURES = (two_layouts, three_layouts, stride_pieces)
