#!/usr/bin/env python3
"""Counts the published programs that run unchanged under cudatry, and keeps a table of them:

    count.py <folder of clones> [--cudatry cudatry] [--seconds 20] [--jobs 2] [--only words] [--again kind,kind]
    count.py                regenerates the other tables from the table of all programs
    count.py --check        checks that they are up to date

The folder contains clones of the repositories in COLLECTIONS. Every .cu file with a main() counts
if it is a complete program: no exercise to fill in, no second source file. The table is
docs/results/published_programs.csv. Its programs are tried again only if --again names their kind,
so that a count can be made in parts:

    right    exits with status 0, without a report and without printing that it failed
    mistake  is reported for a real bug, or nvcc rejects it too: mistakes.txt has the reason
    accused  is reported, but the report has not been verified yet
    away     does not compile here
    late     did not finish within the time limit of one core, without a report
    device   requires a second GPU or persisting caches (status 2 of NVIDIA's samples)
    fails    exits with another status, or prints that something is wrong

The last column is the fraction of right programs among those without a mistake or missing device.

arguments.txt lists arguments that reduce a program's work, sizes.txt replacements in a copy of its
text. A program with several lines of arguments runs with each, and the first failure counts.
{folder} is a folder with two input files: plain (800 bytes) and key (16 bytes).
"""
import argparse
import collections
import concurrent.futures
import csv
import io
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RESULTS = HERE.parents[2] / "docs/results"
KINDS = ("right", "mistake", "accused", "away", "late", "device", "fails")
COLUMNS = ("collection", "program", "smaller", "result", "why")
# name: folders, extra compiler options, and what is excluded: multi-file programs, and exercises
COLLECTIONS = {
    "llm.c": (["dev/cuda"], [], None),
    "cuda-samples": ([f"Samples/{folder}" for folder in (
        "0_Introduction", "1_Utilities", "2_Concepts_and_Techniques", "3_CUDA_Features")], ["-I{root}/Common"], "several"),
    "SGEMM_CUDA": (["."], ["-I{root}/src", "{root}/src/runner.cu"], None),
    "cuda-course": (["."], [], None),
    "cuda-training-series": (["exercises"], [], "FIXME"),
    "professional-cuda-c-programming": (["examples", "solutions"], ["-I{root}/examples/common"], None),
}


def lines_of_programs(name):
    """{program: [words, ...]} from a file in this folder."""
    found = collections.defaultdict(list)
    with open(HERE / name, encoding="utf-8") as file:
        for program, words in (line.rstrip("\n").split("\t", 1) for line in file if "\t" in line):
            found[program].append(words)
    return found


def is_of_several_files(path):
    """True if the sample's CMakeLists.txt lists more than one source file."""
    recipe = path.parent / "CMakeLists.txt"
    if not recipe.exists():
        return len(list(path.parent.glob("*.cu"))) + len(list(path.parent.glob("*.cpp"))) > 1
    sources = re.findall(r"add_executable\(([^)]*)\)", recipe.read_text())
    return any(len(re.findall(r"\.(?:cu|cpp|c)\b", one)) != 1 for one in sources)


def programs(clones):
    for collection, (folders, options, without) in COLLECTIONS.items():
        root = clones / collection
        for folder in folders:
            for path in sorted((root / folder).rglob("*.cu")):
                text = path.read_text(errors="replace")
                if not re.search(r"\bmain\s*\(", text) or "src" in path.relative_to(root).parts:
                    continue
                if (without == "FIXME" and without in text) or (without == "several" and is_of_several_files(path)):
                    continue
                yield collection, root, path, [option.format(root=root) for option in options]


def cut(name, path, folder):
    """A copy with smaller sizes, and their list; the file itself and "" if there are none."""
    text, made = path.read_text(errors="replace"), []
    for line in (HERE / "sizes.txt").read_text().splitlines():
        which, _, rule = line.partition("\t")
        if not rule or line.startswith("#") or not re.search(which, name):
            continue
        pattern, smaller = rule.split("\t")
        text, count = re.subn(pattern, smaller.replace("\\", r"\\"), text)
        made += [smaller.strip(";")] if count else []
    if not made:
        return path, ""
    copy = pathlib.Path(folder) / path.name
    copy.write_text(text)
    return copy, ", ".join(made)


def run(command, folder, seconds):
    """Status (None: timeout), stdout and stderr."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    with tempfile.TemporaryFile("w+", errors="replace") as printed, tempfile.TemporaryFile("w+", errors="replace") as said:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=printed, stderr=said,
                                   preexec_fn=limit, start_new_session=True)
        try:
            status = process.wait(10 * seconds)  # wall-clock time, since the machine may be busy
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            status = process.wait()
        printed.seek(0)
        said.seek(0)
        return (None if status in (-9, -24, 137, 152) else status), printed.read(1 << 20), said.read(1 << 20)


def sort(command, path, seconds):
    status, printed, said = run(command, path.parent, seconds)
    lines = [line for line in said.splitlines() if line.strip()]
    finding = next((line for line in lines if line.startswith("emulator: ")), None)
    if finding:
        return "accused", finding[len("emulator: "):]
    if status is None:
        return "late", ""
    if "invalid device ordinal" in said:
        return "device", "wants a second device"
    if status == 1 and not printed and re.search(r"^\S+:\d+: |error:|nowhere defined|does not have|there is no ", said, re.M):
        return "away", next(line for line in lines if re.search(r"error|nowhere|does not have|there is no|:\d+: ", line))
    bad = re.search(r"^.*\b(FAIL\w*|[Ff]ailed|FAILURE|[Mm]ismatch\w*|do not match|incorrect|wrong)\b.*$", printed, re.M)
    if status == 0 and not bad:
        return "right", ""
    if status == 2 and "aiv" in printed:
        return "device", (printed.strip().splitlines() or [""])[-1]
    return "fails", f"status {status}: {bad[0].strip() if bad else (lines or printed.strip().splitlines() or [''])[-1]}"


def tables(known):
    """{file: text} of the tables; the emulator's page shows the first and the last."""
    def table(head, rows):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([head, *rows])
        return text.getvalue()

    rows = [known[key] for key in sorted(known)]
    counts = collections.Counter((row["collection"], row["result"]) for row in rows)
    names = [name for name in COLLECTIONS if any(c == name for c, _ in counts)]
    lines = []
    for name in [*names, "all"]:
        of = {kind: sum(n for (c, k), n in counts.items() if k == kind and name in (c, "all")) for kind in KINDS}
        able = sum(of.values()) - of["mistake"] - of["device"]
        lines.append([name, *of.values(), f"{100 * of['right'] / max(able, 1):.0f} %"])
    return {RESULTS / f"published_{name}.csv": text for name, text in (
        ("counts", table(["collection", *KINDS, "of the able"], lines)),
        ("programs", table(COLUMNS, [[row[column] for column in COLUMNS] for row in rows])),
        ("others", table(["result", "program", "why"], [
            [row["result"], f"{row['collection']}/{row['program']}", row["why"]]
            for row in sorted(rows, key=lambda row: KINDS.index(row["result"])) if row["result"] != "right"])))}


def write(known):
    for file, text in tables(known).items():
        file.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=pathlib.Path, nargs="?")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--cudatry", default="cudatry")
    parser.add_argument("--seconds", type=int, default=20, help="of one core, for each program")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="programs whose path holds this regular expression")
    parser.add_argument("--again", default="", help="kinds to be tried again")
    asked = parser.parse_args()
    table = RESULTS / "published_programs.csv"
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines())) if table.exists() else []
    known = {(row["collection"], row["program"]): row for row in rows}
    if asked.check:
        stale = [file.name for file, text in tables(known).items() if file.read_text(encoding="utf-8") != text]
        sys.exit(f"{', '.join(stale)}: not what {table.name} says; count.py writes them anew" if stale else 0)
    if not asked.clones:
        if asked.only or asked.again:
            parser.error("--only and --again choose among programs: name the folder of clones")
        return write(known)
    arguments, mistakes = lines_of_programs("arguments.txt"), lines_of_programs("mistakes.txt")

    def try_one(key, path, options):
        name = "/".join(key)
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "plain").write_bytes(bytes(range(200)) * 4)
            (pathlib.Path(folder) / "key").write_bytes(bytes(range(16)))
            file, smaller = cut(name, path, folder)
            command = ["env", f"CUDATRY_FOLDER={folder}", asked.cudatry, "-I" + str(path.parent), *options, str(file), "--"]
            for given in arguments.get(name, [""]):
                given = given.replace("{folder}", folder)
                kind, why = sort([*command, *shlex.split(given)], path, asked.seconds)
                if kind != "right":
                    break
                command = [f"{folder}/program"]  # already built
        if kind in ("accused", "away", "fails") and name in mistakes:
            kind, why = "mistake", mistakes[name][0]
        why = re.sub(r"/\S*/(?=[^/\s])", "", why)[:200]
        return {"collection": key[0], "program": key[1], "smaller": ", ".join(arguments.get(name, [])) or smaller, "result": kind, "why": why}

    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        tries = []
        for collection, root, path, options in programs(asked.clones.resolve()):
            key = collection, str(path.relative_to(root))
            wanted = key not in known or known[key]["result"] in asked.again.split(",")
            if wanted and re.search(asked.only, "/".join(key)):
                tries.append(pool.submit(try_one, key, path, options))
        for done in concurrent.futures.as_completed(tries):
            row = done.result()
            known[row["collection"], row["program"]] = row
            print(f"{row['result']:8} {row['collection']}/{row['program']}  {row['why']}", flush=True)
            write(known)


if __name__ == "__main__":
    sys.exit(main())
