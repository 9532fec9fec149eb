#!/usr/bin/env python3
"""pairs.js in a real browser, headless: pairs_tests.py <browser> <folder>

Which number stands before which line of a loop, and before which of its kernel."""
import html
import pathlib
import sys
import textwrap

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
import run_tests  # noqa: E402

OF_A_ROW = """float sum = 0;
for (int i = 0; i < n; ++i) {
    sum += x[i];
}
for (int i = 0; i < n; ++i) {
    y[i] = x[i] / sum;
}"""
LOOP = "for (int r = 0; r < rows; ++r) {\n" + textwrap.indent(OF_A_ROW, "    ") + "\n}"
KERNEL = "const int r = blockIdx.x * blockDim.x + threadIdx.x;\nif (r >= rows) return;\n" + OF_A_ROW


def marks(loop, kernel):
    """What stands before each line, on both sides; a space before lines that have nothing."""
    sides = "".join('<div><div class="fragment">' + "".join(
        f'<div class="line">{html.escape(line)}</div>' for line in side.strip().splitlines()) + "</div></div>"
        for side in (loop, kernel))
    file = FOLDER / "pair.html"
    file.write_text(f'<!doctype html><script src="{(HERE / "pairs.js").as_uri()}"></script>'
                    f'<div class="pair">{sides}</div>', encoding="utf-8")
    PAGE.open(file.as_uri())
    assert not PAGE.errors(), PAGE.errors()
    return PAGE.value("""[...document.querySelectorAll(".pair > div")].map((side) =>
        [...side.querySelectorAll(".line")].map((line) => line.dataset.mark || " ").join("|"))""")


def same(got, right):
    assert got == right, f"{got}, not {right}"


def test_a_loop_becomes_index_and_guard():
    same(marks("for (int i = 0; i < n; ++i) {\n    f(i);\n}",
               "const int i = threadIdx.x;\nif (i < n) {\n    f(i);  // as before\n}"), ["1|=| ", "1|1|=| "])
    same(marks("for (int m = 0; m < M; ++m) {\n    for (int k = 0; k < K; ++k) {\n    }\n}",
               "const int m = a;\nconst int k = b;\nif (m < M && k < K) {\n}"), ["1|2| | ", "1|2|1 2| "])


def test_of_loops_with_one_variable_each_has_its_own():
    same(marks(LOOP, KERNEL), ["1|=|2|=| |3|=| | ", "1|1|=|2|=| |3|=| "])


def test_other_first_and_last_numbers_do_not_matter():
    same(marks(LOOP.replace("i = 0", "i = 1", 1), KERNEL.replace("i = 0; i < n; ++i", "i = lane; i < n; i += 32")),
         ["1|=|2|=| |3|=| | ", "1|1|=|2|=| |3|=| "])


def test_what_is_ambiguous_has_no_number():
    fewer = "\n".join(KERNEL.splitlines()[:-3])
    same(marks(LOOP, fewer), ["1|=| |=| | | | | ", "1|1|=| |=| "])


def test_one_loop_may_become_two():
    same(marks("for (int i = 0; i < n; ++i) {", "for (int i = t; i < n; i += 8) {\nfor (int i = t; i < n; i += 8) {"),
         ["1", "1|1"])


def test_lines_that_go_on():
    loops = "".join(f"{' ' * 4 * n}for (int {i} = 0; {i} < n; ++{i}) {{\n" for n, i in enumerate("bhqkd"))
    marks(loops + " " * 20 + "f(b,\n" + " " * 22 + "h);\n", "f(a,\n" + " " * 30 + "b);")
    same(PAGE.value("""[...document.querySelectorAll(".pair .line")].map((line) =>
        line.textContent.match(/^ */)[0].length).join(" ")"""), "0 4 8 12 16 20 22 0 8")


if __name__ == "__main__":
    run_tests.in_browser(globals(), 1250)
