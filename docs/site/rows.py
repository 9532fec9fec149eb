"""Measured numbers for sentences and bars, looked up in docs/results/*.csv and rounded here."""
import difflib
import html
import math
import re

from measured import BYTES, rate

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
    "tokens/s": (lambda row, s: elements(row) / s, "tokens/s", 0),
    "ns/element": (lambda row, s: 1e9 * s / elements(row), "ns", 2),
    "limit GB/s": (lambda row, s: moved(row) / median(row) / float(row["share"]) / 1e9, "GB/s", 0),
    "MB": (lambda row, s: moved(row) / 1e6, "MB", 0),
    "model": (lambda row, s: model(row), "%", 1),
}
WANTED = re.compile(r"(?:(most|least) )?(?:(peer) )?(%s|times)(?: (\d))?( bare)?" % "|".join(COLUMNS))


def elements(row):
    return math.prod(int(extent) for extent in re.findall(r"\d+", row["shape"]))


def key(row, column):
    """What stands in a key column; a path as tables say it: "takes quads"."""
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
    number = max(numbers) if which == "most" else min(numbers)
    return number, unit, usual if digits is None else int(digits), bool(bare)


def number(results, fields, name):
    """The same as text: "84 %", "3,667 GB/s", or without its unit where that is asked for."""
    number, unit, digits, bare = value(results, fields, name)
    text = f"{number:,.{digits}f}".replace("-", "−")
    return text if bare or not unit else f"{text}&nbsp;{unit}"


def bar(results, fields, name):
    """One row as a bar: its share, what its peer reaches as an upright mark, and both in numbers."""
    row = row_of(results, fields, name)
    share = 100 * float(row["share"])
    mark = beside = ""
    if row["peer_s"]:
        reached = share * median(row) / peer(row)
        mark = f'<span class="peer" style="left:{min(reached, 104):.2f}%"></span>'
        beside = f'<span class="beside">{html.escape(row["peer"])} {reached:.1f} %</span>'
    return (f'<div class="bar"><span class="what">{html.escape(row["version"].strip())}</span>'
            f'<span class="track"><span class="fill" style="width:{min(share, 104):.2f}%"></span>{mark}</span>'
            f'<span class="value"><b>{share:.1f} %</b> of the limit, '
            f'{rate(row)}</span>{beside}</div>\n')
