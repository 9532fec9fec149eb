#!/usr/bin/env python3
"""Tests the wheel in notebooks: notebook_tests.py <wheel> [--write]

Runs docs/examples/first_kernel.ipynb, whose outputs must be those in the file (--write puts them there), and
cells that fail in many ways. It needs nbclient and ipykernel.
"""
import asyncio
import concurrent.futures
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import nbclient
import nbformat

EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "docs/examples/first_kernel.ipynb"
LOAD = "%load_ext cudatry"
PROGRAM = """
#include <cstdio>
#include "helper.cuh"
int main(int argc, char** argv) {
    std::printf("%d", N + twice(1));
    for (int i = 1; i < argc; ++i) std::printf(" [%s]", argv[i]);
    std::fclose(std::fopen("written", "w"));
}"""
ENDLESS = """%%cuda
#include <cstdio>
__global__ void endless(volatile int* a) { while (*a == 0) {} }
int main() {
    int* a;
    cudaMalloc(&a, sizeof(int));
    cudaFree(a + 1);
    cudaMemset(a, 0, sizeof(int));
    std::puts("it begins"), std::fflush(stdout);
    endless<<<1, 1>>>(a);
    cudaDeviceSynchronize();
}"""
# The cell, and regular expressions for its complete stdout, stderr and error.
CELLS = [
    ("%%cuda -DN=5 -- x 'y z' --trace" + PROGRAM, r"7 \[x\] \[y z\] \[--trace\]", "", ""),
    ("%%cuda\n__global__ void k() {}", r"cell\.cu has no main\(\), so it cannot be run as a program\.\n", "", ""),
    ("%%cuda\n\nint main() {\n    int x = name;\n}", r"cell\.cu: In .*\ncell\.cu:4:13: error: 'name' was not (.|\n)*", "", ""),
    ("%%cuda\n#include <cusparse.h>\nint main() {}", r"cell\.cu:2: the emulator does not have cusparse\.h, .*\n", "", ""),
    ("%%cuda --fast\nint main() {}", r"Unknown option --fast\. cudatry --help lists the options\.\n", "", ""),
    ("%%cuda none.cu\nint main() {}", r"There is no file none\.cu\.\n", "", ""),
    ("%%cuda -DN='1\nint main() {}", "", "UsageError: %%cuda -DN='1: No closing quotation\n", ""),
    ("%%cuda\nint main() { __builtin_trap(); }", r"The program was terminated by signal SIGILL\.\n", "", ""),
    ("%%cuda\nint main() { int* a; cudaMalloc(&a, 4); }", "",
     r"emulator, note: 1 allocation \(4 bytes\) of (.|\n)* cell\.cu:2\.\n", ""),
]
failures = []


def client(notebook, folder):
    return nbclient.NotebookClient(notebook, kernel_name="python3", timeout=300, record_timing=False,
                                   coalesce_streams=True, allow_errors=True, extra_arguments=["--log-level=ERROR"],
                                   resources={"metadata": {"path": str(folder)}})


def new_notebook(cells):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])


def run_cells(cells, folder):
    notebook = new_notebook(cells)
    client(notebook, folder).execute()
    return all_outputs(notebook)


def all_outputs(notebook):
    return [outputs(cell) for cell in notebook.cells if cell.cell_type == "code"]


def outputs(cell):
    """What the cell has shown, by stream; an error as its name and text."""
    found = {"stdout": "", "stderr": "", "error": ""}
    for output in cell.outputs:
        if output.output_type == "error":
            found["error"] = f"{output.ename}: {output.evalue}"
        else:
            found[output.name] += output.text
    return found


def expect(what, holds, shown):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}\n    {shown}")


def test_example(folder, write):
    notebook = nbformat.read(EXAMPLE, 4)
    wanted = all_outputs(notebook)
    client(notebook, folder).execute()
    shown = all_outputs(notebook)
    if write:
        notebook.metadata.language_info = {"name": "python"}  # without the version
        nbformat.write(notebook, EXAMPLE)
    elif shown != wanted:
        for number, (now, before) in enumerate(zip(shown, wanted), 1):
            expect(f"code cell {number} of {EXAMPLE.name} shows what is in the file", now == before, (now, before))


def test_cells(folder):
    (folder / "helper.cuh").write_text("inline int twice(int x) { return 2 * x; }\n")
    shown = run_cells([LOAD, *(cell[0] for cell in CELLS)], folder)
    for (cell, *wanted), now in zip(CELLS, shown[1:]):
        for stream, pattern in zip(("stdout", "stderr", "error"), wanted):
            expect(f"{stream} of {cell!r} is {pattern!r}", re.fullmatch(pattern, now[stream]), now)
    expect("a program's files are in the notebook's folder", (folder / "written").exists(), os.listdir(folder))


async def interrupt(notebook, folder):
    """Executes the notebook, and interrupts its second cell once it has printed something."""
    ours = client(notebook, folder)
    task = asyncio.create_task(ours.async_execute())
    while not task.done() and not notebook.cells[1].outputs:
        await asyncio.sleep(0.1)
    await ours.km.interrupt_kernel()
    await task
    return all_outputs(notebook)


def test_interrupt(folder):
    shown = asyncio.run(interrupt(new_notebook([LOAD, ENDLESS, "print('next')"]), folder))
    expect("an interrupted cell shows what was printed", shown[1]["stdout"] == "it begins\n", shown)
    expect("and what was found", shown[1]["stderr"].startswith("emulator: cell.cu:7: cudaFree: "), shown)
    expect("and that it was interrupted", shown[1]["error"].startswith("KeyboardInterrupt"), shown)
    expect("the notebook goes on", shown[2]["stdout"] == "next\n", shown)
    left = [name for name in pathlib.Path("/proc").glob("[0-9]*/cmdline") if is_ours(name)]
    expect("no program is left running", not left, left)


def is_ours(name):
    with contextlib.suppress(OSError):
        return f"{tempfile.gettempdir()}/".encode() in name.read_bytes()


def test_two_at_once(folder):
    def number(n):
        cell = f'%%cuda -DN={n}\n#include <cstdio>\nint main() {{ std::printf("%d", N); }}'
        return run_cells([LOAD, cell], folder)[1]["stdout"]

    with concurrent.futures.ThreadPoolExecutor() as threads:
        shown = list(threads.map(number, (1, 2)))
    expect("two notebooks at once", shown == ["1", "2"], shown)


def test_without_tools(folder):
    os.environ["PATH"] = str(folder / "tools")
    (folder / "tools").mkdir()
    for tool in "bash cat grep mkdir mktemp readlink rm".split():
        (folder / "tools" / tool).symlink_to(shutil.which(tool, path=os.defpath))
    shown = run_cells([LOAD, "%%cuda\nint main() {}", "%%cuda --gpu\nint main() {}"], folder)
    expect("no g++", shown[1]["stdout"].startswith("g++ 11 or newer was not found."), shown)
    expect("no GPU", shown[2]["stdout"].startswith("No GPU was found (nvidia-smi). Without --gpu "), shown)


def main():
    wheel, *write = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="a notebook ") as scratch:
        scratch = pathlib.Path(scratch)
        folder, temporary, site = (scratch / name for name in ("folder", "temporary", "site"))
        folder.mkdir()
        temporary.mkdir()
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-index", "--target", site, wheel], check=True)
        os.environ.update(PYTHONPATH=str(site), PYTHONDONTWRITEBYTECODE="1", TMPDIR=str(temporary), HOME=str(scratch))
        tempfile.tempdir = str(temporary)
        test_example(folder, bool(write))
        if not write:
            test_cells(folder)
            test_two_at_once(folder)
            test_interrupt(folder)
            test_without_tools(folder)
            expect("no folder is left", not list(temporary.glob("cudatry.*")), os.listdir(temporary))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
