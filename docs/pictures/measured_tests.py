#!/usr/bin/env python3
"""measured.py against numbers worked by hand: where a bar ends, where a point and the line lie."""
import pathlib
import re
import sys
import tempfile
import xml.dom.minidom

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "site")]
import day01  # noqa: E402
import measured  # noqa: E402
import run_tests  # noqa: E402

CSV = """# A <device>, driver 1
# limits: this CPU core: copy 1, read 2, write 3 GB/s, fma 4 GFLOP/s
# limits: this GPU: copy 3500, read 4000, write 4500 GB/s, fma 60000 GFLOP/s
op,version,path,dtype,shape,cache,bytes_read,bytes_written,flops,median_s,p10_s,p90_s,limit,share,peer,peer_s
add,loop,,float32,8,cold,64,32,8,8e-3,8e-3,8e-3,copy,0.5000,,
mul,loop,,float32,8,cold,64,32,7,7e-3,8e-3,8e-3,fma,0.5000,,
add,"a < b, c",,float32,8,cold,64000000,32000000,8,2e-3,2e-3,2e-3,copy,0.5000,torch.add,1e-3
add,pack,any,float32,8,cold,64,32,8,4e-3,2e-3,2e-3,copy,0.1000,,
add,chosen,pack,float32,8,cold,64,32,8,4e-3,2e-3,2e-3,copy,1,,
add,other,,float32,9,cold,64,32,8,4e-3,2e-3,2e-3,copy,1,,
add,graph,,float32,9,warm,64,32,8,2e-3,2e-3,2e-3,copy,0.2500,,
mul,both,,float32,8,cold,64,32,60000000000,2e-3,2e-3,2e-3,fma,1.5000,,
mul,both,,float16,9,cold,64,32,1000000000,2e-3,2e-3,2e-3,fma,0.0000,,
sum_columns,stride 16,,float32,1000x2000,cold,8000000,0,2000000,3.2e-5,1,1,read,0.1,,
sum_columns,stride 1,,float32,1000x2000,cold,8000000,0,2000000,4e-6,1,1,read,0.5,,
"""


def results():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "x.csv"
        path.write_text(CSV)
        return measured.Results(path)


def test_notes():
    r = results()
    assert r.device == "A <device>"
    assert r.limits == {"copy": 3.5e12, "read": 4e12, "write": 4.5e12, "fma": 6e13}
    assert len(r.rows) == 11


def test_ladder():
    steps, rest = measured.ladder_and_rest(results())
    names = [(row["version"], row["shape"]) for row in steps], [(row["op"], row["version"]) for row in rest]
    # Not the loop, nor what the launcher chose among the steps; one shape and type; no warm row, no sweep.
    assert names == ([("a < b, c", "8"), ("pack", "8")], [("add", "chosen"), ("add", "other"), *[("mul", "both")] * 2]), names
    many = results()
    many.rows = [dict(many.rows[1], version=f"v{n}") for n in range(12)]
    steps, rest = measured.ladder_and_rest(many)
    assert len(steps) == 10 and [row["version"] for row in rest] == ["v1", "v2"]
    for row, fraction in zip(many.rows, (0.1, 0.3, 0.2, 0.31, 0.4, 0.5, 0.6, 0.605, 0.7, 0.8, 0.9, 0.89)):
        row["share"] = fraction  # v2 loses; without it v3 gains a hundredth; v7 gains less; the last one stays
    assert [row["version"] for row in measured.ladder_and_rest(many)[1]] == ["v2", "v7"]


def test_names():
    def named(*rows):
        keys = ("op", "version", "path", "dtype", "shape")
        return measured.names([dict(zip(keys, row)) for row in rows])

    assert named(("m, the ladder", " 1 one", "", "f", "8"), ("m, the ladder", "12 two", "", "f", "8"),
                 ("m, odd", "m_cuda", "two", "f", "9")) == ["1 one, 8", "12 two, 8", "odd, 9"]
    assert named(("a, dim 1", "vectorized", "", "f", "8"), ("a, dim 1", "vectorized", "", "f", "9"), ("b", "vectorized", "", "f", "8"),
                 ("a, dim 0", "vectorized", "", "f", "8")) == ["dim 1, 8", "dim 1, 9", "vectorized", "dim 0, 8"]
    assert named(("a", "x", "", "f", "8"), ("a", "x", "", "h", "8")) == ["x, f", "x, h"]
    assert named(("a, d", "x", "p", "f", "8"), ("a, d", "x", "", "f", "8")) == ["x, takes p", "x"]


def test_long_names():
    r = results()
    r.rows = [dict(r.rows[2], version="v" * n) for n in (20, 50)]
    text = measured.bars("Day 1", r, r.rows)
    assert re.findall(r'y="([0-9.]+)">(?:v+|48 GB)', text) == ["81", "81", "121", "139"]  # below it, no room
    assert [float(y) for y in re.findall(r'x="8" y="([0-9.]+)" width="204', text)] == [87, 145]


def test_bars():
    r = results()
    text = measured.bars("Day < 1", r, measured.ladder_and_rest(r)[0])
    xml.dom.minidom.parseString(text)
    assert widths(text) == ["204", "40.8"], widths(text)  # half of 408, a tenth
    assert "&lt; b, c" in text and ">add, float32 8<" in text and ">mul" not in text and "chosen" not in text
    assert ">48 GB/s, 50.0 % of the limit<" in text  # 96 million bytes in 2 ms
    assert "pack, takes any" in text and "Upright mark: torch.add" in text
    assert re.findall(r'<rect class="marked" x="([0-9.]+)" y="([0-9.]+)"', text) == [("415", "87")]  # 100 %
    assert text.count("Apart, the loop") == 1 and "1e+06 ns an element" in text and "(the fastest kernel here: 2.5e+05 ns)." in text


def test_more_bars():
    r = results()
    text = measured.bars("Day 1", r, measured.ladder_and_rest(r)[1])
    xml.dom.minidom.parseString(text)
    assert widths(text) == ["408", "408", "424.32", "1"], widths(text)  # cut off at 104 %; a hair
    assert ">both, float32 8<" in text and ">both, float16 9<" in text and ">mul<" in text
    assert ">30.0 TFLOP/s, 150.0 % of the limit<" in text and ">500 GFLOP/s, 0.0 % of the limit<" in text
    r.rows = [row for row in r.rows if row["op"] == "mul"]
    text = measured.bars("Day 1", r, measured.ladder_and_rest(r)[0])  # 7 ms for 7, 2 ms for 6e10 operations
    assert "1e+06 ns an operation" in text and "(the fastest kernel here: 3.3e-05 ns)." in text, text[-400:]
    assert "Upright" not in text and "stride" not in text
    low = [float(y) for y in re.findall(r' y="([0-9.]+)"', text)]
    assert min(low) >= 20 and max(low) <= float(re.search(r'height="([0-9.]+)"', text)[1])  # all in sight


def test_beside():
    r = results()
    add, mul = r.rows[2:4], [row for row in r.rows if row["version"] == "both"]
    for row, flops in zip([*add, *mul], (3e9, 8e9, 6e9, 2e9)):
        row["flops"] = flops  # in 2 (its peer in 1), 4, 2 and 2 ms: 1.5 (3), 2, 3 and 1 TFLOP/s
    text = measured.beside("Day < 1", [add, mul])
    xml.dom.minidom.parseString(text)
    assert widths(text) == ["204", "272", "408", "136"], widths(text)
    assert re.findall(r'<rect class="marked" x="([0-9.]+)" y="([0-9.]+)"', text) == [("415", "87")]
    assert ">add, float32 8<" in text and ">mul<" in text and ">both, float16 9<" in text
    assert ">1.5 TFLOP/s<" in text and "Upright mark: torch.add" in text
    fastest = measured.fastest_of_shapes([*add, *mul])
    assert fastest == [add[0], mul[1]], fastest  # of shape 8 the first of two that take 2 ms


def beside_others(own=CSV.replace("<device>", "small GPU").replace(",0.5000,torch", ",0.2500,torch").replace("mul,both", "mul,one")):
    """The results with those of an H100 in the same folder, where pack is missing, and with the reader's own."""
    with tempfile.TemporaryDirectory() as folder:
        files = {"day01_x_h200.csv": CSV, "day01_x_h100.csv": CSV.replace("A <device>", "NVIDIA H100").replace("add,pack", "add,heap"),
                 "day01_z_h100.csv": CSV.replace("A <device>", "NVIDIA H100").replace("add,pack", "add,pile"), "own/day01_x.csv": own,
                 "own/day02_x.csv": CSV}
        for name, text in files.items():
            (pathlib.Path(folder) / name).parent.mkdir(exist_ok=True)
            (pathlib.Path(folder) / name).write_text(text)
        return measured.with_others(pathlib.Path(folder) / "day01_x_h200.csv", pathlib.Path(folder) / "own")


def test_others():
    r = beside_others()
    assert [gpu.name for gpu in r.others] == ["H100", "your A small GPU"]
    at_h100, mine = r.others
    pile = dict(r.rows[2], version="pile", shape="8")
    assert at_h100.row(dict(pile, version="heap")) and at_h100.row(pile) and not mine.row(pile)  # of both its files
    assert not at_h100.row(r.rows[0])  # a loop on another machine's CPU
    assert [gpu.name for gpu in beside_others(CSV).others] == ["H100", "your A <device>"]  # the reader has the same GPU


def test_narrow_bars():
    r = beside_others()
    steps, rest = measured.ladder_and_rest(r)
    text = measured.bars("Day 1", r, steps)
    narrow = r'<rect class="thin" x="8" y="([0-9.]+)" width="([0-9.]+)" height="5"'
    # The first row's bars are 12 high at y = 87, and 5 below at 100 and 107; pack's begin at 40 + 14 lower, 141.
    assert widths(text) == ["204", "40.8"] and re.findall(narrow, text) == [("100", "204"), ("107", "102"), ("161", "40.8")], text
    assert re.findall(">Narrow bar[^<]*<", text) == [">Narrow bar 1: H100<", ">Narrow bar 2: your A small GPU<"]
    low = [float(y) for y in re.findall(r' y="([0-9.]+)"', text)]
    assert max(low) <= float(re.search(r'height="([0-9.]+)"', text)[1])
    text = measured.bars("Day 1", r, [row for row in rest if row["op"] == "mul"])
    assert re.findall(narrow, text) == [("100", "424.32"), ("147", "1")] and ">Narrow bar: H100<" in text, text
    for row in r.others[0].of.values():
        row["flops"] = 9e10  # of mul in 2 ms: 45 TFLOP/s, the most; the rest 30 and 0.5
    text = measured.beside("Day 1", [[row for row in rest if row["op"] == "mul"]], r.others)
    assert widths(text) == ["272", "4.53333"] and re.findall(narrow, text) == [("100", "408"), ("147", "408")], text


def test_roofline():
    text = day01.roofline()
    assert text.count('class="lead"') == 1 + 2 * text.count(": ridge")
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "day01_x.csv").write_text(CSV.replace("copy 3500", "copy 500"))
        own = day01.roofline(pathlib.Path(folder))
    xml.dom.minidom.parseString(own)
    assert ">your A &lt;device>: ridge 120<" in own and own.count('class="lead"') == text.count('class="lead"') + 2
    # 500 GB/s * 1/16 is below the axis at 64 GFLOP/s, so the slope begins on it, at y = 230.
    assert re.search(r'd="M[\d.]+ 230 L[\d.]+ [\d.]+ L412 ', own), own


def widths(text):
    return re.findall(r'<rect class="thin" x="8" y="[0-9.]+" width="([0-9.]+)" height="12" fill="#', text)


def test_sweep():
    text = measured.sweep("Day 02", results())
    xml.dom.minidom.parseString(text)
    points = re.findall(r'M([0-9.]+) ([0-9.]+)h8v8h-8z', text)
    # Left 80, width 640 for 4 doublings; top 60, height 280 for 6 doublings from 100 to 6,400 GB/s.
    # Stride 1: 2,000 GB/s, 4.3219 doublings above 100: 60 + 280 * (1 - 4.3219 / 6) = 138.31.
    # Stride 16: 250, 1.3219 doublings: 278.31. The squares begin 4 before.
    assert points[:2] == [("76", "134.31"), ("716", "274.31")], points
    ends = re.findall(r'<path(?: class="\w+")?(?: style="[^"]*")? d="M80 91.64[^"]* L720 ([0-9.]+)"/>', text)
    # From 4,000 at stride 1 down to 500 (pieces of 32 bytes), 250 (of 64), and 250 (with visits).
    assert [round(float(y), 2) for y in ends] == [231.64, 278.31, 278.31], ends
    costs = [[cost(s) for s in (1, 16, 64)] for _, cost, _ in measured.MODELS]
    assert costs == [[4, 32, 32], [4, 64, 64], [4, 64, 102.4]], costs
    twice = CSV.replace("<device>", "small GPU").replace("3.2e-5,1,1,read", "1.6e-5,1,1,read")
    text = measured.sweep("Day 02", beside_others(twice))  # at stride 16 the reader's is an octave higher, 46.67 of 280
    assert 'style="fill: #56b4e9" d="M716 274.31h8' in text and 'style="fill: #cc79a7" d="M716 227.643h8' in text, text
    slow = measured.sweep("Day 02", beside_others(twice.replace("4e-6,1,1,read", "2e-4,1,1,read")))  # 40 GB/s, 0.678 of 8 doublings above 25
    assert " M76 312.267h8v8h-8z" in slow and ">25<" in slow and ">12.5<" not in slow and ">25<" not in text, slow
    assert ">H100<" in text and ">your A small GPU<" in text


if __name__ == "__main__":
    run_tests.run(globals())
