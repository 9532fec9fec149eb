#!/usr/bin/env python3
"""What compute-sanitizer says of the wrong kernels of a day, beside what the emulator says.

On a machine with an NVIDIA GPU, after `cmake --workflow --preset gpu`:

    common/emulator/compare/sanitizer.py build/gpu/bin day01 > common/emulator/compare/sanitizer.csv
"""
import pathlib
import re
import subprocess
import sys


def run(*command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout


def emulator_says(program):
    text = re.sub(r"\s+", " ", run(program, "[small]"))
    found = re.search(r"(\w+\.cu:\d+): thread .*? (reads|writes) (\d+) bytes.*?: ([\w ]+ its end)", text)
    if found:
        return f"{found[1]}: {found[2]} {found[3]} bytes {found[4]}"
    if "Never written" in text:
        return "value: elements never written"
    if "rows and columns swapped" in text:
        return "value: rows and columns swapped?"
    if "touched->" in text:
        return "access report: " + re.search(r"touched->\w+ == port.\w+|touched->\w+ == [^)]*", text)[0]
    return "nothing in [small]; see the tier in its source"


def sanitizer_says(tool, program):
    text = run("compute-sanitizer", "--tool", tool, program)
    said = []
    for pattern in (r"Invalid __global__ \w+ of size \d+ bytes", r"Host API uninitialized memory access",
                    r"Uninitialized __global__ memory read[^\n]*"):
        count = len(re.findall(pattern, text))
        if count:
            said.append(f"{re.search(pattern, text)[0]} ({count} times shown)")
    return "; ".join(said) or "nothing"


def main():
    folder, day = pathlib.Path(sys.argv[1]), sys.argv[2]
    print("wrong kernel,emulator,memcheck,initcheck")
    for program in sorted(folder.glob(f"{day}_wrong_*_gpu")):
        emulated = str(program)[: -len("_gpu")]
        print(",".join([program.name[len(day) + 7 : -4], emulator_says(emulated),
                        sanitizer_says("memcheck", str(program)),
                        sanitizer_says("initcheck", str(program))]))


if __name__ == "__main__":
    main()
