"""Measured numbers for sentences and bars, looked up in docs/results/*.csv and rounded here."""
import difflib
import html
import math
import re

from measured import BYTES, YOUR, elements_of, rate

KEYS = ("op", "version", "path", "dtype", "shape", "cache")  # what a row may be named by


def median(row):
    return float(row["median_s"])


def peer(row):
    if not row["peer_s"]:
        raise ValueError("this row has no peer")
    return float(row["peer_s"])


def moved(row):
    return float(row["bytes_read"]) + float(row["bytes_written"])


def model(row):
    found = re.fullmatch(r"model (\S+) s", row["path"])
    if not found:
        raise ValueError("this row has no model")
    return 100 * (float(found[1]) / median(row) - 1)


# name: (value of a row and the seconds it took, unit, digits after the point unless told)
COLUMNS = {
    "share": (lambda row, s: 100 * float(row["share"]) * median(row) / s, "%", 0),
    "GB/s": (lambda row, s: moved(row) / s / 1e9, "GB/s", 0),
    "GFLOP/s": (lambda row, s: float(row["flops"]) / s / 1e9, "GFLOP/s", 0),
    "TFLOP/s": (lambda row, s: float(row["flops"]) / s / 1e12, "TFLOP/s", 1),
    "us": (lambda row, s: 1e6 * s, "µs", 1),
    "ms": (lambda row, s: 1e3 * s, "ms", 2),
    "tokens/s": (lambda row, s: elements_of(row) / s, "tokens/s", 0),
    "ns/element": (lambda row, s: 1e9 * s / elements_of(row), "ns", 2),
    "limit GB/s": (lambda row, s: moved(row) / median(row) / float(row["share"]) / 1e9, "GB/s", 0),
    "MB": (lambda row, s: moved(row) / 1e6, "MB", 0),
    "model": (lambda row, s: model(row), "%", 1),
}
WANTED = re.compile(r"(?:(most|least|mean) )?(?:(peer) )?(%s|times)(?: (\d))?( bare)?" % "|".join(COLUMNS))


def geometric_mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def key(row, column):
    """What stands in a key column; a path as tables say it: "takes vectorized"."""
    text = row[column].strip()
    return f"takes {text}" if column == "path" and text else text


def rows_of(results, parts, name):
    """Rows in which each part is the value of a key column; `*` stands for anything."""
    def fits(row, part):
        pattern = ".*".join(re.escape(piece) for piece in part.split("*"))
        return any(re.fullmatch(pattern, key(row, column)) for column in KEYS)

    rows = [row for row in results.rows if all(fits(row, part) for part in parts)]
    if rows:
        return rows
    for part in parts:
        if not any(fits(row, part) for row in results.rows):
            known = list(dict.fromkeys(key(row, column) for row in results.rows for column in KEYS))
            near = difflib.get_close_matches(part, known, 3, 0.4)
            raise ValueError(f"no row of {name} has '{part}'"
                             + (f"; it has {', '.join(map(repr, near))}" if near else ""))
    raise ValueError(f"no row of {name} has all of '{'; '.join(parts)}'")


def row_of(results, parts, name):
    rows = rows_of(results, parts, name)
    if len(rows) > 1:
        differ = [f"{column} ({', '.join(dict.fromkeys(key(row, column) or 'none' for row in rows))})"
                  for column in KEYS if len({row[column] for row in rows}) > 1]
        raise ValueError(f"{len(rows)} rows of {name} have '{'; '.join(parts)}': they differ in "
                         + (" and ".join(differ) if differ else "nothing that could tell them apart"))
    return rows[0]


def value(results, fields, name):
    """What `row; column` or `row; times; other row` says: (number, unit, digits, bare)."""
    if len(fields) == 1 and fields[0].startswith("limit "):
        kind = fields[0][len("limit "):]
        if kind not in results.limits:
            raise ValueError(f"{name} tells no limit '{kind}', but {', '.join(results.limits)}")
        return results.limits[kind] / 1e9, "GB/s" if kind in BYTES else "GFLOP/s", 0, False
    if fields == ["ridge"]:
        return results.limits["fma"] / results.limits["copy"], "", 0, False
    at = [i for i, field in enumerate(fields) if WANTED.fullmatch(field)]
    if not at or at[0] == 0:
        raise ValueError(f"'{'; '.join(fields)}' is not a row and a column: one of "
                         + ", ".join([*COLUMNS, "times"]))
    which, by_peer, column, digits, bare = WANTED.fullmatch(fields[at[0]]).groups()
    parts, rest = fields[:at[0]], fields[at[0] + 1:]
    rows = rows_of(results, parts, name) if which else [row_of(results, parts, name)]
    if column == "times":
        other = median(row_of(results, rest, name)) if rest else None
        numbers = [(other or peer(row)) / median(row) for row in rows]
        unit, usual = "", 2
    elif rest:
        raise ValueError(f"nothing may follow '{column}', but '{'; '.join(rest)}' does")
    else:
        of, unit, usual = COLUMNS[column]
        numbers = [of(row, peer(row) if by_peer else median(row)) for row in rows]
    if column == "model" and which:
        numbers = [abs(number) for number in numbers]
    number = {"most": max, "mean": geometric_mean}.get(which, min)(numbers)
    return number, unit, usual if digits is None else int(digits), bool(bare)


def number(results, fields, name):
    """The same as text: "84 %", "3,667 GB/s", or without its unit where that is asked for."""
    number, unit, digits, bare = value(results, fields, name)
    text = f"{number:,.{digits}f}".replace("-", "−")
    return text if bare or not unit else f"{text} {unit}"


def of_readers_gpu(results, fields):
    """Behind a limit or a ridge: " (your RTX 4090: 920 GB/s)"; empty where the reader has measured nothing."""
    if fields != ["ridge"] and not fields[0].startswith("limit "):
        return ""
    return "".join(f" ({gpu.name}: {number(gpu, fields, gpu.name)})" for gpu in results.others if gpu.name.startswith(YOUR))


def reached(row):
    """Percent of the limit: this row's and its peer's, which may have none."""
    percent = 100 * float(row["share"])
    return percent, percent * median(row) / peer(row) if row["peer_s"] else None


def bar_text(results, fields, name):
    """One row as a line of text: "add █████░ 84.1 % of the limit, 3,595 GB/s; torch.add 85.0 %"."""
    row = row_of(results, fields, name)
    percent, beside = reached(row)
    filled = min(round(percent / 5), 20)
    text = f"{'█' * filled}{'░' * (20 - filled)} {row['version'].strip()}: {percent:.1f} % of the limit, {rate(row)}"
    text += f"; {row['peer']} {beside:.1f} %" if beside else ""
    return text + "".join(f"; {gpu.name}: {reached(other)[0]:.1f} %, {rate(other)}" for gpu, other in elsewhere(results, row))


def elsewhere(results, row):
    """(another GPU, the same row there), where it has one."""
    return [(gpu, gpu.row(row)) for gpu in results.others if gpu.row(row)]


def bar(results, fields, name):
    """The same as HTML: what the peer reaches is an upright mark, and below it are the bars of other GPUs."""
    row = row_of(results, fields, name)
    return one_bar(row["version"].strip(), row) + "".join(one_bar(f"on {gpu.name}", other, " elsewhere")
                                                          for gpu, other in elsewhere(results, row))


def one_bar(what, row, kind=""):
    percent, other = reached(row)
    mark = beside = ""
    if other:
        mark = f'<span class="peer" style="left:{min(other, 104):.2f}%"></span>'
        beside = f'<span class="beside">{html.escape(row["peer"])} {other:.1f} %</span>'
    return (f'<div class="bar{kind}"><span class="what">{html.escape(what)}</span>'
            f'<span class="track"><span class="fill" style="width:{min(percent, 104):.2f}%"></span>{mark}</span>'
            f'<span class="value"><b>{percent:.1f} %</b> of the limit, '
            f'{rate(row)}</span>{beside}</div>\n')


def seconds(s):
    return f"{1e6 * s:.1f} µs" if s < 1e-3 else f"{1e3 * s:.3f} ms"


def safe(text):
    return html.escape(text, quote=False)


def cells_of_sweep(row):
    asked = f"{moved(row) / median(row) / 1e9:.0f} GB/s"
    return [safe(row["op"]), row["version"].removeprefix("stride "), seconds(median(row)),
            seconds(float(row["path"].split()[1])), f"{model(row):+.1f} %", asked]


def cells_of_row(row):
    name = safe(row["version"].strip()) + (f"<br/>takes {safe(row['path'])}" if row["path"] else "")
    elements = safe(f"{row['dtype']} {row['shape']}") + (", warm" if row["cache"] == "warm" else "")
    size = f"{moved(row):.0f}" if moved(row) < 1e6 else f"{moved(row) / 1e6:.1f} MB"
    middle, low, high = (seconds(float(row[key])) for key in ("median_s", "p10_s", "p90_s"))
    speed = f"{float(row['flops']) / median(row) / 1e9:.0f} GFLOP/s" if row["limit"] == "fma" else \
        f"{moved(row) / median(row) / 1e9:.0f} GB/s"
    beside = safe(f"{row['peer']} {seconds(peer(row))}") if row["peer_s"] else ""
    return [safe(row["op"]), name, elements, size, f"<b>{middle}</b><br/>{low} to {high}", speed,
            f"{100 * float(row['share']):.1f} % of {row['limit']}", beside]


def cell_of_other(row, other):
    """The same row on another GPU; of a sweep, the bytes asked for."""
    if other is None:
        return ""
    limit = "" if other["limit"] == row["limit"] else f" of {other['limit']}"
    reached_there = (f"{moved(other) / median(other) / 1e9:.0f} GB/s" if row["path"].startswith("model ") else
                     f"{rate(other)}<br/>{reached(other)[0]:.1f} %{limit}")
    return f"<b>{seconds(median(other))}</b><br/>{reached_there}"


def table(results, sweep=False):
    """All rows as a table, or those of a sweep, version "stride 7" and path "model 9.2e-04 s", and the same rows of
    other GPUs in a column each; the files' notes below."""
    chosen = [row for row in results.rows if bool(re.fullmatch(r"stride \d+", row["version"])) == sweep]
    heads = (["operation", "stride", "median", "by the model", "difference", "asked for"] if sweep else
             ["operation", "version", "elements", "bytes that must move", "median, p10 to p90", "rate",
              "% of the limit", "peer"])
    lines = [(cells_of_sweep if sweep else cells_of_row)(row) for row in chosen]
    if not sweep and not any(line[-1] for line in lines):  # no peer
        heads, lines = heads[:-1], [line[:-1] for line in lines]
    notes = results.notes
    for gpu in results.others:
        if any(map(gpu.row, chosen)):
            heads = [*heads, safe(f"on {gpu.name}")]
            lines = [[*line, cell_of_other(row, gpu.row(row))] for row, line in zip(chosen, lines)]
            notes = [*notes, *gpu.notes]
    made = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in line) + "</tr>\n" for line in lines)
    return (f'<div class="measured"><table class="markdownTable">\n<tr>{"".join(f"<th>{head}</th>" for head in heads)}</tr>\n'
            f'{made}</table><p class="origin">{"<br/>".join(map(safe, notes))}</p></div>\n')
