#!/usr/bin/env python3
"""pages.py, steps.py and rows.py against what was worked out by hand: what a page gets, and which
mistakes end the build in which words."""
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


def made(page, name="day01_x.md", files=()):
    """What pages.py makes of one page: its lines, and the files that it includes."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "docs/results").mkdir(parents=True)
        (root / "docs/results/day01_x_h200.csv").write_text(CSV)
        (root / "docs" / name).write_text(page)
        for file, text in (("one.cu", ONE), ("two.cu", TWO), *files):
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(text)
        sys.argv = ["pages.py", *map(str, (root, root / "made", root / "includes"))]
        pages.main()
        includes = [path.read_text() for path in sorted((root / "includes").glob("*"))]
        text = (root / "made" / name).read_text()
    well_formed("".join(includes + re.findall("@htmlonly.block.(.*?)@endhtmlonly", text)))
    return text.splitlines(), includes


def well_formed(text):
    assert ">=" not in text  # nor anything that a slip left between tags
    xml.dom.minidom.parseString(f"<page>{text}</page>")


def refused(page, words, **more):
    try:
        made("first line\n" + page, **more)
    except SystemExit as error:
        assert str(error).startswith("docs/day01_x.md:2: ") and words in str(error), error
    else:
        raise AssertionError(f"not refused: {page}")


def test_numbers():
    for asked, said in (
            ("add; fast; share", "81&nbsp;%"),
            ("add; slow; share 1", "75.0&nbsp;%"),
            ("add; slow; share 2 bare", "74.96"),
            ("add; slow; GB/s", "3,000&nbsp;GB/s"),
            ("add; fast; us", "2.0&nbsp;µs"),
            ("add; fast; ms 3", "0.002&nbsp;ms"),
            ("add; fast; ns/element 4", "0.0020&nbsp;ns"),
            ("add; fast; MB", "12&nbsp;MB"),
            ("add; takes fast; share", "90&nbsp;%"),
            ("add; wide; 20; share", "50&nbsp;%"),
            ("add; fast; times", "1.50"),
            ("add; fast; times 1; add; slow", "2.0"),
            ("add; fast; peer share 1", "53.7&nbsp;%"),  # 0.8051 * 2 / 3
            ("add; fast; peer us", "3.0&nbsp;µs"),
            ("matmul; naive; GFLOP/s", "3,000&nbsp;GFLOP/s"),
            ("matmul; naive; M = 2, N = 3; TFLOP/s", "3.0&nbsp;TFLOP/s"),
            ("add; *; most GB/s", "6,000&nbsp;GB/s"),
            ("add; least share", "50&nbsp;%"),
            ("walk; stride 1; model", "50.0&nbsp;%"),
            ("walk; stride 2; model", "−75.0&nbsp;%"),
            ("walk; stride *; most model 0", "75&nbsp;%"),
            ("add; takes fast; limit GB/s", "6,667&nbsp;GB/s"),
            ("ridge", "15"),
            ("limit copy", "4,000&nbsp;GB/s"),
            ("limit fma", "60,000&nbsp;GFLOP/s")):
        lines, _ = made("a @number{day01; " + asked + "} b")
        assert lines == [f"a {said} b"], (asked, lines)


def test_numbers_refused():
    for asked, words in (
            ("add; fats; share", "no row of day01_x_h200.csv has 'fats'; it has 'fast'"),
            ("add; naive; share", "no row of day01_x_h200.csv has all of 'add; naive'"),
            ("add; wide; share", "2 rows of day01_x_h200.csv have 'add; wide': they differ in shape (10, 20)"),
            ("add; fast; takes; share", "has 'takes'"),
            ("add; fast; speed", "is not a row and a column: one of share, GB/s"),
            ("share", "is not a row and a column"),
            ("add; wide; 10; times", "this row has no peer"),
            ("add; wide; 10; peer us", "this row has no peer"),
            ("add; fast; model", "this row has no model"),
            ("add; fast; share; add; slow", "nothing may follow 'share', but 'add; slow' does"),
            ("limit f", "tells no limit 'f', but copy, read, write, fma")):
        refused("@number{day01; " + asked + "}", words)
    refused("@number{day02; add; fast; share}", "should begin with 'day02', but none did")


def test_bar():
    lines, (bar,) = made("@bar{day01; add; fast}")
    assert lines == ["@htmlinclude[block] page_day01_x_1.html"]
    assert 'class="fill" style="width:80.51%"' in bar and 'class="peer" style="left:53.67%"' in bar
    assert "<b>80.5 %</b> of the limit, 6,000 GB/s" in bar and "torch.add 53.7 %" in bar
    _, (bar,) = made("@bar{day01; matmul; naive}")
    assert "3.0 TFLOP/s" in bar and "a &lt; b 10.0 %" in bar
    _, (bar,) = made("@bar{day01; matmul; tensor}")
    assert "600 GFLOP/s" in bar and "peer" not in bar
    refused("@bar{day01; add; wide}", "they differ in shape")


def test_step():
    lines, (text,) = made("x\n@step{one.cu the new kernel,two.cu the new kernel}\ny")
    assert lines == ["x", "@htmlinclude[block] page_day01_x_1.html", "y"]
    assert "<div>one.cu</div><div>two.cu</div>" in text
    assert text.count('class="line old"') == text.count('class="line new"') == 1
    assert "<b>one</b>" in text and "<b>two</b>" in text and "<b><span" not in text
    assert text.count('class="hunk same"') == 3  # f(n) differs in spaces only; [inner] is no line
    assert text.count("// a comment") == 2 and "[inner]" not in text and "other" not in text
    assert '<span class="keywordtype">void</span>' in text
    assert '--wrap:8ch">    f(n);' in text  # the margin of 4 is gone, and a line goes on 4 further in


def test_step_refused():
    refused("@step{one.cu the new kernel}", "@step takes `file mark, file mark`")
    refused("@step{one.cu the new kernel,three.cu x}", "there is no file three.cu")
    refused("@step{one.cu the new kernel,two.cu main}", "two.cu has 0 lines `// [main]`")
    refused("@step{one.cu inner,two.cu the new kernel}", "one.cu has 1 lines `// [inner]`")
    refused("@step{one.cu the new kernel,one.cu the new kernel}", "do not differ")


def test_folds():
    lines = [f"line {i};" for i in range(20)]
    text = steps.step(lines[:10] + ["old();"] + lines[10:], lines[:10] + ["fresh = 1;"] + lines[10:], "ab")
    well_formed(text)
    assert re.findall(r"<summary>(\d+) lines as before", text) == ["8", "8"]  # two stay on each side
    before, middle, after = re.split(r"<details>.*?</details>", text)
    assert all(f"line {i};" in middle for i in (8, 9, 10, 11)) and "line 7" not in middle
    assert "line 12;" not in middle and "line" not in re.sub("<[^>]*>", "", before + after)
    short = steps.step(["old();"] + lines[:7], ["fresh = 1;"] + lines[:7], "ab")
    assert "details" not in short  # five could be folded, fewer than six
    assert "details" in steps.step(["old();"] + lines[:8], ["fresh = 1;"] + lines[:8], "ab")


def test_partners():
    before = ["const int i = a.x * b.x;", "out[i] = f(i);", "if (i < n) {"]
    after = ["const int all = c.x * b.x;", "int i = a.x * b.x;", "for (; i < n; i += all) {", "out[i] = g(i);"]
    assert steps.partners(before, after) == {1: 0, 3: 1}
    assert '--wrap:12ch">        x' in steps.row(" " * 20 + "x", "") and '--wrap:23ch' in steps.row(" " * 19 + "x", "")
    assert steps.show("a < b", "a < c") == "a &lt; <b>b</b>"
    assert steps.show('f("//x"); // y') == \
        'f(<span class="stringliteral">"//x"</span>); <span class="comment">// y</span>'


def test_questions_and_badges():
    lines, _ = made("@minutes\n@reading{must, 5}\n@question{Is `a < b`\\, or not?}\nNo.\n@endquestion\n"
                    "@reading{optional, 1}\n@reading{must, 7}")
    assert lines[0] == "must read 12&nbsp;minutes, optional 1&nbsp;minutes"
    assert '<p class="reading must"><span>must read</span> 5 minutes</p>' in lines[1]
    assert "<summary>Is <code>a &lt; b</code>" in lines[2] and lines[3] == "No."
    assert lines[4] == "@htmlonly[block]</div></details>@endhtmlonly" and "1 minute</p>" in lines[5]
    refused("@endquestion @question{a}", "no @question is open here")
    refused("@question{a}", "this question has no @endquestion")
    refused("@endquestion", "no @question is open here")
    refused("@reading{maybe, 5}", "@reading takes must, optional or hands on")
    refused("@reading{must}", "@reading takes must, optional or hands on")


def exercise(name, number, level):
    folder = f"day01_x/exercises/{name}"
    return [(f"{folder}/stub.cu", ""),
            (f"{folder}/{name}.hpp", f"/// @file\n/// Exercise {number} of Day 01: a < b.\n///\n/// {level}\n")]


def test_exercises():
    files = exercise("first", 2, "Hard, 45 minutes.") + exercise("second", 1, "Easy, 5 minutes.")
    _, (table,) = made("@exercises{day01}", files=files)
    assert table.strip() == ('<table class="markdownTable">'
                             "<tr><td><code>second</code></td><td>a &lt; b</td><td>easy</td><td>5 minutes</td></tr>"
                             "<tr><td><code>first</code></td><td>a &lt; b</td><td>hard</td><td>45 minutes</td></tr>"
                             "</table>")
    refused("@exercises{day02}", "'day02' has no exercises", files=files)
    refused("@exercises{day01}", "day01_x/exercises/first/first.hpp lacks", files=exercise("first", 1, "Easy."))


def test_words():
    lines, _ = made("| We say | It is |\n|---|---|\n| warp, lane | 32 threads |\n| `dim3` | three |\n| warp | x |",
                    "words.md")
    assert lines[:2] == ["| We say | It is |", "|---|---|"]
    assert lines[2:] == ["| @anchor word_warp @anchor word_lane warp, lane | 32 threads |",
                         "| @anchor word_dim3 `dim3` | three |", "| warp | x |"]


if __name__ == "__main__":
    run_tests.run(globals())
