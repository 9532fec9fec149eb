#!/usr/bin/env python3
"""Measures PyTorch next to a day's program: the same operations, types and shapes on the same GPU.

    common/bench/torch_peer.py PROGRAM             prints what PROGRAM --bench prints, with the
                                                   columns peer and peer_s filled in
    common/bench/torch_peer.py PROGRAM --dry-run   measures nothing: prints what would be measured,
                                                   and what is missing

`common/learn bench day01 --torch` calls it. PROGRAM runs twice: the first run lists what to
measure; then PyTorch, PROGRAM and PyTorch run again, so that clock drift shows. The day's
bench/torch_peer.py maps operations to PyTorch's:

    def add(torch, dtype, shape):           # dtype: torch.float32, shape: (64, 1024)
        a, b, out = ...                     # a set of buffers, made once, laid out as ours
        return lambda: torch.add(a, b, out=out)

    PEERS = {"add": ("torch.add", add)}     # our op: PyTorch's name, and the function

The protocol is measure.hpp's: three warm-up runs, pairs of CUDA events, batches of runs that fill a
millisecond if one takes less than half of that, and the median. Buffer sets that together exceed
twice the L2 cache (at most 256) are used in turn. CPU versions and warm-cache rows get no peer, and
a row that already has one keeps it.
"""
import csv
import importlib.util
import io
import math
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def complain(sentence):
    sys.exit(f"torch_peer.py: {sentence}")


def load_peers(program):
    """PEERS of this program's day; None if it names no peers."""
    path = ROOT / program.name / "bench" / "torch_peer.py"
    if not path.exists():
        return None
    spec = importlib.util.spec_from_file_location("day_torch_peer", path)
    day = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(day)
    return day.PEERS


def load_torch():
    """PyTorch and "", or None and a sentence that says what is missing."""
    try:
        import torch
    except ImportError as error:
        return None, f"PyTorch is missing ({error}). `pip install torch` installs it."
    if not torch.cuda.is_available():
        return None, f"PyTorch {torch.__version__} finds no GPU, and a CPU's times would mean nothing here."
    return torch, ""


def run_bench(program):
    """The comment lines before the columns, the rows as dicts, and the comment lines after."""
    done = subprocess.run([program, "--bench"], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        complain(f"{program} --bench ended with status {done.returncode}.")
    lines = done.stdout.splitlines()
    table = [line for line in lines if line and not line.startswith("#")]
    if not table or not table[0].startswith("op,"):
        complain(f"{program} --bench printed no columns.")
    first = lines.index(table[0])
    before = [line for line in lines[:first] if line.startswith("#")]
    after = [line for line in lines[first:] if line.startswith("#")]
    return before, list(csv.DictReader(table)), after


def wanted(row, peers):
    return (row["op"] in peers and row["cache"] == "cold" and row["peer"] == ""
            and not row["version"].startswith("loop"))


def key_of(row):
    return row["op"], row["dtype"], row["shape"]


def shape_of(text):
    return () if text == "scalar" else tuple(int(extent) for extent in text.split("x"))


def measure(torch, runs, seconds=1.0, fewest=5, most=51):
    """Seconds per run; the runs, each with its own buffers, are called in turn."""
    number = 0

    def queue(at_once):
        nonlocal number
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(at_once):
            runs[number % len(runs)]()
            number += 1
        stop.record()
        return start, stop

    def wait(events, at_once):
        events[1].synchronize()
        return events[0].elapsed_time(events[1]) * 1e-3 / at_once

    for _ in range(3):
        one = max(wait(queue(1), 1), 1e-9)
    at_once = 1 if one >= 500e-6 else min(math.ceil(1e-3 / one), 1000)
    count = max(fewest, min(most, int(seconds / (one * at_once))))
    queued = [queue(at_once) for _ in range(count)]
    return [wait(events, at_once) for events in queued]


def measure_rows(torch, rows, peers, times):
    """Appends a list of seconds to times[key] for each different operation, type and shape."""
    l2 = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 50 << 20)
    for key, row in {key_of(row): row for row in rows if wanted(row, peers)}.items():
        op, dtype, shape = key
        make = peers[op][1]
        touched = max(1, int(row["bytes_read"]) + int(row["bytes_written"]))
        sets = min(2 * l2 // touched + 1, 256)
        runs = [make(torch, getattr(torch, dtype), shape_of(shape)) for _ in range(sets)]
        times.setdefault(key, []).append(measure(torch, runs))


def dry_run(program, peers, missing):
    print(f"Peers of {program.name}: " +
          ", ".join(f"{op} is {name}" for op, (name, _) in peers.items()) + ".")
    if not program.exists():
        print(f"{program} is missing: `common/learn run` builds it.")
    print(missing or "Nothing is missing: without --dry-run they are measured.")


def main(arguments):
    words = [word for word in arguments if word != "--dry-run"]
    if len(words) != 1 or words[0].startswith("-"):
        complain("which program? torch_peer.py PROGRAM [--dry-run]")
    program = pathlib.Path(words[0]).resolve()
    peers = load_peers(program)
    if peers is None:
        complain(f"{program.name} names no peers: there is no {program.name}/bench/torch_peer.py.")
    torch, missing = load_torch()
    if "--dry-run" in arguments:
        return dry_run(program, peers, missing)
    if missing:
        complain(missing)

    times = {}
    cases = run_bench(program)[1]
    measure_rows(torch, cases, peers, times)
    before, rows, after = run_bench(program)
    measure_rows(torch, cases, peers, times)

    print("\n".join(before))
    print(f"# torch {torch.__version__}, measured before and after")
    for key, (first, second) in times.items():
        moved = statistics.median(second) / statistics.median(first) - 1
        if abs(moved) > 0.05:
            after.append(f"# warning: torch's {' '.join(key)} took {100 * moved:+.0f} % longer the second time")
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        if wanted(row, peers) and key_of(row) in times:
            both = [seconds for series in times[key_of(row)] for seconds in series]
            row["peer"] = peers[row["op"]][0]
            row["peer_s"] = f"{statistics.median(both):.4e}"
        writer.writerow(row)
    print(out.getvalue() + "\n".join(after))


if __name__ == "__main__":
    main(sys.argv[1:])
