#!/usr/bin/env python3
"""pages.py, steps.py and rows.py against what was worked out by hand: what a page shows, what Doxygen is given
of it, and which mistakes end the build in which words."""
import pathlib
import re
import sys
import tempfile
import xml.dom.minidom

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import pages  # noqa: E402
import run_tests  # noqa: E402
import steps  # noqa: E402

CSV = """# A device, driver 1
# limits: this GPU: copy 4000, read 5000, write 4500 GB/s, fma 60000 GFLOP/s
op,version,path,dtype,shape,cache,bytes_read,bytes_written,flops,median_s,p10_s,p90_s,limit,share,peer,peer_s
add,slow,,float32,1000x1000,cold,8000000,4000000,1000000,4e-6,1,1,copy,0.7496,torch.add,3e-6
add,fast,,float32,1000x1000,cold,8000000,4000000,1000000,2e-6,1,1,copy,0.8051,torch.add,3e-6
add,chosen,fast,float32,1000x1000,cold,8000000,4000000,1000000,2e-6,1,1,copy,0.9,,
add,wide,,float32,10,cold,8,4,1,2e-6,1,1,copy,0.5,,
add,wide,,float32,20,cold,8,4,1,2e-6,1,1,copy,0.5,,
matmul,naive,,float32,"M = 2, N = 3",cold,800,400,3000000000,1e-3,1,1,fma,0.05,a < b,5e-4
matmul, tensor,,bfloat16,7,cold,800,400,600000000,1e-3,1,1,fma,0.01,,
walk,stride 1,model 3.0e-4 s,float32,8,cold,8,0,0,2e-4,1,1,read,0.1,,
walk,stride 2,model 1.0e-4 s,float32,8,cold,8,0,0,4e-4,1,1,read,0.1,,
"""
ONE = """int other;
// [the new kernel]
    void one(int n) {
        f(n);   // a comment
        // [inner]
        return;
    }
// [the new kernel]
"""
TWO = ONE.replace("void one(int n)", "void two(int n)").replace("f(n);   //", "f(n); //")


PATCH = """case: a test
rejected: reads past the end
--- a/two.cu
+++ b/two.cu
@@ -2,3 +2,3 @@
     void two(int n) {
-        f(n); // a comment
+        f(n + 1); // a comment
"""
SVG = "<svg><title>A picture</title></svg>"
OUTPUT = "1. One\n   a < b\n"
FILES = {"README.md": "# Front\n", "CONTRIBUTING.md": "# C\n", "docs/results/x.csv": CSV, "one.cu": ONE, "two.cu": TWO, "wrong/x.patch": PATCH, "add_cpu.cpp": ONE, "add_cuda.cu": TWO,
         "docs/pictures/x.svg": SVG, "common/gpu/x.hpp": "", "outputs/day01_x.1.txt": OUTPUT,
         "outputs/day01_wrong_y.txt": "past its end\n", "docs/other.md": "# Other\n\n## A `b`, and (c)\n\n## A `b`, and (c)\n"}


def run(verb, page, name="day01_x.md", files=None, shown=None):
    """What pages.py makes of one page among the files above, or of the page `shown`: its lines, and what it includes."""
    with tempfile.TemporaryDirectory() as folder:
        pages.ROOT = root = pathlib.Path(folder).resolve()
        for file, text in {**FILES, **(files or {}), f"docs/{name}": page + "\n"}.items():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(text)
        outputs = root / "outputs"
        sys.argv = ["pages.py", verb] + (["--bench", str(root / "bench"), str(outputs), str(root / "made")] if verb == "make" else [str(outputs)])
        pages.main()
        includes = [path.read_text() for path in sorted((root / "made").glob("page_*"))]
        text = (root / ("made" if verb == "make" else "docs") / (shown or name)).read_text()
    well_formed("".join(includes + re.findall("@htmlonly.block.(.*?)@endhtmlonly", text)))
    return text.splitlines(), includes


def filled(page, **more):
    lines, _ = run("fill", page, **more)
    run("check", "\n".join(lines), **more)  # what was filled is current, and filling it again changes nothing
    return lines


def made(page, **more):
    return run("make", page, **more)


def well_formed(text):
    assert ">=" not in text  # nor anything that a slip left between tags
    xml.dom.minidom.parseString(f"<page>{text}</page>")


def rejected(page, words, verbs=("fill", "make"), **more):
    for verb in verbs:
        try:
            run(verb, "first line\n" + page, **more)
        except SystemExit as error:
            assert str(error).startswith("docs/day01_x.md:2: ") and words in str(error), error
        else:
            raise AssertionError(f"not rejected by {verb}: {page}")


def test_numbers():
    for asked, said in (
            ("add; fast; share", "81 %"),
            ("add; slow; share 1", "75.0 %"),
            ("add; slow; share 2 bare", "74.96"),
            ("add; slow; GB/s", "3,000 GB/s"),
            ("add; fast; us", "2.0 µs"),
            ("add; fast; ms 3", "0.002 ms"),
            ("add; fast; ns/element 4", "0.0020 ns"),
            ("add; fast; MB", "12 MB"),
            ("add; takes fast; share", "90 %"),
            ("add; wide; 20; share", "50 %"),
            ("add; fast; times", "1.50"),
            ("add; fast; times 1; add; slow", "2.0"),
            ("add; fast; peer share 1", "53.7 %"),  # 0.8051 * 2 / 3
            ("add; fast; peer us", "3.0 µs"),
            ("matmul; naive; GFLOP/s", "3,000 GFLOP/s"),
            ("matmul; naive; M = 2, N = 3; TFLOP/s", "3.0 TFLOP/s"),
            ("add; *; most GB/s", "6,000 GB/s"),
            ("add; least share", "50 %"),
            ("add; 1000x1000; mean us 2", "2.52 µs"),  # of 4, 2 and 2: the cube root of 16
            ("walk; stride 1; model", "50.0 %"),
            ("walk; stride 2; model", "−75.0 %"),
            ("walk; stride *; most model 0", "75 %"),
            ("add; takes fast; limit GB/s", "6,667 GB/s"),
            ("ridge", "15"),
            ("limit copy", "4,000 GB/s"),
            ("limit fma", "60,000 GFLOP/s")):
        link = f'](results/x.csv "{asked}") b'
        assert filled("a [wrong" + link) == [f"a [{said}" + link], asked
        assert made("a [wrong" + link)[0] == [f"a {said.replace(' ', '&nbsp;')} b"], asked


def test_numbers_rejected():
    for asked, words in (
            ("add; fats; share", "no row of x.csv has 'fats'; it has 'fast'"),
            ("add; naive; share", "no row of x.csv has all of 'add; naive'"),
            ("add; wide; share", "2 rows of x.csv have 'add; wide': they differ in shape (10, 20)"),
            ("add; fast; takes; share", "has 'takes'"),
            ("add; fast; speed", "is not a row and a column: one of share, GB/s"),
            ("share", "is not a row and a column"),
            ("add; wide; 10; times", "this row has no peer"),
            ("add; wide; 10; peer us", "this row has no peer"),
            ("add; fast; model", "this row has no model"),
            ("add; fast; share; add; slow", "nothing may follow 'share', but 'add; slow' does"),
            ("limit f", "tells no limit 'f', but copy, read, write, fma")):
        rejected(f'a [](results/x.csv "{asked}")', words)
    rejected('a [](results/y.csv "add; fast; share")', "there is no results/y.csv")


def test_bar():
    line = '[x](results/x.csv "add; fast")'
    assert filled(line) == ['[' + 16 * '█' + 4 * '░' + ' fast: 80.5 % of the limit, 6,000 GB/s; torch.add 53.7 %]'
                            '(results/x.csv "add; fast")']
    lines, (bar,) = made(line)
    assert lines == ["@htmlinclude[block] page_day01_x_1.html"]
    assert 'class="fill" style="width:80.51%"' in bar and 'class="peer" style="left:53.67%"' in bar
    assert "<b>80.5 %</b> of the limit, 6,000 GB/s" in bar and "torch.add 53.7 %" in bar
    _, (bar,) = made('[](results/x.csv "matmul; naive")')
    assert "3.0 TFLOP/s" in bar and "a &lt; b 10.0 %" in bar
    _, (bar,) = made('[](results/x.csv "matmul; tensor")')
    assert "600 GFLOP/s" in bar and "peer" not in bar
    rejected('[](results/x.csv "add; wide")', "they differ in shape")


def test_table():
    line = "[All rows](results/x.csv)"
    assert filled(line) == [line]
    _, (table,) = made(line)
    assert table.count("<tr>") == 8 and "stride 1" not in table and "<th>peer</th>" in table
    assert "<td>add</td><td>chosen<br/>takes fast</td><td>float32 1000x1000</td><td>12.0 MB</td>" in table
    assert "<td><b>1.000 ms</b><br/>1000.000 ms to 1000.000 ms</td><td>3000 GFLOP/s</td><td>5.0 % of fma</td>" in table
    assert "<td>a &lt; b 500.0 µs</td>" in table and '<p class="origin">A device, driver 1<br/>limits' in table
    _, (sweep,) = made('[The sweep](results/x.csv "sweep")')
    assert sweep.count("<tr>") == 3 and "<td>walk</td><td>1</td><td>200.0 µs</td><td>300.0 µs</td><td>+50.0 %</td>" in sweep


HERE = CSV.replace("A device", "NVIDIA H200").replace("torch.add,3e-6", ",")
THERE = (HERE.replace("NVIDIA H200", "NVIDIA H100 PCIe").replace("copy 4000", "copy 2000").replace("matmul,", "product,")
         .replace("2e-6,1,1,copy,0.8051", "4e-6,1,1,copy,0.7").replace("model 3.0e-4", "model 9.0e-4") + "# clock: 1980 MHz after add, wide, 20\n")
YOURS = THERE.replace("NVIDIA H100 PCIe", "NVIDIA GeForce RTX 4090").replace("4e-6,1,1,copy,0.7,", "8e-6,1,1,copy,0.6,")
BESIDE = {"docs/results/day01_x_h200.csv": HERE, "docs/results/day01_y_h200.csv": HERE.replace("add,fast", "add,other"),
          "docs/results/day01_x_h100_pcie.csv": THERE, "docs/results/day02_x_h100_pcie.csv": THERE.replace("H100", "A100"),
          "bench/day01_x_rtx_4090.csv": YOURS, "bench/day01_x_rtx_4090.csv.1": YOURS.replace("4090", "3090")}


def test_other_gpus():
    line = '[x](results/day01_x_h200.csv "add; fast")'
    text = 16 * "█" + 4 * "░" + " fast: 80.5 % of the limit, 6,000 GB/s; H100 PCIe: 70.0 %, 3,000 GB/s"
    assert filled(line, files=BESIDE) == [f'[{text}](results/day01_x_h200.csv "add; fast")']  # not the reader's own
    _, (bars,) = made(line, files=BESIDE)
    assert re.findall(r'class="(bar[ \w]*)"><span class="what">([^<]*)<.*?width:([\d.]+)%.*?</b> of the limit, ([^<]*)<', bars) == [
        ("bar", "fast", "80.51", "6,000 GB/s"), ("bar elsewhere", "on H100 PCIe", "70.00", "3,000 GB/s"),
        ("bar elsewhere", "on your RTX 4090", "60.00", "1,500 GB/s")], bars
    _, (bars,) = made('[x](results/day01_x_h200.csv "matmul; naive")', files=BESIDE)
    assert bars.count("<div") == 1  # no other GPU has measured it
    _, (table,) = made("[All rows](results/day01_x_h200.csv)", files=BESIDE)
    assert table.count("<th>") == 10 and "<th>peer</th>" in table and "<th>on H100 PCIe</th><th>on your RTX 4090</th>" in table, table
    assert "<td><b>4.0 µs</b><br/>3,000 GB/s<br/>70.0 %</td><td><b>8.0 µs</b><br/>1,500 GB/s<br/>60.0 %</td></tr>" in table
    assert re.search("<td>matmul</td>.*<td></td><td></td></tr>", table) and "GeForce RTX 4090, driver 1<br/>" in table
    assert "1980 MHz after" not in table and "3090" not in table and "A100" not in table
    _, (sweep,) = made('[The sweep](results/day01_x_h200.csv "sweep")', files=BESIDE)
    assert "<td>+50.0 %</td><td>0 GB/s</td><td><b>200.0 µs</b><br/>0 GB/s</td>" in sweep, sweep
    for asked, said in (("limit copy", "4,000&nbsp;GB/s (your RTX 4090: 2,000 GB/s)"), ("ridge", "15 (your RTX 4090: 30)"),
                        ("add; fast; share", "81&nbsp;%")):
        assert made(f'[](results/day01_x_h200.csv "{asked}") b', files=BESIDE)[0] == [f"{said} b"], asked
    _, (picture,) = made("![Roofline](pictures/roofline.svg)", files={**BESIDE, "docs/pictures/roofline.svg": SVG})
    assert "your RTX 4090: ridge 30" in picture and "A picture" not in picture
    for wrong, words in ((YOURS.replace(",share", ",part"), "lacks column share"), ("# a GPU\n", "lacks the line `# limits: this GPU`"),
                         ("\n".join(YOURS.splitlines()[:3]), "lacks rows")):
        rejected('[](results/day01_x_h200.csv "ridge") b', words, ("make",), files={**BESIDE, "bench/day01_z.csv": wrong})


def test_listings():
    page = "x\n\n   ```cuda two.cu the new kernel\n   old\n   ```\n\ny"
    assert filled(page)[2:7] == ["   ```cuda two.cu the new kernel", "   void two(int n) {", "       f(n); // a comment",
                                 "       return;", "   }"]
    assert made(page)[0] == ["x", "", "   @snippet two.cu the new kernel", "", "", "", "y"]
    assert filled("```cuda two.cu\n```")[1] == "int other;" and made("```cuda two.cu\n```")[0][0] == "@include two.cu"
    pair = "```cpp add_cpu.cpp the new kernel\n```\n\n```cuda add_cuda.cu the new kernel\n```"
    assert [line for line in made(pair)[0] if line] == [
        pages.raw('<div class="pair"><div>'), "@snippet add_cpu.cpp the new kernel", pages.raw("</div><div>"), "@snippet add_cuda.cu the new kernel", pages.raw("</div></div>")]
    assert made(pair.replace("\n\n", "\nand\n"))[0][-2:] == ["@snippet add_cuda.cu the new kernel", ""]
    plain = "```cpp\nint a; // `b` [c](d.md)\n```"
    assert filled(plain) == made(plain)[0] == plain.split("\n")
    function = "```cuda f.cu f()\n```"
    files = {"f.cu": "int g() {\n    return f();\n}\n\nint f(int n) {\n    {\n    }\n}\n}\n"}
    assert filled(function, files=files)[1:-1] == ["int f(int n) {", "    {", "    }", "}"]
    assert made(function, files=files)[0][:2] == ["@code{.cpp}", "int f(int n) {"]
    rejected("```cuda two.cu h()\n```", "two.cu has no function h()")
    rejected("```cuda three.cu x\n```", "there is no file three.cu")
    rejected("```cuda two.cu main\n```", "two.cu has 0 lines `// [main]`")
    rejected("```cuda one.cu inner\n```", "one.cu has 1 lines `// [inner]`")
    rejected("```cuda two.cu main", "this block has no end")


def test_outputs():
    page = "```text day01_x.1.txt\n```"
    assert filled(page) == ["```text day01_x.1.txt", "1. One", "   a < b", "```"]
    assert made(page)[0] == [pages.raw('<div class="run">'), "@verbinclude day01_x.1.txt", pages.raw("</div>")]
    assert made("```text day01_wrong_y.txt\n```")[0][0] == pages.raw('<div class="run rejected">')
    long, table = "  " + "word " * 29 + "end", "a  " + "b" * 120
    assert filled(f"```text not_made_here.txt\n{long}\n{table}\n```")[1:-1] == [
        "  " + " ".join(["word"] * 21), "  " + " ".join(["word"] * 8) + " end", table]
    here = "```text not_made_here.txt\nwhat it said\n```"
    assert filled(here) == here.split("\n")
    lines, (text,) = made(here)
    assert text == "what it said\n" and lines[1] == "@verbinclude page_day01_x_1.txt"
    for said in (  # broken for code hosts, and whole again where it was not captured
            [long, table, "", "x"], ["  " + "a b" * 36, "  and one that would not have fitted, but  is  a  table"],
            ["of 32 bytes, with as many lanes as each of them has" + 11 * " word", "[1...2]", "word, in x.cu:12: " + long.strip()]):
        _, (text,) = made("\n".join(["```text not_made_here.txt", *pages.wrapped(said), "```"]))
        assert text.splitlines() == [line.rstrip() for line in said], text


def test_check():
    try:
        run("check", "a\n```cuda two.cu the new kernel\nold\n```")
    except SystemExit as error:
        assert str(error) == "docs/day01_x.md:3: shows what was there before; docs/site/pages.py fill mends it", error
    else:
        raise AssertionError("an old listing is taken for a new one")


def test_step():
    page = "x\n```diff one.cu the new kernel, two.cu the new kernel\n```\ny"
    assert filled(page)[2:-2] == ["--- one.cu", "+++ two.cu", "-void one(int n) {", "+void two(int n) {",
                                  "     f(n); // a comment", "     return;", " }"]
    lines, (text,) = made(page)
    assert lines == ["x", "@htmlinclude[block] page_day01_x_1.html", "", "y"]
    assert "<div>one.cu</div><div>two.cu</div>" in text
    assert text.count('class="line old"') == text.count('class="line new"') == 1
    assert "<b>one</b>" in text and "<b>two</b>" in text and "<b><span" not in text
    assert text.count('class="hunk same"') == 3  # f(n) differs in spaces only; [inner] is no line
    assert text.count("// a comment") == 2 and "[inner]" not in text and "other" not in text
    assert '<span class="keywordtype">void</span>' in text
    assert '--wrap:8ch">    f(n);' in text  # the margin of 4 is gone, and a line goes on 4 further in


def test_patch():
    page = "```diff wrong/x.patch\n```"
    assert filled(page) == ["```diff wrong/x.patch", "--- two.cu", "+++ x.patch", " void two(int n) {", "-    f(n); // a comment",
                            "+    f(n + 1); // a comment", "```"]
    _, (text,) = made(page)
    assert "<div>two.cu</div><div>x.patch</div>" in text and "<b>+</b> <b>1</b>" in text and "reads past" not in text


def test_step_rejected():
    rejected("```diff one.cu the new kernel\n```", "```diff takes `file mark, file mark`")
    rejected("```diff one.cu the new kernel, three.cu x\n```", "there is no file three.cu")
    rejected("```diff one.cu the new kernel, one.cu the new kernel\n```", "do not differ")


def test_links():
    for link, here in (("[o](other.md)", "[o](@ref other)"), ("[o](other.md#a-b-and-c)", "[o](@ref other_a_b_and_c)"),
                       ("[o](other.md#a-b-and-c-1)", "[o](@ref other_a_b_and_c_1)"), ("[a\nb](other.md)", "[a\nb](@ref other)"),
                       ("[h](#here-it-is)", "[h](@ref day01_x_here_it_is)"), ("[`a[1]`](../one.cu)", "`a[1]`"),
                       ("[r](../common/gpu)", "[r](@ref reference_gpu)"), ("[w](https://x.y/z)", "[w](https://x.y/z)"),
                       ("`[o](other.md)`", "`[o](other.md)`"), ("``a` [o](b.md)``", "``a` [o](b.md)``"),
                       ("`%%cuda` 5 % `%x`", "`%%%cuda` 5 % `%%x`")):
        assert "\n".join(made(f"# X\n\n## Here: it is\n\n{link}")[0][4:]) == here, link
    assert made("# X\n\n## Here: it is")[0] == ["# X {#day01_x}", "", "## Here: it is {#day01_x_here_it_is}"]
    front = made("# X", files={"README.md": "# Six\n\n[b](#to-begin)\n\n## To begin\n"}, shown="index.md")[0]
    assert front[2:] == ["[b](@ref index_to_begin)", "", "<h2>@anchor index_to_begin To begin</h2>"], front
    rejected("[o](another.md)", "the link another.md leads nowhere", ("make",))
    rejected("[o](other.md#b)", "other.md has no heading #b", ("make",))


def test_markdown():
    lines, (picture,) = made("![A picture](pictures/x.svg)\n$`x_1`$\n```math\nx\n```\n<!-- explorer warp -->\n<div class=\"x\">\n\n</div>")
    assert picture == f'<div class="picture">{SVG}</div>\n' and lines[0] == "@htmlinclude[block] page_day01_x_1.html"
    assert lines[1:5] == [r"\f$x_1\f$", r"\f[", "x", r"\f]"]
    assert lines[5:] == [pages.raw('<div class="explorer" id="explorer_warp" data-explorer="warp"></div>'),
                         pages.raw('<div class="x">'), "", pages.raw("</div>")]
    lines, _ = made("<details><summary>A <code>b</code></summary>\n\nNo.\n\n</details>")
    assert lines == [pages.raw('<details class="answer"><summary>A <code>b</code></summary><div>'), "", "No.", "",
                     pages.raw("</div></details>")]
    lines, _ = made("[← O](other.md) · [O →](other.md)")
    assert lines == [pages.raw('<div class="walk">'), "", "[← O](@ref other)", "", "[O →](@ref other)", pages.raw("</div>")]
    rejected("![A picture](pictures/y.svg)", "there is no pictures/y.svg", ("make",))


def test_folds():
    lines = [f"line {i};" for i in range(20)]
    text = steps.html_of([(lines[:10] + ["old();"] + lines[10:], lines[:10] + ["fresh = 1;"] + lines[10:])], "ab")
    well_formed(text)
    assert re.findall(r"<summary>(\d+) lines as before", text) == ["8", "8"]  # two stay on each side
    before, middle, after = re.split(r"<details>.*?</details>", text)
    assert all(f"line {i};" in middle for i in (8, 9, 10, 11)) and "line 7" not in middle
    assert "line 12;" not in middle and "line" not in re.sub("<[^>]*>", "", before + after)
    short = steps.html_of([(["old();"] + lines[:7], ["fresh = 1;"] + lines[:7])], "ab")
    assert "details" not in short  # five could be folded, fewer than six
    assert "details" in steps.html_of([(["old();"] + lines[:8], ["fresh = 1;"] + lines[:8])], "ab")


def test_partners():
    before = ["const int i = a.x * b.x;", "out[i] = f(i);", "if (i < n) {"]
    after = ["const int all = c.x * b.x;", "int i = a.x * b.x;", "for (; i < n; i += all) {", "out[i] = g(i);"]
    assert steps.partners(before, after) == {1: 0, 3: 1}
    assert steps.nearer(["f(a,", "  b);", "    g(a,", "         b,", "         c);", "        h();"]) == [
        "f(a,", "  b);", "    g(a,", "            b,", "            c);", "        h();"]
    assert steps.show("a < b", "a < c") == "a &lt; <b>b</b>"
    assert steps.show('f("//x"); // y') == \
        'f(<span class="stringliteral">"//x"</span>); <span class="comment">// y</span>'


def test_badges():
    page = "Allow . Run\n\n*Must read, 5 minutes.*\n\n*Optional, 1 minute.*\n\n*Must read, 7 minutes.*"
    assert filled(page)[0] == "Allow 12 minutes for required reading and 1 for optional parts. Run"
    assert filled(page + "\n\n*Hands on, 3 minutes.*")[0] == \
        "Allow 12 minutes for required reading, 1 for optional parts and 3 at the keyboard. Run"
    link = '[](other.md "must read") and [](other.md "hands on")'
    assert filled(link, files={"docs/other.md": "# Other\n\n*Must read, 5 minutes.*\n\n*Must read, 7 minutes.*"}) == \
        ['[12](other.md "must read") and [0](other.md "hands on")']
    rejected('[](none.md "must read")', "the link none.md leads nowhere")
    assert filled("Allow 7 minutes for optional parts. Run\n\n*Optional, 1 minute.*")[0] == "Allow 1 minute for optional parts. Run"
    lines, _ = made(page)
    assert '<p class="reading must"><span>must read</span> 5 minutes</p>' in lines[2] and "1 minute</p>" in lines[4]


def exercise(name, number, level):
    folder = f"day01_x/exercises/{name}"
    return {f"{folder}/hints.md": "",
            f"{folder}/{name}.hpp": f"/// @file\n/// Exercise {number} of Day 01: a < b.\n///\n/// {level}\n"}


def test_exercises():
    files = {**exercise("first", 2, "Hard, 45 minutes."), **exercise("second", 1, "Easy, 5 minutes.")}
    assert filled(f"{pages.EXERCISES}\n| old |", files=files) == [
        pages.EXERCISES, "|---|---|---|---|", "| `second` | a < b | easy | 5 minutes |", "| `first` | a < b | hard | 45 minutes |"]
    files["day01_x/exercises/third.cu"] = "// Exercise 9 of Day 01: c.\n//\n// Tiny, 3 minutes.\n"
    assert filled(f"{pages.EXERCISES}\n| old |", files=files)[2:4] == [
        "| `third` | c | tiny | 3 minutes |", "| `second` | a < b | easy | 5 minutes |"]
    rejected(pages.EXERCISES, "no exercise belongs to docs/day01_x.md")
    rejected(pages.EXERCISES, "day01_x/exercises/first/first.hpp lacks", files=exercise("first", 1, "Easy."))
    # An exercise may belong to another page, which must have a table.
    row = "| `first` | a < b | easy | 5 minutes |"
    elsewhere = {"docs/last.md": f"{pages.EXERCISES}\n|---|---|---|---|\n{row}\n",
                 **exercise("first", 1, "Easy, 5 minutes.\n///\n/// Page: docs/last.md"), **exercise("second", 2, "Hard, 9 minutes.")}
    assert filled(pages.EXERCISES, files=elsewhere)[2:] == ["| `second` | a < b | hard | 9 minutes |"]
    assert run("fill", pages.EXERCISES, files=elsewhere, shown="last.md")[0][2:] == [row]
    rejected(pages.EXERCISES, "first.hpp belongs to docs/last.md, which has no table", files={**elsewhere, "docs/last.md": "# Last\n"})


def test_words():
    lines, _ = made("| Term | Meaning |\n|---|---|\n| warp, lane | 32 threads |\n| `dim3` | three |\n| warp | x |\n"
                    "| SMs | 1 | 2 | 3 | 4 |", name="words.md")
    assert lines[:2] == ["| Term | Meaning |", "|---|---|"]
    assert lines[2:] == ["| @anchor word_warp @anchor word_lane warp, lane | 32 threads |",
                         "| @anchor word_dim3 `dim3` | three |", "| warp | x |", "| SMs | 1 | 2 | 3 | 4 |"]


if __name__ == "__main__":
    run_tests.run(globals())
