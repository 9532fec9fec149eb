#!/usr/bin/env python3
"""How many programs of other people run as they are? Tries every .cu file with a main() in these folders,
one after another, under `common/learn try`, and sorts them:

    count.py [--limit 60] [--every 5] [-I folder]... folder-or-file...

    right     ends with status 0 and without a finding
    accused   the emulator has a finding
    away      does not compile here; the first reason is shown
    late      was still at it, unaccused, when its time was up
    fails     ends with another status: wants an argument, a file, a second GPU, or says that it is wrong

A line for each program, then the counts, then the reasons of those that were turned away, by number. A file
that says FIXME is an exercise, no program; one that nvcc does not compile either (--nvcc asks it) is left out.
"""
import argparse
import collections
import os
import re
import signal
import subprocess
import sys

LEARN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "learn")


def programs(places):
    for place in places:
        found = [place] if os.path.isfile(place) else sorted(
            os.path.join(folder, name) for folder, _, names in os.walk(place) for name in names)
        for path in found:
            if not path.endswith(".cu"):
                continue
            with open(path, errors="replace") as file:
                text = file.read()
            if re.search(r"\bmain\s*\(", text) and "FIXME" not in text:
                yield path


def run(command, folder, limit):
    """Status (None: out of time) and what was said on stderr."""
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, errors="replace", start_new_session=True)
    try:
        said = process.communicate(timeout=limit)[1]
        return process.returncode, said
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None, process.communicate()[1]


def sort(path, flags, limit):
    status, said = run(["nice", LEARN, "try", *flags, path], os.path.dirname(path) or ".", limit)
    lines = [line for line in said.splitlines() if line.strip()]
    finding = next((line for line in lines if line.startswith("emulator: ")), None)
    reason = next((line for line in lines if re.search(
        r"error|does not have|does not run|there is no |cannot read|nowhere defined", line)), "")
    if finding:
        return "accused", finding
    if status is None:
        return "late", ""
    if status == 0:
        return "right", ""
    if status == 1 and any("The other words of the compiler" in line for line in lines) or "error:" in said:
        return "away", reason
    return "fails", f"status {status} {lines[-1] if lines else ''}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=60, help="seconds for each, building included")
    parser.add_argument("--every", type=int, default=1, help="only every n-th")
    parser.add_argument("--nvcc", help="leave out what this nvcc does not compile either")
    parser.add_argument("-I", action="append", default=[], dest="folders")
    parser.add_argument("places", nargs="+")
    asked = parser.parse_args()
    flags = ["-I" + os.path.abspath(folder) for folder in asked.folders]
    counts, reasons = collections.Counter(), collections.Counter()
    for path in list(programs(map(os.path.abspath, asked.places)))[::asked.every]:
        kind, reason = sort(path, flags, asked.limit)
        if kind == "away" and asked.nvcc:
            command = [asked.nvcc, "-arch=sm_80", *flags, "-c", path, "-o", os.devnull]
            if run(command, os.path.dirname(path), 300)[0] != 0:
                kind = "not nvcc's"
        counts[kind] += 1
        if kind == "away":
            reasons[re.sub(r"^.*?:\d+: (error: )?", "", reason)] += 1
        print(f"{kind:10} {os.path.relpath(path)}  {reason}", flush=True)
    print()
    for kind, count in counts.most_common():
        print(f"{count:5} {kind}")
    for reason, count in reasons.most_common():
        print(f"{count:5} turned away: {reason}")


if __name__ == "__main__":
    sys.exit(main())
