"""The Python package cudatry: the command cudatry, and for notebooks the cell magic %%cuda.

    %load_ext cudatry

    %%cuda --trace -DN=7 -- arguments of the program
    ...
"""
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

COMMAND = Path(__file__).parent / "bin" / "cudatry"


def main():
    os.execv(COMMAND, [COMMAND, *sys.argv[1:]])


def load_ipython_extension(shell):
    shell.register_magic_function(cuda, "cell")


def cuda(line, cell):
    """Compile this cell, a complete CUDA program, and run it on the emulator: %%cuda [options] [-- arguments].

    The options are those of the command cudatry; --help lists them. --gpu compiles with nvcc and runs on this
    machine's GPU. Reports count lines as the notebook does, where %%cuda is line 1. Headers are looked for in the
    notebook's folder.
    """
    try:
        options = shlex.split(line)
    except ValueError as error:
        from IPython.core.error import UsageError

        raise UsageError(f"%%cuda {line}: {error}") from None
    arguments = []
    if "--" in options:
        end = options.index("--")
        options, arguments = options[:end], options[end + 1:]
    with tempfile.TemporaryDirectory(prefix="cudatry.") as folder:
        source, findings = Path(folder, "cell.cu"), Path(folder, "findings.json")
        source.write_text(f'#line 2 "cell.cu"\n{cell}', encoding="utf-8")
        if not {"--gpu", "--debug", "--watch"} & set(options):
            options.insert(0, f"--json={findings}")
        # In its own process group, so that an interrupt ends the program too.
        with subprocess.Popen([COMMAND, f"-I{os.getcwd()}", *options, source, "--", *arguments],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, encoding="utf-8", errors="replace", start_new_session=True,
                              env={**os.environ, "CUDATRY_AMONG": folder}) as run:
            try:
                for text in run.stdout:
                    print(text.replace(f"{folder}/", ""), end="", flush=True)
                run.wait()
            finally:
                stop(run)
                show(findings)


def stop(run):
    for number in signal.SIGINT, signal.SIGKILL:
        if run.poll() is None:
            os.killpg(run.pid, number)
            try:
                run.wait(timeout=5)
            except subprocess.TimeoutExpired:
                pass


def show(file):
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    if not text:  # without --json, or killed
        return
    document = json.loads(text)
    texts = [f"emulator: {finding['text']}" for finding in document["findings"]]
    texts += [f"emulator, note: {note}" for note in document["notes"]]
    for text in texts:  # notebooks break lines inside words
        print(textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False), file=sys.stderr)
