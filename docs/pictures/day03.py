"""Pictures of Day 03: views."""
from svg import CELL, COLOURS, FAINT, GREEN, ORANGE, PURPLE, SKY, Svg


def views_of_one_buffer():
    """One buffer of 12 elements and six views of it: the numbers in the cells are offsets."""
    c = 27
    svg = Svg(440, 486, "A buffer of twelve elements and six views of it: whole, columns 1 to 2, every "
                        "second row, transposed, flipped, row 1 repeated; each with shape, strides "
                        "and offset")
    svg.text(14, 26, "one buffer; nothing below copies it")
    for i in range(12):
        svg.cell(14 + i * c, 40, COLOURS[i // 4], i, c, c)
    views = (
        ("x", (3, 4), (4, 1), 0),
        ("slice(x, 1, 1, 3)", (3, 2), (4, 1), 1),
        ("slice(x, 0, 0, 3, 2)", (2, 4), (8, 1), 0),
        ("transpose(x)", (4, 3), (1, 4), 0),
        ("flip(x, 1)", (3, 4), (4, -1), 3),
        ("row 1 repeated", (3, 4), (0, 1), 4),
    )
    tops = (104, 230, 384)
    for number, (name, shape, strides, first) in enumerate(views):
        left, top = 14 + number % 2 * 214, tops[number // 2]
        svg.text(left, top, name, "")
        for m in range(shape[0]):
            for k in range(shape[1]):
                at = first + m * strides[0] + k * strides[1]
                svg.cell(left + k * c, top + 12 + m * c, COLOURS[at // 4], at, c, c)
        x = left + shape[1] * c + 10
        svg.text(x, top + 30, f"shape {shape}", "note")
        svg.text(x, top + 50, f"strides {strides}", "note")
        svg.text(x, top + 70, f"offset {first}", "note")
    return svg.done()


def tile():
    """A tile read row by row into shared memory and written column by column from it."""
    c, n = 15, 4
    svg = Svg(440, 268, "A tile of the matrix is read along its rows into shared memory, and written "
                        "along the rows of the transpose: both are coalesced")
    left, shared, out = 10, 184, 308
    svg.text(left, 24, "in (M, N)")
    svg.text(shared - 30, 156, "shared memory")
    svg.text(out, 24, "out (N, M)")
    for m in range(8):
        for k in range(8):
            inside = m < n <= k
            colour = COLOURS[m] if inside else FAINT
            svg.cell(left + k * c, 40 + m * c, colour, "", c, c, border="thin")
            svg.cell(out + m * c, 40 + k * c, colour, "", c, c, border="thin")
    for m in range(n):
        for k in range(n):
            svg.cell(shared + k * c, 74 + m * c, COLOURS[m], "", c, c, border="thin")
    svg.outline(left + n * c, 40, n * c, c)        # one request: a row of the tile
    svg.outline(shared, 74, n * c, c)
    svg.outline(shared + c, 74, c, n * c)          # read back: a column
    svg.outline(out, 40 + 5 * c, n * c, c)         # written: a row of out
    svg.parts.append(f'<path d="M{left + 8 * c + 6} {40 + c / 2} H{shared + 2 * c}"/>')
    svg.arrow(shared + 2 * c, 40 + c / 2, shared + 2 * c, 70)
    svg.text(shared - 20, 42, "1")
    svg.text(shared - 20, 110, "2")
    svg.arrow(shared + n * c + 6, 40 + 5.5 * c, out - 4, 40 + 5.5 * c)
    svg.text(shared + n * c + 22, 30 + 5.5 * c, "3")
    svg.text(left, 188, "1 A warp loads a row of the tile and stores it in shared memory.", "note")
    svg.text(left, 208, "2 It waits until all rows are loaded.", "note")
    svg.text(left, 228, "3 It reads a column and writes it as a row of out. Only shared", "note")
    svg.text(left + 11, 246, "memory is accessed by column.", "note")
    return svg.done()


def banks():
    """A column of a tile with 8 words per row is in one of 8 banks; with 9 words per row, in all 8."""
    c = 20
    svg = Svg(440, 296, "Drawn with 8 banks for the 32 of a GPU: with 8 words per row a column of the tile is in one bank; with 9 words per row "
                        "each of its words is in a different bank")
    for side, pitch in enumerate((8, 9)):
        left = 20 + side * 211
        svg.text(left, 24, f"rows of {pitch} words" + (", 1 unused" if pitch == 9 else ""))
        for m in range(8):
            for k in range(pitch):
                bank = (m * pitch + k) % 8
                column = k == 2
                pad = k == 8
                colour = ORANGE if column else FAINT
                svg.cell(left + k * c, 40 + m * c, "none" if pad else colour, bank, c, c,
                         "in tiny" if column else "inkin tiny", "idle" if pad else "thin")
        svg.outline(left + 2 * c, 40, c, 8 * c)
        svg.text(left, 40 + 8 * c + 24,
                 "bank 2, eight times" if pitch == 8 else "banks 2 3 4 5 6 7 0 1")
        svg.text(left, 40 + 8 * c + 46, "8 wavefronts" if pitch == 8 else "1 wavefront")
    svg.text(20, 272, "Drawn with 8 banks, to be small. A GPU has 32:", "note")
    svg.text(20, 290, "the same holds for rows of 32 and 33.", "note")
    return svg.done()


def swizzle():
    """A tile of float4: with q at position q a column is in one group of banks, with q ^ (c / 4) in 8."""
    c, rows = 30, range(0, 32, 4)
    svg = Svg(800, 366, "Eight rows of a tile, four apart, each of eight float4. With float4 q at position q, "
                        "float4 2 of all rows is in the same four banks; with float4 q at position q "
                        "exclusive-or a quarter of the row, in eight different groups of four banks")
    for side, swizzled in enumerate((False, True)):
        left = 76 + side * 392
        svg.text(left - 56, 24, "float4 q of row c at position q ^ (c / 4)" if swizzled else
                 "float4 q of row c at position q")
        svg.text(left, 48, "banks 0 .. 3, 4 .. 7, 8 .. 11, and so on", "note")
        for line, row in enumerate(rows):
            svg.text(left - 56, 78 + line * c, f"row {row}", "note")
            for place in range(8):
                vector = place ^ line if swizzled else place
                svg.cell(left + place * c, 58 + line * c, ORANGE if vector == 2 else FAINT, vector, c, c,
                         "in" if vector == 2 else "inkin", "thin")
        if swizzled:
            svg.outline(left, 58 + 5 * c, 8 * c, c)
        else:
            svg.outline(left + 2 * c, 58, c, 8 * c)
        svg.text(left, 58 + 8 * c + 24, "float4 2: eight groups of banks, 1 wavefront" if swizzled else
                 "float4 2: banks 8 to 11, 8 wavefronts", "note")
    svg.text(20, 346, "Eight lanes write float4 2 of rows 0, 4, .. 28. Eight lanes read a row: its "
             "float4 are always in eight groups of banks.", "note")
    return svg.done()


PICTURES = (views_of_one_buffer, tile, banks, swizzle)
