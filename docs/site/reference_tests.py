#!/usr/bin/env python3
"""reference.py, undocumented.py and versions.py against what was worked out by hand: what Doxygen reads instead of a header, which
declarations count as undocumented, and what is linked beside an operation."""
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import reference  # noqa: E402
import run_tests  # noqa: E402
import undocumented  # noqa: E402
import versions  # noqa: E402


def read(text):
    """What Doxygen reads instead of these lines: as many."""
    lines = text.splitlines()
    made = reference.documented(lines)
    assert len(made) == len(lines), made
    return made


def test_trailing_comments():
    assert read("enum class Path {\n    one,   // a thread\n    two,   // a warp\n           // of 32\n    three  // the last\n};") == [
        "enum class Path {", "    one,   ///< a thread", "    two,   ///< a warp", "           ///< of 32", "    three  ///< the last", "};"]
    assert read("struct S {\n    int a = 0, b{1, 2};  // both\n    int f() { return 1; }  // is 1\n    // [mark]\n    int c;  // NOLINT\n};") == [
        "struct S {", "    int a = 0, b{1, 2};  ///< both", "    int f() { return 1; }  ///< is 1",
        "    // [mark]", "    int c;  // NOLINT", "};"]
    assert read("    std::int64_t rows, columns;  // of it\n                                 // all") == [
        "/** of it all */ std::int64_t rows; /** of it all */ std::int64_t columns; ", ""]
    assert read("    int rows, columns = 0;  // of m; of n") == ["/** of m */ int rows; /** of n */ int columns = 0; "]
    assert read("void f() {\n    int a;  // no member\n}") == ["void f() {", "    int a;  // no member", "}"]


def test_one_comment_for_several():
    assert read("struct S {\n    /// A number.\n    int f();\n    int g() const;\n\n    int h();\n};") == [
        "struct S {", "/** A number. */", "    int f();", "/** A number. */     int g() const;", "", "    int h();", "};"]
    assert read("struct S {\n    /// Sets a.\n    /// @param a  a\n    void f(int a);\n    void g();\n};")[4] == "    void g();"  # it has no a
    assert read("/// Adds.\nint f(int a);\nint g();\nint f(float a);") == ["/** Adds. */", "int f(int a);", "int g();", "/** Adds. */ int f(float a);"]


def test_a_product_ends_no_sentence():
    assert read("/// a . b, 0 .. n.\n///\n///     a . b\nint f();")[:3] == ["/** a &middot; b, 0 &hellip; n.", " ", "     a . b */"]


def test_the_cuda_version_has_its_loops_text():
    loop = "/// Adds. More.\n///\n///     a + b\n///\n/// @param a  any\n/// @throws E  none\nvoid add_cpu(int a);\n"
    launch = "The CUDA version of add_cpu(): views of device memory; it launches on {} and returns without waiting."
    made = read(loop + "void add_cuda(int a, Stream stream);")
    assert made[-1].startswith("/** " + launch.format("`stream`") + " \\ilinebr  \\ilinebr Adds. More. ") and made[-1].endswith("Stream stream);")
    assert "@verbatim     a + b" in made[-1] and "@param a  any" in made[-1] and "@throws E  none" in made[-1]
    own = read(loop + "/// @param how  its path\nvoid add_cuda(int b, const Launch& how);")
    assert launch.format("the stream of `how`") in own[-2] and "@param a" not in own[-2], own  # it has no a
    assert own[-2].index("@param how") < own[-2].index("@throws E") and own[-2].endswith("*/") and own[-1].startswith("void add_cuda"), own


def test_what_needs_no_comment():
    head = "/// Adds.\nvoid add_cpu(int a);\n\n"
    for line, words in (("void check_add(int a);", "Rejects what add_cpu() rejects. @throws"),
                        ("void check_add(int a, Path path);", "rejects; with a path, also"),
                        ("const char* name(AddPath path);", "The name of this value"),
                        ("S& operator=(const S&) = delete;", "Cannot be copied."), ("~S();", "Releases what it owns."),
                        ("S() = default;", "Each member has its default value.")):
        assert read(head + line)[-1].startswith("/** ") and words in read(head + line)[-1], read(head + line)
    assert read("struct S {\n    S() = default;  ///< rank 0\n};")[1] == "    S() = default;  ///< rank 0"  # and nothing more
    assert read(head + "void add_cuda(int a, Stream stream);\nlong add_workspace_bytes(int a);")[-1].startswith(
        "/** Bytes of workspace that add_cuda() needs for these views; the caller allocates them: see gpu::Workspace. */")
    assert read(head + "void check_other(int a);")[-1] == "void check_other(int a);"


def test_groups():
    for file, operation, group in (("common/tensor/view.hpp", False, "reference_tensor"), ("common/gpu/ptx/tma.hpp", False, "reference_gpu"),
                                   ("day06_transformer_ops/softmax/softmax.hpp", True, "reference_day06_transformer_ops_softmax"),
                                   ("day06_transformer_ops/softmax/softmax_row.hpp", False, "reference_day06_transformer_ops_softmax_helpers"),
                                   ("day06_transformer_ops/rows.hpp", False, "reference_day06_transformer_ops_helpers"),
                                   ("day06_transformer_ops/gpt2/file/gguf.hpp", False, "reference_day06_transformer_ops_gpt2_file"),
                                   ("day05_matmul/steps/matmul/tile.hpp", False, ""), ("common/lesson/report.hpp", False, "")):
        path = reference.ROOT / file
        text = path.read_text(encoding="utf-8")
        assert (reference.is_operation(text), reference.group_of(path, text)) == (operation, group), file


XML = """<doxygen><compounddef id="s" kind="struct" prot="public"><compoundname>a::S</compoundname><sectiondef>
<memberdef id="1" kind="variable" prot="public"><name>x</name><briefdescription><para>an x</para></briefdescription>
<detaileddescription/><location file="a.hpp" line="3"/></memberdef>
<memberdef id="2" kind="enum" prot="public"><name>E</name><enumvalue id="3" prot="public"><name>one</name><briefdescription> </briefdescription>
</enumvalue><briefdescription/><detaileddescription><para>E</para></detaileddescription><location file="a.hpp" line="4"/></memberdef>
<memberdef id="4" kind="function" prot="private"><name>f</name><location file="a.hpp" line="5"/></memberdef></sectiondef>
<briefdescription/><detaileddescription/><location file="a.hpp" line="2"/></compounddef></doxygen>"""


def test_undocumented():
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "s.xml").write_text(XML)
        assert undocumented.declared(pathlib.Path(folder)) == {
            "s": ("a.hpp", 2, "a::S", False), "1": ("a.hpp", 3, "a::S::x", True),
            "2": ("a.hpp", 4, "a::S::E", True), "3": ("a.hpp", 4, "a::S::E::one", False)}


def test_versions():
    softmax, matmul = (pathlib.Path(path) for path in ("day06_transformer_ops/softmax/softmax.hpp", "day05_matmul/matmul_bf16.hpp"))
    assert [path.name[:2] for path in versions.steps(softmax, "softmax")] == ["02", "03", "04", "05", "06"]
    assert [path.name[:2] for path in versions.steps(softmax.with_name("cross_entropy.hpp"), "cross_entropy")] == ["07"]
    assert [path.name[:2] for path in versions.steps(matmul, "matmul_bf16")] == [f"{n:02}" for n in range(2, 9)]  # hopper/ too
    broadcast = pathlib.Path("day03_views/broadcast.hpp")
    assert [len(versions.steps(broadcast, name)) for name in ("add_broadcast", "where", "pad")] == [2, 1, 0]  # steps/where/ is not pad's
    shown = [("d/a_cpu.cpp", "b", "p", "p_b", "B"), ("d/a_cuda.cu", "c", "p", "p_c", "C"), ("d/steps/e/02.cu", "", "q", "q_e", "E")]
    for operation, anchor in (("c", "p_c"), ("b", "p_b"), ("other", "p_b")):
        assert versions.lesson(shown, pathlib.Path("d/a.hpp"), operation)[1] == anchor
    assert versions.lesson(shown, pathlib.Path("d/e.hpp"), "e")[1] == "q_e" and versions.lesson(shown, pathlib.Path("x/e.hpp"), "e") is None
    assert versions.lesson_of_room(shown, pathlib.Path("d/room")) == ("p", "p_b", "B")
    assert versions.lesson_of_room([], pathlib.Path("day06_transformer_ops/gpt2/file"))[:2] == ("gpt2", "")
    cpu = reference.ROOT / softmax.parent / "softmax_cpu.cpp"
    assert "softmax_cpu(" in cpu.read_text().splitlines()[versions.line_of(cpu, "softmax_cpu") - 1]


def test_links_to_files():
    room, name = "day06_transformer_ops/softmax", "group__reference__day06__transformer__ops__softmax.html"
    entry = '<div class="memproto"><table><td class="memname">{} </td></table></div><div class="memdoc">'
    with tempfile.TemporaryDirectory() as folder:
        for number, file in enumerate(("softmax_cpu.cpp", "softmax_cuda.cu")):  # no page of the tile kernels, none of the steps
            trail = "".join(f'<li class="navelem"><a href="x">{part}</a></li>' for part in (*room.split("/"), file))
            pathlib.Path(folder, f"{number}_source.html").write_text(f'<div id="nav-path"><ul>{trail}</ul></div>')
        made = versions.Versions(pathlib.Path(folder))
    links = [(f"{number}_source.html", file, versions.line_of(reference.ROOT / room / file, function)) for number, file, function in
             ((0, "softmax_cpu.cpp", "softmax_cpu"), (1, "softmax_cuda.cu", "softmax_cuda"))]
    cpu, cuda = (f'<a href="{page}#l{line:05d}">{file}</a>' for page, file, line in links)
    row = made.page(name, entry.format("void softmax_cuda"))
    assert row.endswith(f"<span><b>CPU reference</b> {cpu}</span><span><b>CUDA version</b> {cuda}</span></p>"), row
    assert re.search(r'"memdoc">\n<p class="versions"><span><b>Lesson</b> <a href="day06_transformer_ops\.html#[^"]+">[^<]+</a></span><span>', row), row
    assert made.page(name, entry.format("enum SoftmaxPath")).endswith(row[row.index("\n"):])  # the versions of softmax
    for declared in ("void plan_softmax", "void other_cpu"):
        assert made.page(name, entry.format(declared)) == entry.format(declared)
    assert made.page("group__other.html", row) == row


if __name__ == "__main__":
    run_tests.run(globals())
