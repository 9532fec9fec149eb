"""Pictures of Day 04: lines, access patterns, the reduction tree, and split lines."""
from svg import COLOURS, FAINT, GREEN, ORANGE, SKY, Svg


def lines_of_a_tensor():
    """(2, 3, 4): along each dim, the line of one output and its elements in memory."""
    w, h, left = 17, 28, 16
    svg = Svg(440, 410, "A tensor of shape 2 by 3 by 4 as a strip of 24 cells, and the line of one "
                        "output for each reduced dim: dim 2 offsets 4 to 7, dim 1 offsets 1, 5, 9, "
                        "dim 0 offsets 6 and 18")
    svg.text(left, 20, "x (2, 3, 4), strides (12, 4, 1); numbers are offsets")
    rows = (
        ("dim 2, out(0, 1)", [4, 5, 6, 7], SKY, "4 elements with stride 1: contiguous"),
        ("dim 1, out(0, 1)", [1, 5, 9], ORANGE, "3 elements with stride 4; the line of out(0, 2) is adjacent"),
        ("dim 0, out(1, 2)", [6, 18], GREEN, "2 elements with stride 12; the line of out(1, 3) is adjacent"),
    )
    for number, (title, offsets, colour, note) in enumerate(rows):
        top = 84 + 110 * number
        svg.text(left, top - 26, title)
        for i in range(24):
            svg.cell(left + i * w, top, colour if i in offsets else FAINT, i, w, h,
                     "in tiny" if i in offsets else "inkin tiny")
        for a, b in zip(offsets, offsets[1:]):
            svg.arch(left + (a + .5) * w, left + (b + .5) * w, top, 18)
        svg.text(left, top + h + 18, note, "note")
    svg.text(left, 380, "An output depends on the elements of its line only.", "note")
    svg.text(left, 400, "They share all its indices except the reduced one.", "note")
    return svg.done()


def who_reads_what():
    """Rows of a matrix and its columns: what a warp reads in its first load, and after several."""
    c, m_of, k_of = 22, range(4), range(8)
    svg = Svg(440, 610, "The elements that four lanes read. One thread per row: the first load touches "
                        "four sectors, one for each lane. One warp per row, and one thread per column: four "
                        "adjacent elements in one sector")
    ways = (  # lane of element (m, k), or None, in the first load and after several; frames around lines
        ("one thread per row", "over dim 1, step 1", "4 loads", "4 lanes in 4 sectors",
         lambda m, k: m if k == 0 else None, lambda m, k: m if k < 4 else None,
         [(0, m, 8, 1) for m in m_of]),
        ("one warp per row", "over dim 1, step 4", "2 loads", "4 lanes in 1 sector",
         lambda m, k: k if m == 0 and k < 4 else None, lambda m, k: k % 4 if m == 0 else None,
         [(0, 0, 8, 1)]),
        ("one thread per column", "over dim 0, step 1", "4 loads", "4 lanes in 1 sector",
         lambda m, k: k if m == 0 and k < 4 else None, lambda m, k: k if k < 4 else None,
         [(k, 0, 1, 4) for k in range(4)]),
    )
    for number, (title, dim, loads, note, first, later, frames) in enumerate(ways):
        top = 64 + 172 * number
        svg.text(16, top - 44, title)
        svg.text(16, top - 26, dim, "note")
        for left, words, lane_of in ((16, f"first load: {note}", first), (242, f"after {loads}", later)):
            svg.text(left, top - 8, words, "note")
            for m in m_of:
                for k in k_of:
                    lane = lane_of(m, k)
                    svg.cell(left + k * c, top + m * c, FAINT if lane is None else COLOURS[lane],
                             "" if lane is None else lane, c, c, border="thin")
            for x, y, columns, rows in frames:
                svg.outline(left + x * c, top + y * c, columns * c, rows * c)
    for line, words in enumerate((
            "The number and colour of a cell show the lane that reads it;",
            "a thick frame is a line, the elements of one output.",
            "A row of each picture is 8 floats, one sector of 32 bytes.",
            "A warp is drawn with 4 lanes instead of 32.")):
        svg.text(16, 524 + 20 * line, words, "note")
    return svg.done()


def reduction_tree():
    """Eight candidates, value over index; a tie at two levels is decided by the index."""
    w, h = 46, 36
    svg = Svg(440, 316, "Eight candidates, each a value and an index, are combined in three rounds; of "
                        "equal values the lower index wins")
    level = [(5, 0), (9, 1), (2, 2), (7, 3), (9, 4), (1, 5), (3, 6), (9, 7)]
    xs = [12 + 53 * i for i in range(8)]
    svg.text(12, 20, "value, index in the line")
    y = 36
    while True:
        for x, (value, index) in zip(xs, level):
            winner = value == 9
            svg.cell(x, y, ORANGE if winner and index == 1 else SKY if winner else FAINT,
                     f"{value}, {index}", w, h, "in" if winner else "inkin")
        if len(level) == 1:
            break
        half = len(level) // 2
        following, above = [], []
        for i in range(half):
            a, b = level[i], level[i + half]
            better = b if b[0] > a[0] or (b[0] == a[0] and b[1] < a[1]) else a
            following.append(better)
            above.append(xs[i])
            for x in (xs[i], xs[i + half]):
                svg.line(x + w / 2, y + h, xs[i] + w / 2, y + h + 34)
        level, xs, y = following, above, y + h + 34
    svg.text(82, y + 14, "9 is at indices 1, 4 and 7. In any order of comparisons", "note")
    svg.text(82, y + 34, "index 1 must win: of equal values the lower index.", "note")
    return svg.done()


def split_line():
    """One long line, four blocks: parts, the workspace, the counter, the last block."""
    svg = Svg(800, 330, "A line is cut into four parts, one per block; each block writes its candidate to "
                        "the workspace, then increments the counter; the last block combines the candidates")
    svg.text(20, 24, "a contiguous line")
    for b in range(4):
        svg.cell(20 + 190 * b, 36, COLOURS[b], f"block {b}", 188, 34)
        svg.arrow(20 + 190 * b + 94, 74, 20 + 190 * b + 94, 116)
        svg.cell(20 + 190 * b + 54, 120, COLOURS[b], "best", 80, 30)
    svg.text(20, 172, "1  each block writes its candidate to the workspace", "note")
    svg.text(20, 194, "2  __threadfence(): the candidate becomes visible before the count", "note")
    svg.text(20, 216, "3  atomicInc(done, 3): 0, 1, 2, 3. The block that gets 3 is the last, and the counter is 0 again",
             "note")
    svg.cell(440, 250, GREEN, "block 2 was last", 160, 34)
    for b in range(4):
        svg.cell(20 + 90 * b, 252, COLOURS[b], "best", 80, 30)
    svg.arrow(388, 267, 434, 267)
    svg.arrow(606, 267, 640, 267)
    svg.cell(646, 250, ORANGE, "index", 80, 34)
    svg.text(20, 314, "4  the last block combines all candidates; no block waits for another", "note")
    return svg.done()


def butterfly():
    """Eight lanes, three exchanges: after each, a lane has the larger of its own and its partner's."""
    w, h, gap, left = 44, 30, 56, 78
    svg = Svg(440, 366, "Eight lanes exchange values in three rounds, at distances 4, 2 and 1; in each round every "
                        "lane keeps the larger of its own and its partner's. At the end all eight hold the largest")
    values = [5, 9, 2, 7, 4, 1, 3, 8]
    svg.text(4, 20, "lane", "note")
    for lane in range(8):
        svg.text(left + lane * w + w / 2, 20, lane, "note middle")
    y = 30
    for distance in (4, 2, 1, 0):
        for lane, value in enumerate(values):
            svg.cell(left + lane * w + 3, y, SKY if value == 9 else FAINT, value, w - 6, h,
                     "in" if value == 9 else "inkin")
        if distance == 0:
            break
        svg.text(4, y + h + 34, f"d = {distance}", "note")
        for lane in range(8):
            to = left + lane * w + w / 2
            svg.line(to, y + h, to, y + h + gap)
            svg.line(left + (lane ^ distance) * w + w / 2, y + h, to, y + h + gap)
        values = [max(value, values[lane ^ distance]) for lane, value in enumerate(values)]
        y += h + gap
    svg.text(4, 342, "Each lane combines two values: its own, and that", "note")
    svg.text(4, 360, "of lane l ^ d. All pairs exchange at the same time.", "note")
    return svg.done()


def strided_reduction():
    """Eight adjacent lines, four warps: lanes across lines, warps along them, then one thread per line."""
    c, left, top = 30, 92, 46
    svg = Svg(440, 470, "Eight adjacent lines of eight elements each. Warp 0 reads rows 0 and 4, warp 1 rows 1 "
                        "and 5, and so on; each lane keeps the best of its column. Then four candidates per "
                        "line are in shared memory, and one thread per line combines them")
    svg.text(left, 18, "eight adjacent lines: columns")
    for lane in range(8):
        svg.text(left + lane * c + c / 2, 38, lane, "note middle")
    svg.text(left + 8 * c + 8, 38, "lane", "note")
    for i in range(8):
        svg.text(left - 8, top + i * c + 20, f"element {i}", "note end")
        for lane in range(8):
            svg.cell(left + lane * c, top + i * c, COLOURS[i % 4], "", c, c, border="thin")
        svg.text(left + 8 * c + 8, top + i * c + 20, f"warp {i % 4}", "note")
    svg.outline(left + 2 * c, top, c, 8 * c)
    svg.text(left + 8 * c + 8, top + 8 * c + 18, "frame: one line", "note")
    y = top + 8 * c + 44
    svg.text(4, y - 10, "found, in shared memory: the best of each warp", "note")
    for warp in range(4):
        for lane in range(8):
            svg.cell(left + lane * c, y + warp * 22, COLOURS[warp], "", c, 22, border="thin")
    svg.outline(left + 2 * c, y, c, 88)
    for lane in range(8):
        svg.arrow(left + lane * c + c / 2, y + 90, left + lane * c + c / 2, y + 108)
        svg.cell(left + lane * c, y + 110, FAINT, "", c, 22, border="thin")
    svg.text(left - 8, y + 126, "out", "note end")
    svg.text(left + 8 * c + 8, y + 126, "thread = line", "note")
    return svg.done()


PICTURES = [lines_of_a_tensor, who_reads_what, reduction_tree, butterfly, strided_reduction, split_line]
