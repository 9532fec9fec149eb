#!/usr/bin/env python3
"""Rows of a CPU are added to a file with rows of a GPU, and a second run replaces the first."""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = "op,version,path,dtype,shape,cache,bytes_read,bytes_written,flops,median_s,p10_s,p90_s,limit,share,peer,peer_s"
GPU = ["# a GPU, a driver, a day", "# limits: this GPU: read 4 GB/s", COLUMNS,
       'decode,greedy,,F32,1,cold,1,0,1,1e-3,1e-3,1e-3,read,0.5,"PyTorch, two products",2e-3',
       '"part, of a token",all,,F32,1,cold,0,0,0,1e-3,1e-3,1e-3,read,0,,']


def row(seconds):
    return "decode on a CPU,from position 128,\"cpu, 2 threads\",F32,1,cold,1,0,1,%s,1,1,read,0.5,," % seconds


def put(folder, lines, status=0):
    """The contents of the file after measuring a program that prints `lines`."""
    program, file = folder / "program", folder / "gpt2.csv"
    program.write_text("#!/bin/sh\ncat <<'END'\n%s\nEND\nexit %d\n" % ("\n".join(lines), status))
    program.chmod(0o755)
    ran = subprocess.run([sys.executable, "-B", HERE / "torch_peer.py", "--into", file, program, "cpu"],
                         stderr=subprocess.PIPE, text=True)
    return file.read_text().splitlines(), ran.returncode, ran.stderr


sys.path.insert(0, str(HERE))
import torch_peer  # noqa: E402

for op, version, asked in (("prefill", "prompt", "prefill"), ("prefill on tensor cores", "prompt", "prefill"),
                           ("decode", "greedy", "decode"), ("decode", "temperature 1", None),
                           ("part of a token", "head", None), ("prompt on a CPU", "prompt", None)):
    found = torch_peer.asked_of_torch({"op": op, "version": version, "dtype": "F16", "shape": "128"})
    assert found == (asked and (asked, "F16", "128")), (op, found)
for op, asked in (("prefill", "F32"), ("prefill on tensor cores", "BF16")):
    found = torch_peer.asked_of_torch({"op": op, "version": "prompt", "dtype": "F32", "shape": "128"})
    assert found == ("prefill", asked, "128"), (op, found)

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "gpt2.csv").write_text("\n".join(GPU) + "\n")
    for seconds in ("2e-2", "3e-2"):
        held, status, said = put(folder, ["# CPU: a name, 2 threads", "# limits: this CPU: read 1 GB/s",
                                          COLUMNS, row(seconds)])
        assert status == 0, said
        assert [line for line in held if line in GPU] == GPU, held
        assert held[2].startswith("# CPU: a name, 2 threads") and "# CPU: limits: this CPU: read 1 GB/s" in held, held
        assert held.index(COLUMNS) > held.index("# CPU: limits: this CPU: read 1 GB/s"), held
        assert held[-1] == row(seconds) and sum(" on a CPU" in line for line in held) == 1, held
        assert sum(line.startswith("# CPU: a name") for line in held) == 1, held
    before = held
    for lines, status in (([COLUMNS], 0), ([COLUMNS.replace("share", "part"), row("4e-2")], 0), ([row("4e-2")], 1)):
        held, failed, said = put(folder, lines, status)
        assert held == before and failed, (held, failed, said)
print("rows of a CPU: put in, replaced, and left alone where nothing was measured")
