"""Pictures of Day 05: matmul."""
from svg import COLOURS, FAINT, GREEN, ORANGE, PURPLE, SKY, Svg


def matrix(svg, x, y, rows, columns, c, colour):
    """A grid whose cell (m, n) has colour(m, n)."""
    for m in range(rows):
        for n in range(columns):
            svg.cell(x + n * c, y + m * c, colour(m, n), "", c, c, border="thin")


def product():
    """out = a b: a tile of out needs some rows of a and some columns of b, all of K."""
    c = 22
    svg = Svg(440, 430, "A tile of out, 4 by 4, needs 4 rows of a and 4 columns of b, all of K; "
                        "stepping along K by 4, it needs a tile of each at a time")
    a_x, a_y, b_x, b_y = 20, 244, 230, 34
    rows, columns, depth = range(2, 6), range(4, 8), range(4, 8)
    svg.text(a_x, a_y - 10, "a (M, K)")
    svg.text(b_x, b_y - 10, "b (K, N)")
    svg.text(b_x, a_y - 10, "out (M, N)")
    matrix(svg, a_x, a_y, 8, 8, c, lambda m, k: SKY if m in rows else FAINT)
    matrix(svg, b_x, b_y, 8, 8, c, lambda k, n: ORANGE if n in columns else FAINT)
    matrix(svg, b_x, a_y, 8, 8, c, lambda m, n: GREEN if m in rows and n in columns else FAINT)
    svg.outline(a_x + depth[0] * c, a_y + rows[0] * c, 4 * c, 4 * c)
    svg.outline(b_x + columns[0] * c, b_y + depth[0] * c, 4 * c, 4 * c)
    for line, words in enumerate((
            "16 outputs need 4 rows of a", "and 4 columns of b: each", "element is used 4 times.",
            "", "Frames in a and b: the tiles", "in shared memory at one time.")):
        svg.text(a_x, b_y + 14 + 20 * line, words, "note")
    return svg.done()


def square_per_thread():
    """The 8 x 8 outputs of thread (0, 0) among the 128 x 128 of its block, and of threads 1 and 16."""
    c, mark, x, y = 38, 9, 70, 62
    svg = Svg(440, 620, "128 by 128 outputs of a block. Thread 0 has those whose row and column are "
                        "multiples of 16; thread 1 those one column on, thread 16 those one row down")
    svg.text(x, 24, "columns n of the block's outputs")
    for i in range(8):
        svg.text(x + i * c, y - 10, 16 * i, "note")
        svg.text(x - 12, y + i * c + 12, 16 * i, "note end")
    matrix(svg, x, y, 8, 8, c, lambda m, n: FAINT)
    for dm, dn, colour in ((0, 0, ORANGE), (0, 1, SKY), (1, 0, GREEN)):
        for i in range(8):
            for j in range(8):
                svg.cell(x + j * c + dn * mark, y + i * c + dm * mark, colour, "", mark, mark, border="thin")
    left, below = 20, y + 8 * c + 24
    for row, (colour, words) in enumerate((
            (ORANGE, "thread 0: rows and columns 0, 16, … 112"),
            (SKY, "thread 1: one column to the right"),
            (GREEN, "thread 16: one row down"))):
        svg.cell(left, below + 30 * row, colour, "", 16, 16)
        svg.text(left + 26, below + 13 + 30 * row, words)
    for row, words in enumerate((
            "For each k thread 0 loads a[k][0], a[k][16], … and b[k][0],",
            "b[k][16], …: 8 and 8, and multiplies each with each.",
            "Lanes 0 to 15 load b[k][0] to b[k][15] together: contiguous.",
            "", "A grey square is 16 x 16 outputs, one for each of the 256",
            "threads; the marks are drawn larger than one output.")):
        svg.text(left, below + 118 + 20 * row, words, "note")
    return svg.done()


def rectangle():
    """A warp's outputs as 16 x 128 and as 64 x 32: what it reads for each k."""
    svg = Svg(440, 390, "2,048 outputs of a warp, 64 per lane, as 16 rows of 128 columns need 144 words for each k; as 64 "
                        "rows of 32 columns 96")
    u, left = 2.5, 40
    for top, rows, columns, note in (
            (50, 16, 128, "Step 7: rows 0 to 7 and 64 to 71, drawn together."),
            (216, 64, 32, "Step 8: nearer to a square.")):
        svg.text(12, top - 28, f"{rows} x {columns} outputs, 8 x 8 per lane")
        svg.cell(left, top, GREEN, "", columns * u, rows * u)
        svg.cell(left - 16, top, SKY, "", 10, rows * u)
        svg.cell(left, top - 16, ORANGE, "", columns * u, 10)
        x, y = (12, top + rows * u + 24) if columns > rows else (left + columns * u + 20, top + 70)
        svg.text(x, y, f"{rows} words of a, {columns} of b: {rows + columns} for each k", "note")
        svg.text(x, y + 22, note, "note")
    return svg.done()


def ring():
    """Three stages over time: one is multiplied while two are in flight."""
    c, h, left = 51, 34, 74
    svg = Svg(440, 262, "Three stages of a ring over time. While tile t is multiplied from one stage, "
                        "tiles t + 1 and t + 2 are in flight to the two others; after the barrier tile "
                        "t + 3 replaces tile t")
    svg.text(12, 20, "time →, one tile per column; a barrier at each line")
    for stage in range(3):
        y = 40 + stage * (h + 10)
        svg.text(12, y + 22, f"stage {stage}", "note")
        for step in range(7):
            tile = step + (stage - step) % 3      # what is in this stage, or in flight to it
            busy = tile == step
            svg.cell(left + step * c, y, GREEN if busy else SKY, tile, c, h)
    for step in range(1, 7):
        svg.outline(left + step * c - 1, 36, 2, 3 * (h + 10) - 2)
    svg.cell(12, 188, GREEN, "", 16, 16)
    svg.text(36, 201, "being multiplied", "note")
    svg.cell(160, 188, SKY, "", 16, 16)
    svg.text(184, 201, "in flight, or arrived and waiting", "note")
    svg.text(12, 232, "The copy of tile t + 2 starts when tile t - 1 has been multiplied:", "note")
    svg.text(12, 252, "they share a stage.", "note")
    return svg.done()


def k_loop():
    """One block along K: three tiles of each operand, and what happens to them over time."""
    c, a_x, b_x, b_y = 16, 16, 236, 26
    a_y = b_y + 12 * c + 14
    svg = Svg(440, 440, "Three rounds of one block along K. In each round a tile of a and a tile of b go to shared "
                        "memory, then all outputs of the block add the products of these k's. A barrier separates loading from "
                        "multiplying, and another one precedes the next load")
    rounds = (SKY, ORANGE, GREEN)
    svg.text(a_x, a_y - 8, "a's rows: k →", "note")
    svg.text(b_x, b_y - 8, "b's columns: k ↓", "note")
    matrix(svg, a_x, a_y, 4, 12, c, lambda m, k: rounds[k // 4])
    matrix(svg, b_x, b_y, 12, 4, c, lambda k, n: rounds[k // 4])
    matrix(svg, b_x, a_y, 4, 4, c, lambda m, n: FAINT)
    svg.outline(b_x, a_y, 4 * c, 4 * c)
    for line, words in enumerate(("the block's outputs:", "each in a register,", "through all rounds")):
        svg.text(b_x + 4 * c + 10, a_y + 20 + 18 * line, words, "note")
    for number, colour in enumerate(rounds):
        svg.text(b_x + 4 * c + 10, b_y + number * 4 * c + 36, f"tile {number}", "note")
    y, x = a_y + 4 * c + 34, 16
    svg.text(16, y - 10, "shared memory over time →", "note")
    for number, colour in enumerate(rounds):
        svg.cell(x, y, colour, f"load {number}", 50, 34, "in tiny")
        svg.cell(x + 50, y - 4, "var(--ink)", "", 5, 42, border="thin")
        svg.cell(x + 55, y, colour, f"multiply {number}", 76, 34, "in tiny")
        svg.cell(x + 131, y - 4, "var(--ink)", "", 5, 42, border="thin")
        x += 136
    svg.text(16, y + 58, "A bar is a barrier: after the first the tile is full,", "note")
    svg.text(16, y + 76, "after the second it may be overwritten.", "note")
    return svg.done()


def column_and_square():
    """What a thread reads and multiplies for one k, with 8 outputs in a column and 8 by 8 in a square."""
    c, top = 24, 84
    svg = Svg(440, 350, "For one k: in step 5 a thread reads 8 elements of a and 1 of b for 8 multiply-adds, in step 6 "
                        "it reads 8 and 8 for 64")
    for left, columns, step, note in ((16, 1, "step 5: a column", ("9 loads for", "8 multiply-adds")),
                                      (190, 8, "step 6: a square", ("16 loads for", "64 multiply-adds"))):
        svg.text(left, 20, step)
        svg.text(left + c + 14, 44, "b", "note")
        svg.text(left + 8, top - 8, "a", "note")
        matrix(svg, left, top, 8, 1, c, lambda m, n: SKY)
        matrix(svg, left + c + 10, top - c - 10, 1, columns, c, lambda m, n: ORANGE)
        matrix(svg, left + c + 10, top, 8, columns, c, lambda m, n: GREEN)
        for line, words in enumerate(note):
            svg.text(left, top + 8 * c + 24 + 18 * line, words, "note")
    svg.text(16, 338, "Blue a[m][k] and orange b[k][n]: read for this k. Green: sums.", "note")
    return svg.done()


def fragments():
    """Which lane holds which elements of a (16 x 16), b (16 x 8) and the sums (16 x 8): lane 6 in full, and the lane of each pair."""
    c = 20
    svg = Svg(800, 430, "Which lane holds which elements for one mma.sync: of a, 16 by 16, of b, 16 by 8, and of the "
                        "sums, 16 by 8; lane 6 is marked")

    def draw(x, y, rows, columns, lane, register, words):
        svg.text(x, y - 12, words)
        for i in range(rows):
            for j in range(columns):
                mine = lane(i, j) == 6
                colour = (ORANGE, SKY, GREEN, PURPLE)[register(i, j)] if mine else FAINT
                svg.cell(x + j * c, y + i * c, colour, lane(i, j), c, c, kind="in tiny" if mine else "inkin tiny", border="thin")

    draw(20, 60, 16, 16, lambda m, k: m % 8 * 4 + k % 8 // 2, lambda m, k: m // 8 + k // 8 * 2, "a: rows m, columns k")
    draw(380, 60, 16, 8, lambda k, n: n * 4 + k % 8 // 2, lambda k, n: k // 8, "b: rows k, columns n")
    draw(580, 60, 16, 8, lambda m, n: m % 8 * 4 + n // 2, lambda m, n: m // 8 * 2 + n % 2, "sums: rows m, columns n")
    svg.text(20, 404, "The number in a cell is the lane that holds it. Lane 6 is coloured by register: 0 orange, 1 blue, 2 green, 3 purple.", "note")
    return svg.done()


def ldmatrix():
    """Lane 13 in ldmatrix: which row it names in the tile, and what it receives of each of the four matrices."""
    c = 20
    svg = Svg(800, 420, "ldmatrix: on the left 16 rows of a tile, in them four matrices of 8 by 8; lane 13 names row 5 "
                        "of matrix 1. On the right the contents of its registers: columns 2 and 3 of row 3 of each matrix")
    owner = (ORANGE, SKY, GREEN, PURPLE)
    x, y = 60, 70
    svg.text(20, 24, "Lane 13 gives the address of one row")
    svg.text(20, 44, "A cell is 8 elements of a row, labelled with its lane", "note")
    for row in range(16):
        for half in range(2):
            number = row // 8 + 2 * half
            lane = 8 * number + row % 8
            mine = lane == 13
            svg.cell(x + half * 7 * c, y + row * c, owner[number] if mine else FAINT, lane, 7 * c, c,
                     kind="in tiny" if mine else "inkin tiny", border="thin")
        svg.text(x - 10, y + row * c + 14, row, "note end")
    svg.text(x, y + 16 * c + 20, "k to k + 7", "note")
    svg.text(x + 7 * c, y + 16 * c + 20, "k + 8 to k + 15", "note")
    left = 420
    svg.text(left, 24, "and receives other elements: four registers")
    svg.text(left, 44, "13 = 4 · 3 + 1: row 3, columns 2 and 3 of each matrix", "note")
    for row in range(16):
        for k in range(16):
            number = row // 8 + 2 * (k // 8)
            mine = row % 8 == 3 and k % 8 // 2 == 1
            svg.cell(left + k * c, y + row * c, owner[number] if mine else FAINT, number if mine else "", c, c,
                     kind="in tiny", border="thin")
    for number in range(4):
        svg.outline(left + number // 2 * 8 * c, y + number % 2 * 8 * c, 8 * c, 8 * c)
    svg.text(left, y + 16 * c + 20, "A coloured cell shows the register. A frame is a matrix.", "note")
    return svg.done()


def pipeline():
    """Step 6 at one moment: four stages, the barriers full and empty of each, and which threads wait and arrive there."""
    svg = Svg(760, 400, "Four stages, each with a barrier full and a barrier empty. The producer waits at empty and "
                        "requests tiles; TMA fills a stage and its bytes count at full; two consumer warpgroups wait "
                        "at full, multiply and arrive at empty")
    left, wide, gap = 90, 140, 20
    svg.cell(left, 16, ORANGE, "producer: one thread requests tiles 5, 6, 7, ...", 4 * wide + 3 * gap, 36)
    svg.cell(left, 336, PURPLE, "consumers: two warpgroups multiply tiles 2, 3, 4, ...", 4 * wide + 3 * gap, 36)
    svg.text(16, 126, "empty", "note")
    svg.text(16, 196, "stage", "note")
    svg.text(16, 266, "full", "note")
    stages = (("tile 4", SKY, "phase 0 complete", "bytes in flight"), ("tile 1", FAINT, "phase 0 complete", "phase 0 complete"),
              ("tile 2", GREEN, "waits for 8 arrivals", "phase 0 complete"),
              ("tile 3", GREEN, "waits for 8 arrivals", "phase 0 complete"))
    for i, (tile, colour, empty, full) in enumerate(stages):
        x = left + i * (wide + gap)
        svg.cell(x, 108, "none", empty, wide, 28, "inkin tiny", border="thin")
        svg.cell(x, 164, colour, tile, wide, 50, "inkin" if colour == FAINT else "in")
        svg.cell(x, 248, "none", full, wide, 28, "inkin tiny", border="thin")
    x = left + wide + gap + wide / 2  # stage 1 was multiplied and may be filled
    svg.arrow(x, 108, x, 54)
    svg.text(x + 8, 84, "producer continues: tile 5", "note")
    x = left + 2 * (wide + gap) + wide / 2
    svg.arrow(x, 276, x, 334)
    svg.text(x + 8, 310, "consumers continue: tile 2", "note")
    svg.cell(left, 382, SKY, "", 14, 14)
    svg.text(left + 20, 394, "in flight", "note")
    svg.cell(left + 110, 382, GREEN, "", 14, 14)
    svg.text(left + 130, 394, "arrived", "note")
    svg.cell(left + 220, 382, FAINT, "", 14, 14)
    svg.text(left + 240, 394, "multiplied, may be overwritten", "note")
    return svg.done()


def ping_pong():
    """What the consumers of an SM do over time in steps 7 and 8, and when the tensor cores are busy."""
    svg = Svg(640, 312, "Two consumer warpgroups over time. In step 7 both multiply their halves of a tile and then both store, "
                        "and the tensor cores are idle while they store. In step 8 one stores a tile while the other multiplies "
                        "the next, and the tensor cores are always busy")
    left, h, multiply, store = 118, 30, 96, 64
    def row(y, name, parts):
        svg.text(12, y + 20, name, "note")
        x = left
        for colour, text, wide in parts:
            if colour:
                svg.cell(x, y, colour, text, wide - 3, h, "inkin" if colour == FAINT else "in")
            x += wide
    svg.text(12, 20, "time →", "note")
    svg.text(12, 42, "Step 7: both have rows of one tile", "")
    for group in range(2):
        row(54 + 36 * group, f"consumer {group}", [part for tile in range(3) for part in
                                                   ((GREEN, f"tile {tile}", multiply), (SKY, "store", store))])
    row(126, "tensor cores", [part for tile in range(3) for part in ((ORANGE, "busy", multiply), (FAINT, "idle", store))])
    svg.text(12, 186, "Step 8: each has its own tiles", "")
    wait = multiply - store
    row(198, "consumer 0", [(GREEN, "tile 0", multiply), (SKY, "store", store), (None, "", wait), (GREEN, "tile 2", multiply),
                            (SKY, "store", store), (None, "", wait), (GREEN, "tile 4", multiply)])
    row(234, "consumer 1", [(None, "", multiply), (GREEN, "tile 1", multiply), (SKY, "store", store), (None, "", wait),
                            (GREEN, "tile 3", multiply), (SKY, "store", store)])
    row(270, "tensor cores", [(ORANGE, "busy", 5 * multiply)])
    return svg.done()


def panels():
    """A 4 x 6 tile stored row by row, and as three panels of two columns: the offset of each element."""
    c, left, right, top = 31, 16, 238, 52
    svg = Svg(440, 362, "A 4 by 6 tile stored row by row, layout (4,6):(6,1), and as three panels of two columns, layout "
                        "(4,(2,3)):(2,(1,8)). Element (2, 3) is at offset 15 in the first and at 13 in the second")
    layouts = ((left, "(4,6):(6,1)", lambda m, n: 6 * m + n), (right, "(4,(2,3)):(2,(1,8))", lambda m, n: 2 * m + n % 2 + 8 * (n // 2)))
    for number, (x, name, offset) in enumerate(layouts):
        svg.text(x, top - 22, name, "")
        at = {}
        for m in range(4):
            for n in range(6):
                at[offset(m, n)] = COLOURS[n // 2]
                svg.cell(x + n * c, top + m * c, COLOURS[n // 2], offset(m, n), c, c)
        svg.outline(x + 3 * c, top + 2 * c, c, c)
        y = top + 4 * c + 56 + number * 74
        svg.text(left, y - 10, f"memory of {name}", "note")
        for i in range(24):
            svg.cell(left + i * 17, y, at[i], "", 17, 24, border="thin")
        svg.outline(left + offset(2, 3) * 17, y, 17, 24)
    svg.text(left, 352, "A colour is two columns. Marked: row 2, column 3.", "note")
    return svg.done()


PICTURES = (product, k_loop, column_and_square, square_per_thread, rectangle, ring, fragments, ldmatrix, pipeline, ping_pong, panels)
