"""Pictures of measured numbers, drawn from docs/results/*_h200.csv: what common/lesson/csv.hpp says. Files of other GPUs
that measured the same day, and on built pages the reader's own of build/bench, are shown beside them.

    <day>_measured   a bar for each step of the day's ladder: its fraction of the limit that holds it back
    <day>_more       the same for all other rows that come from device memory, to be folded on the page
    <day>_sweep      rows of sum_columns whose version is "stride N": bandwidth over the stride
    <day>_bf16       an operation of bf16, all steps, beside the fastest of floats: operations a second

`draw.py --check` is also the proof that pictures and numbers belong together.
"""
import csv
import functools
import itertools
import math
import pathlib
import re

from svg import COLOURS, FAINT, GREEN, ORANGE, PURPLE, SKY, Svg

RESULTS = pathlib.Path(__file__).resolve().parents[1] / "results"
SWEEP = "sum_columns"
SAME = ("op", "version", "dtype", "shape", "cache")  # but which path a launcher takes may depend on the GPU
USED = (*SAME, "path", "bytes_read", "bytes_written", "flops", "median_s", "limit", "share", "peer", "peer_s")
YOUR = "your "  # before the name of the reader's GPU
NARROW = 7  # height of another GPU's bar and the gap above it
BYTES = ("copy", "read", "write")  # limits in bytes a second; all others are operations a second


def safe(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


class Results:
    """One file: `notes` of its # lines, `device`, `limits` of the GPU by name, in bytes or operations per second,
    `rows` as dicts; and `others`, the same day on other GPUs."""

    def __init__(self, path):
        lines = path.read_text().splitlines()
        self.others = []
        # How the clock moved from row to row is for the one who measures.
        self.notes = notes = [line[1:].strip() for line in lines
                              if line.startswith("#") and not re.match(r"# clock: \d+ MHz after .+, ", line)]
        self.device = notes[0].split(",")[0] if notes else ""
        self.limits = {}
        for note in notes:
            if note.startswith("limits: this GPU:"):
                found = re.findall(r"(copy|read|write|fma) ([0-9.]+)", note)
                self.limits = {name: 1e9 * float(rate) for name, rate in found}
        self.rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))


def with_others(path, own=None):
    """Results of one file, and of other GPUs those that measured the same day: files of this folder, then of `own`, a
    folder of the reader's. A day's file may hold what is in several here (`day05_matmul`, `day05_matmul_bf16`)."""
    results, day = Results(path), re.match(r"(?:tile_)?(day\d\d_)", path.name)
    files = [(file, whose) for folder, whose in ((path.parent, ""), (own, YOUR)) if day and folder
             for file in sorted(folder.glob(f"{day[1]}*.csv"))]
    found = {}
    for file, whose in files:
        gpu = OtherGpu(file, whose)
        if whose or gpu.device != results.device:
            found.setdefault(gpu.name, gpu).of.update(gpu.of)
    results.others = list(found.values())
    return results


class OtherGpu(Results):
    """`name` for the page, and the row that is the same as one of another GPU."""

    def __init__(self, path, whose):
        super().__init__(path)
        missing = [column for column in USED if any(row.get(column) is None for row in self.rows)]
        if missing or not (self.rows and self.limits):
            raise ValueError(f"{path} is not a complete file of `common/learn bench`: it lacks "
                             + (f"column {missing[0]}" if missing else "rows" if self.limits else "the line `# limits: this GPU`"))
        self.name = whose + self.device.removeprefix("NVIDIA ").removeprefix("GeForce ")
        self.of = {tuple(row[key] for key in SAME): row for row in self.rows if not is_loop(row)}

    def row(self, row):
        return self.of.get(tuple(row[key] for key in SAME))


def rate(row):
    """Bytes or operations a second, whichever holds the row back."""
    if row["limit"] in BYTES:
        moved = float(row["bytes_read"]) + float(row["bytes_written"])
        return f"{moved / float(row['median_s']) / 1e9:,.0f} GB/s"
    speed = float(row["flops"]) / float(row["median_s"])
    return f"{speed / 1e12:,.1f} TFLOP/s" if speed >= 1e12 else f"{speed / 1e9:,.0f} GFLOP/s"


def is_sweep(row):
    return row["op"] == SWEEP and re.fullmatch(r"stride \d+", row["version"]) is not None


def operation(row):
    """Of "copy, heads" the part before the comma; the rest says which."""
    return row["op"].partition(", ")[0]


def labels(row):
    """What a row of an operation may be called, the shortest first."""
    which, version = row["op"].partition(", ")[2], row["version"].strip()
    version += f", takes {row['path']}" if row["path"] else ""
    return [which or version, version, f"{which}, {version}" if which else version]


def elements(row, rows, alike):
    """Of element type and shape what the rows of this operation have alike, or what they differ in."""
    family = [other for other in rows if operation(other) == operation(row)]
    return " ".join(row[key] for key in ("dtype", "shape") if (len({other[key] for other in family}) == 1) == alike)


def names(rows):
    """Of each row the first label that no other row of its operation has; behind it its elements, if they differ."""
    found = []
    for row in rows:
        family = [other for other in rows if operation(other) == operation(row)]

        def detailed(other):
            return [", ".join(filter(None, (label, elements(other, rows, alike=False)))) for label in labels(other)]

        others = [detailed(other) for other in family if other is not row]
        mine = detailed(row)
        free = [label for n, label in enumerate(mine) if all(label != other[n] for other in others)]
        found.append((free or mine[-1:])[0])
    return found


def is_loop(row):
    return row["version"] == "loop"  # on one core of the CPU


def ladder_and_rest(results):
    """The steps of the day's first operation, on the elements that its first step had; and what else comes
    from device memory. Of more than ten steps those that gain least over the step before are left out."""
    rows = [row for row in results.rows if row["cache"] == "cold" and not is_loop(row)
            and not re.fullmatch(r"stride \d+", row["version"])]
    key = ("op", "dtype", "shape")
    steps = [row for row in rows if [row[k] for k in key] == [rows[0][k] for k in key]
             and (not row["path"] or not any(other["version"] == row["path"] for other in rows))]
    while len(steps) > 10:
        gains = [float(b["share"]) - float(a["share"]) for a, b in zip(steps, steps[1:-1])]
        del steps[1 + gains.index(min(gains))]
    return steps, [row for row in rows if row not in steps]


def elements_of(row):
    return math.prod(map(int, re.findall(r"\d+", row["shape"])))


def per_element(row):
    """Seconds of one element of the shape, or of one operation where operations are the limit."""
    return float(row["median_s"]) / (elements_of(row) if row["limit"] in BYTES else float(row["flops"]))


def narrow_bars(svg, left, y, colour, widths):
    """Below a row's bar, one for each other GPU; None where it has no such row."""
    for number, width in enumerate(widths):
        if width is not None:
            svg.cell(left, y + 34 + NARROW * number, colour, "", max(width, 1), 5, border="thin")


def legend(others):
    return [f"Narrow bar{f' {number}' if len(others) > 1 else ''}: {gpu.name}" for number, gpu in enumerate(others, 1)]


def bars(title, results, rows):
    """Each row's fraction of the limit that holds it back, and its bytes or operations a second, operation by
    operation. Narrow enough for a phone."""
    others = [gpu for gpu in results.others if any(map(gpu.row, rows))]
    ops = list(dict.fromkeys(map(operation, rows)))
    loops = [row for row in results.rows if is_loop(row) and operation(row) == ops[0]]
    peers = list(dict.fromkeys(row["peer"] for row in rows if row["peer_s"]))
    height, left, full = 40 + NARROW * len(others), 8, 408  # of a row; where bars begin; width of 100 %
    values = [f"{rate(row)}, {100 * float(row['share']):.1f} % of the limit" for row in rows]
    drop = [18 if len(name) + len(value) > 56 else 0 for name, value in zip(names(rows), values)]  # a line more
    bottom = 40 + height * len(rows) + sum(drop) + 30 * len(ops)
    lines = ["Full width: what the bytes or operations take at the", "measured limit of the same machine."]
    lines += [f"Upright mark: {', '.join(peers[:3])}{', …' if peers[3:] else ''}"] if peers else []
    lines += legend(others)
    for loop in loops:
        fastest = min(rows, key=per_element)
        one = "an element" if loop["limit"] in BYTES else "an operation"
        lines += [f"Apart, the loop on one core of the CPU: {1e9 * per_element(loop):.2g} ns {one}",
                  f"(the fastest kernel here: {1e9 * per_element(fastest):.2g} ns)."]
    svg = Svg(436, bottom + 6 + 20 * len(lines), safe(title))
    svg.text(left, 24, safe(title), "note")
    y = 36
    for op in ops:
        first = next(row for row in rows if operation(row) == op)
        svg.text(left, y + 22, safe(", ".join(filter(None, (op, elements(first, rows, alike=True))))))
        y += 30
        for row, name, value, more in zip(rows, names(rows), values, drop):
            if operation(row) != op:
                continue
            fraction = float(row["share"])
            width = max(full * min(fraction, 1.04), 1)
            svg.text(left, y + 15, safe(name), "note")
            y += more
            svg.text(left + full, y + 15, value, "note end")
            svg.cell(left, y + 21, FAINT, "", full, 12, border="thin")
            svg.cell(left, y + 21, COLOURS[ops.index(op) % len(COLOURS)], "", width, 12, border="thin")
            if row["peer_s"]:
                peer = fraction * float(row["median_s"]) / float(row["peer_s"])
                svg.outline(left + full * min(peer, 1.04) - 1, y + 21, 2, 12)
            theirs = [gpu.row(row) for gpu in others]
            narrow_bars(svg, left, y, COLOURS[ops.index(op) % len(COLOURS)],
                        [other and full * min(float(other["share"]), 1.04) for other in theirs])
            y += height
    for number, line in enumerate(lines):
        svg.text(left, bottom + 14 + 20 * number, safe(line), "note")
    return svg.done()


def stride_of(row):
    return int(row["version"].split()[1])


# What one float costs, in bytes of a walk without gaps, if memory sends pieces of 32 or 64 bytes; and
# by the model of day02_strides/stride_cost.hpp: 64 bytes for each half, 64 for each block of 256 visited.
MODELS = (
    ("pieces of 32 bytes", lambda stride: 4 * min(stride, 8), "lead"),
    ("pieces of 64 bytes", lambda stride: 4 * min(stride, 16), ""),
    ("and a price for each 256", lambda stride: 64 * (min(stride, 16) / 16 + min(stride, 64) / 64)
     / 1.25, "thick"),
)


GREEN_LINE = f' style="stroke: {GREEN}"'


def sweep(title, results):
    """Bytes asked for per second over the stride: measured points, other GPUs' in other colours, and the line of the model."""
    others = [gpu for gpu in results.others if any(map(is_sweep, gpu.of.values()))]
    rows = sorted((row for row in results.rows if is_sweep(row)), key=stride_of)
    limit = results.limits["read"]
    left, top, width, height = 80, 60, 640, 280
    most = math.log2(max(2, stride_of(rows[-1])))
    lowest, highest = 1e11, 6.4e12  # both axes grow by factors: a straight line is a power
    series = [*zip((gpu.of.values() for gpu in others), itertools.cycle((SKY, PURPLE))), (rows, ORANGE)]
    points = [(stride_of(row), 4 * elements_of(row) / float(row["median_s"]), colour)
              for of, colour in series for row in of if is_sweep(row)]
    while min(rate for _, rate, _ in points) < lowest:  # a slower GPU
        lowest /= 2

    def place(stride, rate):
        up = math.log(max(rate, lowest) / lowest) / math.log(highest / lowest)
        return left + width * math.log2(stride) / most, top + height * (1 - up)

    svg = Svg(800, top + height + 92 + 20 * len(others), safe(title))
    svg.text(20, 24, safe(title))
    svg.parts.append(f'<path d="M{left} {top} L{left} {top + height} L{left + width} {top + height}"/>')
    for power in range(round(math.log2(highest / lowest)) + 1):
        _, y = place(1, lowest * 2 ** power)
        svg.line(left - 5, y, left, y)
        svg.text(left - 8, y + 5, f"{lowest * 2 ** power / 1e9:g}", "note end")
    svg.text(20, top - 14, "GB/s asked for", "note")
    for power in range(int(most) + 1):
        x, y = place(2 ** power, 0)
        svg.text(x, y + 20, str(2 ** power), "small")
    svg.text(left + width / 2, top + height + 44, "stride in floats", "note middle")
    steps = [2 ** (most * i / 96) for i in range(97)]
    for _, cost, kind in MODELS:
        line = [place(s, limit * 4 / cost(s)) for s in steps]
        kind = f' class="{kind}"' + GREEN_LINE * (kind == "thick") if kind else ""
        svg.parts.append(f'<path{kind} d="M' + " L".join(f"{x:g} {y:g}" for x, y in line) + '"/>')
    for stride, rate, colour in points:
        x, y = place(stride, rate)
        svg.cell(x - 4, y - 4, colour, "", 8, 8)
    y = top + height + 68
    for number, (gpu, (_, colour)) in enumerate(zip(others, series), 1):
        svg.cell(left, y - 4 + 20 * number, colour, "", 8, 8)
        svg.text(left + 14, y + 5 + 20 * number, safe(gpu.name), "note")
    svg.cell(left, y - 4, ORANGE, "", 8, 8)
    svg.text(left + 14, y + 5, "measured", "note")
    for number, (name, _, kind) in enumerate(MODELS):
        x = left + 96 + 178 * number
        svg.line(x, y, x + 24, y, kind)
        if kind == "thick":
            svg.parts[-1] = svg.parts[-1].replace("<path", f"<path{GREEN_LINE}")
        svg.text(x + 30, y + 5, name, "note")
    return svg.done()


def fastest_of_shapes(rows):
    found = {}
    for row in sorted(rows, key=lambda row: float(row["median_s"])):
        found.setdefault(row["shape"], row)
    return [row for row in rows if row is found[row["shape"]]]


def beside(title, families, others=()):
    """Rows of several operations, all on one scale: the fastest of them, or of their peers, is as wide as can be."""
    rows = [row for family in families for row in family]
    others = [gpu for gpu in others if any(map(gpu.row, rows))]
    left, full, height = 8, 408, 40 + NARROW * len(others)

    def speed(row, seconds="median_s"):
        return float(row["flops"]) / float(row[seconds]) if row[seconds] else 0

    theirs = [found for gpu in others for found in map(gpu.row, rows) if found]
    most = max(speed(row, seconds) for row in rows + theirs for seconds in ("median_s", "peer_s"))
    peers = list(dict.fromkeys(row["peer"] for row in rows if row["peer_s"]))
    bottom = 40 + height * len(rows) + 30 * len(families)
    lines = [f"Upright mark: {', '.join(peers)}", *legend(others)]
    svg = Svg(436, bottom + 6 + 20 * len(lines), safe(title))
    svg.text(left, 24, safe(title), "note")
    y = 36
    for family, colour in zip(families, COLOURS):
        svg.text(left, y + 22, safe(", ".join(filter(None, (operation(family[0]), elements(family[0], family, alike=True))))))
        y += 30
        for row, name in zip(family, names(family)):
            svg.text(left, y + 15, safe(name), "note")
            svg.text(left + full, y + 15, f"{speed(row) / 1e12:.3g} TFLOP/s", "note end")
            svg.cell(left, y + 21, FAINT, "", full, 12, border="thin")
            svg.cell(left, y + 21, colour, "", max(full * speed(row) / most, 1), 12, border="thin")
            if row["peer_s"]:
                svg.outline(left + full * speed(row, "peer_s") / most - 1, y + 21, 2, 12)
            narrow_bars(svg, left, y, colour, [other and full * speed(other) / most for other in (gpu.row(row) for gpu in others)])
            y += height
    for number, line in enumerate(lines):
        svg.text(left, bottom + 14 + 20 * number, safe(line), "note")
    return svg.done()


# day: (operation in floats, its file; operation in bf16, its file)
IN_BF16 = {
    "day05": ("matmul", "day05_matmul", "matmul_bf16", "day05_matmul_bf16"),
    "day06": ("attention", "day06_transformer_ops", "attention_bf16", "day06_attention_bf16"),
}


def pictures():
    """A function for each picture, named as its file is to be; `own` is the folder of the reader's results."""
    draws = []

    def add(name, draw):
        draw.__name__ = name
        draws.append(draw)

    for path in sorted(RESULTS.glob("day[0-9][0-9]_*_h200.csv")):
        day = path.name[:5]
        results = Results(path)
        title = f"Day {day[3:]} on one {results.device}: percent of peak"

        def ladder(own=None, path=path, title=title, part=0):
            here = with_others(path, own)
            return bars(title, here, ladder_and_rest(here)[part])

        add(f"{day}_measured", ladder)
        if ladder_and_rest(results)[1]:
            add(f"{day}_more", functools.partial(ladder, part=1))
        if any(is_sweep(row) for row in results.rows):
            title = f"Day {day[3:]} on one {results.device}: what a stride costs a kernel that only reads"
            add(f"{day}_sweep", lambda own=None, path=path, title=title: sweep(title, with_others(path, own)))
    for day, (*floats, op, name) in IN_BF16.items():

        def in_bf16(own=None, files=(floats, (op, name)), day=day):
            families = []
            for which, file in files:
                results = with_others(RESULTS / f"{file}_h200.csv", own)
                families.append([row for row in results.rows if row["op"] == which and row["cache"] == "cold" and not is_loop(row)])
            families[0] = fastest_of_shapes(families[0])
            return beside(f"Day {day[3:]} on one {results.device}: floats, and bf16", families, results.others)

        add(f"{day}_bf16", in_bf16)
    return tuple(draws)


PICTURES = pictures()
