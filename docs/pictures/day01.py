"""Pictures of Day 01: flat memory."""
import math

from measured import RESULTS, safe, with_others
from svg import CELL, COLOURS, FAINT, GREEN, ORANGE, Svg


def flat_memory():
    """A (3, 4) matrix, the same elements in memory, and the threads that process them."""
    rows, columns, left, c = 3, 4, 8, 33
    svg = Svg(416, 350, "A matrix of 3 rows and 4 columns is stored in memory row after row; "
                        "thread i takes the element at offset i")
    svg.text(left, 24, "x, as we think of it: shape (3, 4)")
    top = 38
    for m in range(rows):
        for k in range(columns):
            svg.cell(left + k * c, top + m * c, COLOURS[m], f"{m},{k}", c, c, "in tiny")
    for line, text in enumerate(("element (m, k)", "is at offset  m * 4 + k", "(2, 1) is at  2 * 4 + 1 = 9")):
        svg.text(left + 4.5 * c, top + 22 + 32 * line, text)

    strip = top + rows * c + 66
    svg.line(left + 1.5 * c, top + rows * c, left + 9.5 * c, strip)
    for m in range(rows):
        svg.text(left + (m * columns + 2) * c, strip - 12, f"row {m}", "small")
    for i in range(rows * columns):
        m, k = divmod(i, columns)
        svg.cell(left + i * c, strip, COLOURS[m], f"{m},{k}", c, c, "in tiny")
        svg.text(left + (i + 0.5) * c, strip + c + 18, str(i), "small")
    svg.text(left, strip - 34, "in memory")
    for x, y in ((left + c, top + 2 * c), (left + 9 * c, strip)):
        svg.outline(x, y, c, c)
    svg.text(left, strip + c + 40, "offset, and thread i of the kernel")

    lanes = strip + c + 56
    for i in range(rows * columns):
        svg.cell(left + i * c, lanes, COLOURS[3], f"t{i % 4}", c, 28)
    for block in range(3):
        svg.text(left + (4 * block + 2) * c, lanes + 46, f"block {block}", "small")
    return svg.done()


def four_dims():
    """Scores of shape (2, 3, 4, 5): nested boxes, and the stride of each dimension."""
    c, left, top = 25, 18, 18
    head, gap = 5 * c, 14
    sequence = 3 * head + 2 * gap
    svg = Svg(440, 500, "Attention scores of shape (2, 3, 4, 5): neighbours in b are 60 elements apart, in h "
                        "20, in q 5, in k 1; element (1, 2, 3, 1) is at 60 + 40 + 15 + 1 = 116")
    first = {}
    for b in range(2):
        y_b = top + b * (4 * c + 120)
        svg.box(left - 10, y_b - 10, sequence + 20, 4 * c + 42)
        svg.text(left + sequence / 2, y_b + 4 * c + 48, f"b = {b}", "small")
        for h in range(3):
            x_h = left + h * (head + gap)
            svg.text(x_h + head / 2, y_b + 4 * c + 18, f"h = {h}", "small")
            for q in range(4):
                for k in range(5):
                    x, y = x_h + k * c, y_b + q * c
                    first[b, h, q, k] = x, y
                    svg.cell(x, y, COLOURS[h], ((b * 3 + h) * 4 + q) * 5 + k, c, c, "in tiny",
                             "thin")
    for index in ((1, 0, 0, 0), (1, 2, 0, 0), (1, 2, 3, 0), (1, 2, 3, 1)):
        svg.outline(*first[index], c, c)
    x1, y1 = first[1, 0, 0, 0]
    x2, _ = first[1, 2, 0, 0]
    svg.text(left - 8, y1 - 68, "stride of b: 60", "note")
    svg.arrow(x1 + c / 2, y1 - 60, x1 + c / 2, y1 - 2)
    svg.arch(x1 + c, x2 + c / 2, y1 - 1, 36)
    svg.text((x1 + x2) / 2 + c, y1 - 36, "two strides of h: 2 * 20", "small")
    y = y1 + 4 * c + 80
    svg.text(left - 8, y, "k runs right, stride 1; q runs down, stride 5.")
    svg.text(left - 8, y + 28, "(1, 2, 3, 1): 1*60 + 2*20 + 3*5 + 1*1 = 116", "")
    svg.text(left - 8, y + 52, "the outlined cells: 60, 100, 115, 116", "note")
    return svg.done()


def guard():
    """Ten elements for three blocks of four threads; two threads have nothing to do."""
    left, top, n = 40, 60, 10
    svg = Svg(660, 300, "Ten elements, three blocks of four threads: threads 10 and 11 of the grid "
                        "have no element, and the guard makes them do nothing")
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
    svg.text(left, memory + CELL + 26, "memory of out, n = 10; the rest does not belong to it")
    svg.text(left, memory + CELL + 54, "i = blockIdx.x * 4 + threadIdx.x", "")
    svg.text(left + 320, memory + CELL + 54, "(2 * 4 + 1 = 9, the last element)")
    return svg.done()


def tiles_of_an_addition():
    """Ten elements in tiles of four: past the end the last one loads 0 and stores nothing."""
    left, top, n, c, gap = 40, 44, 10, 30, 8
    svg = Svg(440, 284, "Ten elements in three tiles of four, one block per tile: where the last tile has no element, 0 is "
                        "loaded, and nothing is stored")
    names = (("a", top), ("b", top + c + 22), ("out", top + 2 * (c + 22) + 22))
    for tile in range(3):
        x = left + tile * (4 * c + gap)
        svg.text(x + 2 * c, top - 22, f"block {tile}, tile {tile}", "small")
        svg.box(x - 3, top - 12, 4 * c + 6, names[2][1] + c - top + 24)
        for name, y in names:
            for k in range(4):
                i = 4 * tile + k
                if i < n:
                    svg.cell(x + k * c, y, COLOURS[tile], i, c, c)
                else:
                    svg.cell(x + k * c, y, "none", "" if name == "out" else "0", c, c, "inkin", "idle")
        svg.text(x + 2 * c, names[1][1] - 6, "+", "small")
        svg.arrow(x + 2 * c, names[1][1] + c + 5, x + 2 * c, names[2][1] - 5)
    for name, y in names:
        svg.text(left - 10, y + c / 2 + 5, name, "end")
    y = names[2][1] + c + 36
    svg.text(left, y, "load_masked: past the end it gives 0 and reads nothing", "note")
    svg.text(left, y + 20, "+: four sums; the compiler picks the threads", "note")
    svg.text(left, y + 40, "store_masked: past the end it writes nothing", "note")
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
                        "99 percent, the others are too thin to label")
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
    svg.text(left, top + height + 58, "Below each: the offset where it begins, the sum of all sizes before it.",
             "note")
    svg.text(left, top + height + 78, "Thin lines between the boxes: " + ", ".join(thin) + ".", "note")
    return svg.done()


def sectors():
    """The bytes that one load of a warp moves: for 32 neighbours, and for 32 elements a row apart."""
    left, c = 12, 26
    svg = Svg(440, 368, "A warp that reads 32 neighbours touches 4 sectors of 32 bytes; a warp that "
                        "reads 32 elements a row apart touches 32 sectors")
    svg.text(left, 24, "32 neighbours: each lane reads the next float")
    for lane in range(32):
        svg.cell(left + lane % 16 * c, 40 + lane // 16 * 36, COLOURS[lane // 8], lane, c, 30, "in tiny", "thin")
    for s in range(4):
        svg.outline(left + s % 2 * 8 * c, 40 + s // 2 * 36, 8 * c, 30)
    svg.text(left, 128, "4 sectors of 32 bytes: 128 moved, 128 used", "word")

    svg.text(left, 172, "32 rows: each lane reads from the next row")
    for lane in range(32):
        line, place = divmod(lane, 8)
        w = 6
        x, y = left + place * (8 * w + 4), 188 + line * 30
        for e in range(8):
            svg.cell(x + e * w, y, COLOURS[lane // 8] if e == 2 else FAINT, "", w, 22, border="thin")
        svg.outline(x, y, 8 * w, 22)
    svg.text(left, 332, "32 sectors: 1,024 bytes moved, 128 used.", "word")
    svg.text(left, 354, "The same 32 floats, eight times the traffic.", "word")
    return svg.done()


def roofline(own=None):
    """Throughput over arithmetic intensity, both logarithmic: a slope, a ridge, a flat roof, and two operations under it;
    dashed, the roofs of other GPUs, and of the reader's with its results in `own`."""
    left, top, w, h = 62, 40, 350, 190
    first, last, low, high = -4, 10, 6, 16.2        # powers of two: FLOP per byte; GFLOP/s
    results = with_others(RESULTS / "day01_flat_memory_h200.csv", own)
    svg = Svg(440, 330 + 18 * len(results.others), "The roofline of an H200: the attainable throughput rises with the arithmetic intensity up to the ridge at 15, and is "
                        "flat from there on. add, at 1/12, is far down the slope; a product of 4,096 squared, at 683, is under "
                        "the flat roof")

    def at(intensity, rate):
        x, y = math.log2(intensity), math.log2(rate)
        return left + (x - first) / (last - first) * w, top + h - (y - low) / (high - low) * h

    def roof(limits):
        copy, fma = limits["copy"] / 1e9, limits["fma"] / 1e9
        begin = max(2 ** first, 2 ** low / copy)  # a slow memory's slope begins on the axis
        return copy, fma, (at(begin, copy * begin), at(fma / copy, fma), at(2 ** last, fma))

    copy, fma, (start, ridge, end) = roof(results.limits)
    svg.parts.append(f'<path d="M{left} {top} L{left} {top + h} L{left + w} {top + h}"/>')
    svg.parts.append(f'<path class="thick" d="M{start[0]:g} {start[1]:g} L{ridge[0]:g} {ridge[1]:g} L{end[0]:g} {end[1]:g}"/>')
    svg.parts.append(f'<path class="lead" d="M{ridge[0]:g} {ridge[1]:g} L{ridge[0]:g} {top + h}"/>')
    svg.text(left - 56, 18, "GFLOP/s", "note")
    svg.text(left, top + h + 40, "arithmetic intensity (FLOP per byte)", "note")
    for power in range(first, last + 1, 2):
        x = left + (power - first) / (last - first) * w
        svg.text(x, top + h + 18, f"1/{2 ** -power}" if power < 0 else 2 ** power, "note middle")
    for rate, words in ((64, "64"), (1024, "1,024"), (16384, "16,384")):
        svg.text(left - 6, at(1, rate)[1] + 4, words, "note end")
    svg.text(left + 118, top + 92, "bandwidth: C", "note")
    svg.text(ridge[0] + 8, top - 8, "compute: F", "note")
    svg.text(ridge[0] - 16, top + h - 8, "ridge: 15", "note end")
    for name, intensity, colour, dx, dy in (("add", 1 / 12, ORANGE, 12, 12), ("matmul", 683, GREEN, -30, 24)):
        x, y = at(intensity, min(fma, copy * intensity))
        svg.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="6" fill="{colour}" stroke="var(--ink)"/>')
        svg.text(x + dx, y + dy, name)
    svg.text(4, 304, "Left of the ridge an operation is memory-bound, right of it", "note")
    svg.text(4, 322, "compute-bound. None gets above the line.", "note")
    for number, gpu in enumerate(results.others):
        their_copy, their_fma, points = roof(gpu.limits)
        style, y = f'class="lead" style="stroke: {COLOURS[number % len(COLOURS)]}"', 336 + 18 * number
        for line in (points, ((4, y), (24, y))):
            svg.parts.append(f'<path {style} d="M' + " L".join(f"{x:g} {y:g}" for x, y in line) + '"/>')
        svg.text(30, y + 4, f"{safe(gpu.name)}: ridge {their_fma / their_copy:.0f}", "note")
    return svg.done()


PICTURES = (flat_memory, four_dims, guard, tiles_of_an_addition, gpt2_tensors, sectors, roofline)
