#!/usr/bin/env python3
"""Runs torch_peer.py with a fake PyTorch and a fake program: no GPU is needed.

The fake GPU has its own clock: an operation takes 1 ms per call, or the time in `slow`.
"""
import contextlib
import csv
import io
import pathlib
import sys
import tempfile
import types

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import torch_peer  # noqa: E402

CSV = """# a device
# limits
op,version,path,dtype,shape,cache,bytes_read,bytes_written,flops,median_s,p10_s,p90_s,limit,share,peer,peer_s
add,loop,,float32,16,cold,128,64,16,1e-3,1e-3,1e-3,copy,0.9,,
add,"one, two",,float32,64x4,cold,2048,1024,256,2e-3,1e-3,3e-3,copy,0.5,,
add,again,,float32,64x4,cold,2048,1024,256,2e-3,1e-3,3e-3,copy,0.5,,
add,graph,,float32,9,warm,72,36,9,2e-3,1e-3,3e-3,copy,0.5,,
invert,known,,uint8,8,cold,8,8,0,2e-3,1e-3,3e-3,copy,0.5,cub,1e-3
fill,matrix,,float32,8,cold,0,32,0,2e-3,1e-3,3e-3,write,0.5,,
square,all,,float32,100000000,cold,400000000,400000000,1,2e-3,1e-3,3e-3,copy,0.5,,
# after
"""


class Pretended(types.ModuleType):
    """The part of PyTorch that is used. `calls`: (name, shape, address of out) of each call."""

    def __init__(self):
        super().__init__("torch")
        self.__version__ = "9.9"
        self.float32, self.uint8 = "float32", "uint8"
        self.calls, self.now, self.slow = [], 0.0, {}
        torch = self

        class Event:
            def __init__(self, enable_timing):
                assert enable_timing

            def record(self):
                self.at = torch.now

            def synchronize(self):
                pass

            def elapsed_time(self, stop):
                return stop.at - self.at

        self.cuda = types.SimpleNamespace(
            is_available=lambda: True, Event=Event,
            get_device_properties=lambda device: types.SimpleNamespace(L2_cache_size=6144))

    def rand(self, shape, dtype, device):
        assert device == "cuda"
        return types.SimpleNamespace(shape=shape, dtype=dtype)

    def operation(self, name, x, out):
        self.calls.append((name, x.shape, id(out)))
        self.now += self.slow.get(name, 1.0)

    def add(self, a, b, out):
        assert a is not b and a is not out and b is not out
        self.operation("add", a, out)

    def mul(self, a, b, out):
        self.operation("mul", a, out)


def said(action):
    """What it printed, and its exit message, if it exited."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            action()
        except SystemExit as end:
            return out.getvalue(), str(end.code)
    return out.getvalue(), ""


def program_in(folder, text, status=0):
    path = pathlib.Path(folder) / "day01_flat_memory"
    path.write_text(f"#!/usr/bin/env python3\nimport sys\nassert sys.argv[1:] == ['--bench']\n"
                    f"print('''{text}''', end='')\nsys.exit({status})\n")
    path.chmod(0o755)
    return str(path)


def test_columns_are_filled(folder):
    torch = sys.modules["torch"] = Pretended()
    torch.slow = {"mul": 0.03125}  # 31.25 us: measured in batches
    printed, ended = said(lambda: torch_peer.main([program_in(folder, CSV)]))
    assert ended == "", ended
    lines = printed.splitlines()
    assert lines[:3] == ["# a device", "# limits", "# torch 9.9, measured before and after"], lines
    assert lines[-1] == "# after", lines
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    peers = [(row["peer"], row["peer_s"]) for row in rows]
    assert peers == [("", ""), ("torch.add", "1.0000e-03"), ("torch.add", "1.0000e-03"), ("", ""),
                     ("cub", "1e-3"), ("", ""), ("torch.mul", "3.1250e-05")], peers
    assert rows[1]["version"] == "one, two"
    # 51 measurements and 3 to warm up, before and after; the two rows of one shape share them.
    adds = [call for call in torch.calls if call[0] == "add"]
    assert len(adds) == 2 * 54, len(adds)
    assert {call[1] for call in adds} == {(64, 4)}
    # 3,072 bytes per set and a cache of 6,144: 5 sets in turn.
    outs = [call[2] for call in adds[:54]]
    assert len(set(outs)) == 5 and outs[5:] == outs[:-5]
    muls = [call for call in torch.calls if call[0] == "mul"]
    # 32 runs of 31 us fill a millisecond between two events.
    assert len(muls) == 2 * (3 + 32 * 51), len(muls)
    assert len({call[2] for call in muls[:100]}) == 1


def test_what_is_missing_is_said(folder):
    sys.modules["torch"] = None  # import fails
    program = program_in(folder, CSV)
    printed, ended = said(lambda: torch_peer.main([program]))
    assert printed == "" and "PyTorch is missing" in ended, ended
    printed, ended = said(lambda: torch_peer.main([program, "--dry-run"]))
    assert "add is torch.add" in printed and "PyTorch is missing" in printed and ended == ""
    torch = sys.modules["torch"] = Pretended()
    torch.cuda.is_available = lambda: False
    _, ended = said(lambda: torch_peer.main([program]))
    assert "9.9 finds no GPU" in ended, ended
    torch.cuda.is_available = lambda: True
    printed, ended = said(lambda: torch_peer.main(["nowhere/day01_flat_memory", "--dry-run"]))
    assert "day01_flat_memory is missing" in printed and "Nothing is missing" in printed
    for words in ([], ["a", "b"], ["--speed"]):
        _, ended = said(lambda: torch_peer.main(words))
        assert "which program?" in ended, ended
    _, ended = said(lambda: torch_peer.main(["day99_nothing"]))
    assert "names no peers" in ended, ended
    assert torch.calls == []


def test_a_failed_bench_is_no_result(folder):
    sys.modules["torch"] = Pretended()
    printed, ended = said(lambda: torch_peer.main([program_in(folder, CSV, 1)]))
    assert printed == "" and "ended with status 1" in ended, ended
    printed, ended = said(lambda: torch_peer.main([program_in(folder, "# nothing\n")]))
    assert printed == "" and "printed no columns" in ended, ended


def test_drift_is_told(folder):
    torch = sys.modules["torch"] = Pretended()
    plain = torch_peer.measure_rows

    def slower_the_second_time(*arguments):
        plain(*arguments)
        torch.slow = {"add": 1.2}

    torch_peer.measure_rows = slower_the_second_time
    try:
        printed, _ = said(lambda: torch_peer.main([program_in(folder, CSV)]))
    finally:
        torch_peer.measure_rows = plain
    assert "# warning: torch's add float32 64x4 took +20 % longer the second time" in printed


def main():
    tests = [test for name, test in sorted(globals().items()) if name.startswith("test_")]
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            test(folder)
    print(f"{len(tests)} tests passed")


if __name__ == "__main__":
    main()
