"""Pictures of Day 05: matmul."""
from svg import FAINT, GREEN, ORANGE, SKY, Svg


def matrix(svg, x, y, rows, columns, c, colour):
    """A grid whose cell (m, n) has colour(m, n)."""
    for m in range(rows):
        for n in range(columns):
            svg.cell(x + n * c, y + m * c, colour(m, n), "", c, c, border="thin")


def product():
    """out = a b: a tile of out needs some rows of a and some columns of b, all of K."""
    c = 22
    svg = Svg(760, 420, "A tile of out, 4 by 4, needs 4 rows of a and 4 columns of b, all of K; "
                        "walking K by 4 it needs a tile of each at a time")
    a_x, a_y, b_x, b_y = 40, 220, 260, 20
    rows, columns, depth = range(2, 6), range(4, 8), range(4, 8)
    svg.text(a_x, a_y - 12, "a (M, K)")
    svg.text(b_x + 8 * c + 10, b_y + 16, "b (K, N)")
    svg.text(b_x + 8 * c + 10, a_y + 16, "out (M, N)")
    matrix(svg, a_x, a_y, 8, 8, c, lambda m, k: SKY if m in rows else FAINT)
    matrix(svg, b_x, b_y, 8, 8, c, lambda k, n: ORANGE if n in columns else FAINT)
    matrix(svg, b_x, a_y, 8, 8, c, lambda m, n: GREEN if m in rows and n in columns else FAINT)
    svg.outline(a_x + depth[0] * c, a_y + rows[0] * c, 4 * c, 4 * c)
    svg.outline(b_x + columns[0] * c, b_y + depth[0] * c, 4 * c, 4 * c)
    svg.outline(b_x + columns[0] * c, a_y + rows[0] * c, 4 * c, 4 * c)
    for line, words in enumerate((
            "16 outputs need 4 rows of a", "and 4 columns of b: each number", "is multiplied 4 times.",
            "", "The frames: what is in shared", "memory at a time.")):
        svg.text(b_x + 8 * c + 10, a_y + 48 + 20 * line, words, "note")
    return svg.done()


def rectangle():
    """A warp's outputs as 16 x 128 and as 64 x 32: what it reads for each k."""
    svg = Svg(760, 300, "2,048 outputs of a warp as 16 rows of 128 columns need 144 words for each k; as 64 "
                        "rows of 32 columns 96")
    for number, (left, rows, columns) in enumerate(((60, 16, 128), (520, 64, 32))):
        u = 2.5
        top = 60
        svg.text(left - 40, 24, f"{rows} x {columns} outputs")
        svg.cell(left, top, GREEN, "", columns * u, rows * u)
        svg.cell(left - 16, top, SKY, "", 10, rows * u)
        svg.cell(left, top - 16, ORANGE, "", columns * u, 10)
        svg.text(left - 40, 250, f"{rows} words of a, {columns} of b: {rows + columns} for each k", "note")
        svg.text(left - 40, 272, ("8 outputs a lane: rows 64 apart" if number == 0 else "nearer to a square"), "note")
    return svg.done()


def ring():
    """Three stages over time: one is multiplied while two are in flight."""
    c, h = 84, 34
    svg = Svg(760, 250, "Three stages of a ring over time. While tile t is multiplied from one stage, "
                        "tiles t + 1 and t + 2 are in flight to the two others; after the barrier tile "
                        "t + 3 goes where tile t was")
    svg.text(20, 24, "time, one tile after the other; a barrier at each line")
    for stage in range(3):
        y = 44 + stage * (h + 10)
        svg.text(20, y + 22, f"stage {stage}", "note")
        for step in range(7):
            tile = step + (stage - step) % 3      # what lies in this stage, or is on its way there
            busy = tile == step
            svg.cell(90 + step * c, y, GREEN if busy else SKY, f"tile {tile}", c, h)
    for step in range(1, 7):
        svg.outline(90 + step * c - 1, 40, 2, 3 * (h + 10) - 2)
    svg.cell(90, 194, GREEN, "", 16, 16)
    svg.text(114, 207, "is multiplied", "note")
    svg.cell(260, 194, SKY, "", 16, 16)
    svg.text(284, 207, "in flight, or arrived and waiting", "note")
    svg.text(20, 238, "The copy of tile t + 2 starts when tile t - 1 has been multiplied: they have one "
             "stage.", "note")
    return svg.done()


PICTURES = (product, rectangle, ring)
