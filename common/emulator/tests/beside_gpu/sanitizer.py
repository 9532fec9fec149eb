#!/usr/bin/env python3
"""Compares compute-sanitizer with the emulator on the bugs of ../mistakes/ and ../../published.

After `cmake --workflow --preset gpu`, in this folder:

    sanitizer.py ../../../../build/gpu/bin mistakes > whole.csv
    sanitizer.py ../../../../build/gpu/bin mistakes --resume mistakes_h200.csv > whole.csv
    sanitizer.py mistakes_h200.csv counts > ../../../../docs/results/mistakes_counts.csv

The second runs only what is missing: a complete row is kept if the emulator still reports the same
kind and line. Without a GPU the first two fill only the emulator's columns (the others: `not run`).
The third counts the rows that ran, by kind: how many the emulator and each tool detect.

Each row is printed as soon as it is complete. With two GPUs: --gpus 2.

A cell in parentheses is what the program itself encountered; any other cell is the tool's
report: `(hangs)`, `(cudaErrorIllegalAddress)`, `line 18: Invalid __global__ read of size 4 bytes`.
"""
import argparse
import collections
import concurrent.futures
import csv
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
HEAD = ("mistake", "emulator", "line", "alone", *TOOLS)
PREFIX = "========= "
# messages by the tool itself, and errors that the CUDA API returns anyway
NOT_A_FINDING = re.compile(
    r"COMPUTE-SANITIZER|\w+ SUMMARY|Program hit|Target application returned|"
    r"(Error: )?process didn't terminate|Saved host backtrace|Warning: (Could not|Unable)")
UNNOTICED = ("no error", "wrong values")  # by the program itself
TOOL_FAILED = re.compile(r"(Error: (?!Race)|Internal ).*", re.IGNORECASE)


def run(command, seconds=600, device=None):
    """Its output, and whether it was killed. A pipe would wait for orphaned children to exit."""
    seen = {} if device is None else {"CUDA_VISIBLE_DEVICES": str(device)}
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **seen},
                                   stdin=subprocess.DEVNULL, start_new_session=True)
        killed = False
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            killed = True
            os.killpg(process.pid, signal.SIGKILL)  # the tool and its program
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                pass  # the driver still holds it
        output.seek(0)
        return output.read(), killed


def first_finding(text):
    """The first report of a tool as `line 12, 14: sentence`, or "" if there is none."""
    said = [line[len(PREFIX):] for line in text.splitlines() if line.startswith(PREFIX)]
    for at, line in enumerate(said):
        if not line.strip() or line.startswith(" ") or NOT_A_FINDING.match(line):
            continue
        if TOOL_FAILED.match(line):
            return f"(the tool failed: {line.strip()})"
        block = [line]
        for more in said[at + 1:]:
            if not more.startswith(" ") or "host backtrace" in more or "Host Frame" in more:
                break
            block.append(more)
        lines = re.findall(r"\b[a-z_]+\.cu:(\d+)", "\n".join(block))
        # `Race reported between Read access at 0x10 in a.cu:12:k(float *)`: cut at the position
        sentence = re.sub(r"(?<=access) at .*", "", line).strip()
        where = f"line {', '.join(dict.fromkeys(lines))}: " if lines else ""
        return where + sentence
    return ""


def program_says(text):
    """The last line of the program's own output."""
    own = [line for line in text.splitlines() if line.strip() and not line.startswith("===")]
    return own[-1].strip() if own else "nothing said"


def cell(text, killed, seconds):
    """The table cell for a run under a tool."""
    finding = first_finding(text)
    met = f"killed after {seconds} s" if killed else program_says(text)
    if finding:  # or a failure of the tool
        return finding + ("; (hangs)" if killed or met == "hangs" else "")
    return "nothing" if met in UNNOTICED else f"({met})"


def machine(sanitizer):
    """The GPU, its driver and the tool's version, as a comment for the table."""
    said = []
    for command in (["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                    [sanitizer, "--version"]):
        try:
            said += run(command, 20)[0].strip().splitlines()[-1:]
        except OSError:
            said.append(f"{command[0]} was not found")
    return "# " + "; ".join(said)


def emulator_says(program, name):
    """(kind, line), or ("nothing", "")."""
    text, killed = run([program, name], 60)
    found = re.match(r"(\w+) (\d+)\n", text)
    if killed or not found:
        return "no answer", ""
    return found[1], "" if found[2] == "0" else found[2]


class Mistakes:
    """The table, one row per bug; each run is a separate process.

    After an illegal access, or when a kernel is killed, a GPU blocks all other processes for
    seconds. So programs that fail this way without a tool run under the tools last, on the last
    GPU, a few at a time; otherwise the others would time out.
    """

    def __init__(self, options):
        self.options = options
        self.emulated = f"{options.folder}/emulator_mistakes"
        self.gpu = f"{options.folder}/emulator_mistakes_cuda"
        self.log = open(options.log, "w", encoding="utf-8") if options.log else None
        self.end = 0.0

    def gpu_answers(self, name):
        """Why the sanitizer cannot use a GPU; empty if it can."""
        if not os.path.exists(self.gpu):
            return "emulator_mistakes_cuda was not built"
        text, killed = run([self.gpu, name], self.options.timeout)
        if killed or program_says(text).startswith("cudaMalloc"):
            return "no GPU: " + program_says(text)
        try:
            run([self.options.sanitizer, "--version"], self.options.timeout)
        except OSError as error:
            return str(error)
        return ""

    def run_one(self, name, tool, device):
        if time.monotonic() > self.end:
            return ("no answer", "") if tool == "emulator" else "not run"
        if tool == "emulator":
            return emulator_says(self.emulated, name)
        command = [self.gpu, name]
        if tool != "alone":
            command = [self.options.sanitizer, "--tool", tool, *command]
        text, killed = run(command, self.options.timeout, device)
        if self.log:
            self.log.write(f"##### {name} {tool}{' KILLED' if killed else ''}\n{text[:6000]}\n")
            self.log.flush()
        if tool == "alone":
            return "hangs" if killed else program_says(text)
        return cell(text, killed, self.options.timeout)

    def start(self, calm, rough):
        """Starts all these runs, (name, tool); returns a future for each result."""
        calm, rough = collections.deque(calm), collections.deque(rough)
        answers = {one: concurrent.futures.Future() for one in [*calm, *rough]}

        def worker(device, lists):
            for runs in lists:
                while runs:
                    try:
                        one = runs.popleft()
                    except IndexError:  # another worker took the last one
                        break
                    try:
                        answers[one].set_result(self.run_one(*one, device))
                    except OSError as error:  # otherwise the caller would wait forever
                        answers[one].set_exception(error)

        gpus = max(self.options.gpus, 1)
        for turn in range(self.options.jobs):
            device = turn % gpus
            lists = [calm]
            if rough and device == gpus - 1:
                few = [rough] if turn // gpus < self.options.rough_jobs else []
                lists = [calm, *few] if gpus == 1 else [*few, calm] if few else []
            threading.Thread(target=worker, args=(device, lists), daemon=True).start()
        return answers

    def answers(self, runs):
        return {one: answer.result() for one, answer in self.start(runs, []).items()}

    def print(self):
        names = self.options.only.split(",") if self.options.only else run([self.emulated])[0].split()
        why_not = self.gpu_answers("no_guard")
        if why_not:
            print(f"compute-sanitizer is not run: {why_not}", file=sys.stderr)
        tools = ["emulator"] if why_not else ["emulator", "alone", *TOOLS]
        origin, before = read(self.options.resume) if self.options.resume else ("", {})
        if not why_not:
            here = machine(self.options.sanitizer)
            if before and origin != here:
                sys.exit(f"{self.options.resume} comes from `{origin}`, and this is `{here}`: rows of both would be no table")
            origin = here
        if origin:
            print(origin)
        rows = []
        table = csv.DictWriter(sys.stdout, HEAD, lineterminator="\n")
        table.writeheader()
        self.end = time.monotonic() + self.options.within
        said = self.answers((name, "emulator") for name in names)
        kept = {name: before[name] for name in names if name in before and ran(before[name])
                and (before[name]["emulator"], before[name]["line"]) == said[name, "emulator"]}
        left = [name for name in names if name not in kept]
        said |= self.answers((name, "alone") for name in left if not why_not)
        by_itself = {name for name in left if said.get((name, "alone"), "") in UNNOTICED}
        # Failed runs are repeated without a tool too: another program may be the cause.
        answers = self.start([(name, tool) for name in left if name in by_itself for tool in tools[2:]],
                             [(name, tool) for name in left if name not in by_itself for tool in tools[1:]])
        for name in names:  # print each row as soon as it and all earlier rows are complete
            for tool in tools[1:]:
                if (name, tool) in answers:
                    said[name, tool] = answers[name, tool].result()
            rows.append(kept.get(name) or dict(zip(HEAD, [
                name, *said[name, "emulator"], *(said.get((name, tool), "not run") for tool in HEAD[3:])])))
            table.writerow(rows[-1])
            sys.stdout.flush()
        print_sums(rows, tools)


def notices(row, who):
    """True if this column of a table row reports a bug."""
    if who == "any tool":
        return any(notices(row, tool) for tool in TOOLS)
    unnoticed = (*UNNOTICED, "nothing", "no answer", "not run")
    return row[who] not in unnoticed and (who == "alone" or not row[who].startswith("("))


def print_sums(rows, tools):
    """Prints to stderr how many bugs each finds, and the tools together."""
    right = [row for row in rows if row["mistake"].endswith(".right")]
    wrong = [row for row in rows if row not in right]
    accused = [f"{row['mistake']} ({tool})" for row in right for tool in tools if notices(row, tool)]
    print(f"of {len(right)} right ones {len(accused)} are accused: {' '.join(accused)}", file=sys.stderr)
    for tool in tools:
        found = sum(notices(row, tool) for row in wrong)
        said = "without a tool {} of {} return an error or hang" if tool == "alone" else tool + " finds {} of {}"
        print(said.format(found, len(wrong)), file=sys.stderr)
    if len(tools) > 1:
        lost = [row["mistake"] for row in wrong if not notices(row, "any tool")]
        print(f"none of the four tools finds {len(lost)}: {' '.join(lost)}", file=sys.stderr)


def read(path):
    """A table as (the machine it comes from, {mistake: row})."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    notes = [line for line in lines if line.startswith("#")]
    return "".join(notes), {row["mistake"]: row for row in csv.DictReader(line for line in lines if line not in notes)}


def ran(row):
    return "not run" not in row.values()


def print_counts(path):
    """Per kind: the rows that ran, how many of them each column detects, and those not run."""
    kinds = collections.defaultdict(list)
    for name, row in read(path)[1].items():
        kinds["(right)" if name.endswith(".right") else row["emulator"]].append(row)
    kinds["all"] = [row for kind, some in kinds.items() if kind != "(right)" for row in some]
    who = ("emulator", "alone", *TOOLS, "any tool")
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["kind", "ran", *who, "not run"])
    for kind, some in sorted(kinds.items(), key=lambda one: (one[0] in ("(right)", "all"), one[0] == "all", -len(one[1]))):
        both = [row for row in some if ran(row)]
        table.writerow([kind, len(both), *(sum(notices(row, one) for row in both) for one in who), len(some) - len(both)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="where the programs were built: build/gpu/bin; or, to count, the table")
    parser.add_argument("what", choices=("mistakes", "counts"))
    parser.add_argument("--resume", help="a table that is to be completed")
    parser.add_argument("--jobs", type=int, default=24, help="processes at a time")
    parser.add_argument("--rough-jobs", type=int, default=6,
                        help="of these, for programs that hang or fail by themselves")
    parser.add_argument("--gpus", type=int, default=1, help="of this machine, used in turn")
    parser.add_argument("--timeout", type=int, default=15, help="seconds, then a process is killed")
    parser.add_argument("--within", type=int, default=600, help="seconds, then nothing more is begun")
    parser.add_argument("--sanitizer", default="compute-sanitizer")
    parser.add_argument("--only", help="these mistakes: no_guard,one_before")
    parser.add_argument("--log", help="a file for everything that the programs said")
    options = parser.parse_args()
    if options.what == "mistakes":
        Mistakes(options).print()
    else:
        print_counts(options.folder)


if __name__ == "__main__":
    main()
