#!/usr/bin/env python3
"""finish.py against pages written by hand: contents, anchors, links to the glossary, lines, the search."""
import json
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import finish  # noqa: E402
import run_tests  # noqa: E402

GLOSSARY = [("warp", "32 threads, `together`"), ("shared memory", "a small \"fast\" one"), ("path", "a version"),
            ("B", "sequences"), ("host", "the CPU"), ("size", "a number"), ("NH", "heads"), ("query", "of attention")]


def linked(body):
    return finish.Linker(GLOSSARY).page(body)


def test_links():
    warp = '<a class="term" href="words.html#word_warp" title="32 threads, together">'
    assert linked("<p>Two warps. A warp.</p>") == f"<p>Two {warp}warps</a>. A warp.</p>"
    assert linked("<p>Warp</p>") == f"<p>{warp}Warp</a></p>"
    assert linked("shared memory") == ('<a class="term" href="words.html#word_shared_memory" '
                                       'title="a small &quot;fast&quot; one">shared memory</a>')
    for kept in ("a path to the B of this size, NH", "a query of code", "warped", "a-warp", "a.warp", "\\(warp\\)", "\\[ warp\n \\]",
                 "<code>warp</code>", "<h2>warp</h2>", '<img alt="warp"/>', "<!-- a > warp -->",
                 '<a href="x">the warp</a>', '<div class="fragment"><div>x</div> warp</div>',
                 '<div class="step"><div>x</div> warp</div>', '<div class="measured"><table><td>warp</td></table></div>',
                 '<div class="bar"><span>warp</span></div>', "<summary>warp</summary>", "<pre>warp</pre>",
                 "<svg><text>warp</text></svg>"):
        assert linked(kept) == kept, linked(kept)
        after = linked(f"{kept} host")
        assert after == f'{kept} <a class="term" href="words.html#word_host" title="the CPU">host</a>', after
    assert linked('<div class="pair"><div class="fragment">warp</div></div> <div>host</div>').endswith("host</a></div>")
    assert finish.Linker([]).page("warp") == "warp"


def test_senses():
    glossary = [("block", "threads"), ("transformer block", "attention and MLP"), ("rank", "number of dims")]
    model = '<a class="term" href="words.html#word_transformer_block" title="attention and MLP">'

    def here(body):
        return finish.Linker(glossary, {"block": "transformer block", "rank": None}).page(body)

    assert here("Two blocks of rank 2. A block.") == f"Two {model}blocks</a> of rank 2. A block."
    assert here("A transformer block, a block.") == f"A {model}transformer block</a>, a block."
    assert ">block</a>, " in finish.Linker(glossary).page("A block, a transformer block")
    words = {name.lower() for name, _ in finish.words((finish.pathlib.Path(finish.__file__).parents[1] / "words.md")
                                                      .read_text(encoding="utf-8").splitlines())}
    for page, senses in finish.OTHER_SENSE.items():  # no word that the glossary has lost
        assert words.issuperset(word.lower() for pair in senses.items() for word in pair if word), page


def test_margin():
    deep = fragment("    if (a) {</div>\n<div class=\"line\">        b();</div>\n<div class=\"line\"></div>\n"
                    "<div class=\"line\">    <span>}</span>")
    assert finish.to_the_margin(deep) == fragment(
        "if (a) {</div>\n<div class=\"line\">    b();</div>\n<div class=\"line\"></div>\n"
        "<div class=\"line\"><span>}</span>"), finish.to_the_margin(deep)
    note = fragment('<span class="comment">    // why</span></div>\n<div class="line">    a();')
    assert finish.to_the_margin(note) == note.replace("    ", ""), finish.to_the_margin(note)
    for kept in (fragment("a</div>\n<div class=\"line\">    b"), '<div class="line">    a</div>', fragment("")):
        assert finish.to_the_margin(kept) == kept, finish.to_the_margin(kept)


def code(text, group, name="function"):
    return f'<a class="code hl_{name}" href="group__reference__{group}.html#x">{text}</a>'


def fragment(text):
    return f'<div class="fragment"><div class="line">{text}</div>\n</div><!-- fragment -->'


def test_wrong_links():
    tensor, own, other = "tensor", "day03__views", "day05__matmul"
    for kept in (f"= {code('offset', tensor)}(x)", f"{code('gpu::check', 'gpu')}(x)", f"{code('tile', own)}(2)",
                 f"void {code('tile', own)}(int n) {{", f"    return {code('tile', own)}(x);",
                 f"    if (a &gt; {code('tile', own)}(x)) {{", f"    int a = {code('tile', own)}(x);", f"return {code('offset', tensor)}(x);",
                 f"{code('fill', tensor)}&lt;<span>int</span>&gt;(x)", f"{code('View', tensor, 'class')} x;",
                 '<a class="code hl_define" href="check_8hpp.html#x">SIXDAYS_CUDA</a>(f())'):
        assert finish.without_wrong_links(fragment(kept), "day03") == fragment(kept), kept
    for wrong, text in ((code("transposed", other) + "(x)", "transposed(x)"),  # another day's
                        (code("OP::take", "day06__x") + "(x)", "OP::take(x)"),
                        ('<a class="code hl_struct" href="structsixdays_1_1gpt2_1_1Part.html">Part</a> x', "Part x"),
                        (code("at", "day02__strides") + " + 1", "at + 1"),
                        (f"int at = 1; {code('at', tensor)}(2)", "int at = 1; at(2)"),  # declared here
                        (f"float tile[4]; {code('tile', tensor)}(2)", "float tile[4]; tile(2)"),
                        (f"const VectorizedRun&amp; run, {code('run', tensor)}(1)", "const VectorizedRun&amp; run, run(1)"),
                        (f"View&lt;T&gt; each(1); {code('each', tensor)}(1)", "View&lt;T&gt; each(1); each(1)"),
                        (code("check", "gpu") + "(1)", "check(1)"),  # gpu::check would be written so
                        (code("tile", own) + "[2]", "tile[2]"),  # not called
                        (f"    void {code('tile', own)}(int n);", "    void tile(int n);"),  # a method
                        (f"    View&lt;T&gt; {code('tile', own)}(n);", "    View&lt;T&gt; tile(n);"),  # a variable
                        (code("gpt2::rows", tensor) + "(1)", "gpt2::rows(1)"),
                        (code("name", "emulator") + "(1)", "name(1)"),
                        (f"x.{code('rows', tensor)}(1)", "x.rows(1)"),  # members
                        (f"x-&gt;{code('rows', tensor)}(1)", "x-&gt;rows(1)")):
        assert finish.without_wrong_links(fragment(wrong), "day03") == fragment(text), wrong
    qualified = fragment(f"void check(int n); {code('gpu::check', 'gpu')}(1)")
    assert finish.without_wrong_links(qualified, "day03") == qualified
    comment = fragment('<span class="comment">// a tile, then</span> ' + code("tile", tensor) + "(1)")
    assert finish.without_wrong_links(comment, "day03") == comment
    tip = fragment(code("at", tensor) + '(1)<div class="ttc"><div>x</div><div>int at(int)</div></div>')
    assert finish.without_wrong_links(tip, "day03") == tip
    elsewhere = fragment("int rows = 2;") + fragment(code("rows", tensor) + "(1)")
    assert finish.without_wrong_links(elsewhere, "day03").endswith(fragment("rows(1)"))  # the page's own
    outside = f"<p>{code('transposed', other)}</p>"
    assert finish.without_wrong_links(outside, "day03") == outside


def test_outline():
    body = ('<p>a</p><h1><a class="anchor" id="one"></a>\nOne</h1><h2 id="a_b">A &amp; <b>b</b></h2>'
            '<h2 id="one_">One</h2><h2 id="one__">One</h2>')
    parts = finish.sections(body, "Day")
    assert [part[:3] for part in parts] == [("Day", "", 0), ("One", "one", 1), ("A & b", "a_b", 2),
                                            ("One", "one_", 2), ("One", "one__", 2)]
    assert finish.outline(parts) == (
        '<details class="outline"><summary>On this page</summary><ul><li class="level1"><a href="#one">One</a></li>'
        '<li class="level2"><a href="#a_b">A &amp; b</a></li><li class="level2"><a href="#one_">One</a></li>'
        '<li class="level2"><a href="#one__">One</a></li></ul></details>')
    assert finish.outline(parts[:4]) == ""
    assert finish.split_page("a page</div><!-- contents -->") == ("a page</div><!-- contents -->", "", "")
    assert finish.split_page('a<div class="contents">') == ('a<div class="contents">', "", "")
    assert finish.text_of('a <div class="ttc" id="x"><div>no</div></div><script>no</script>b') == "a b"
    member = finish.sections('x<h2 class="memtitle"><a href="#ga1">&#9670;&#160;</a>f()</h2>y', "t")
    assert member[1] == ("f()", "ga1", 2, "y")


def test_lines():
    run = finish.in_lines('<div class="run"> <pre class="fragment">A title\n\n   12   3 &lt; 4   the load\n     say\n'
                          "</pre></div><pre class=\"fragment\">x\ny</pre>")
    assert run == ('<div class="run"> <pre class="fragment" style="--columns:48"><span class="row sentence" style="--wrap:0ch">A title\n</span>'
                   '<span class="row sentence" style="--wrap:0ch">\n</span>'
                   '<span class="row" style="--wrap:16ch">   12   3 &lt; 4   the load\n</span>'
                   '<span class="row" style="--wrap:5ch">     say\n</span>'
                   '</pre></div><pre class="fragment">x\ny</pre>'), run
    assert "--wrap:60ch" in finish.in_lines(f'<div class="run rejected"><pre class="fragment">{" " * 70}x\n</pre>')
    for wide, table in ((71, f"{'-' * 68}  1"), (48, "a  b"), (48, f"  ok    {'-' * 68} x"), (50, f"  requests  {'-' * 38}\n{'-' * 68}  1"), (48, "a sentence " * 9)):
        assert f"--columns:{wide}" in finish.in_lines(f'<div class="run"><pre class="fragment">{table}\n</pre>'), table


def test_more():
    lists, details = '<td class="mdescRight">A name. <a href="#a">More...</a>', '<a name="details" id="details"></a><h2 class="groupheader">D</h2>\n<p >{}</p>\n<h2>F</h2>'
    page = '<p>Lesson: <a href="b">B</a>. \n<a href="#details">More...</a></p>' + lists
    assert finish.without_more(page + details.format('Lesson: <a href="b">B</a>. ')) == '<p>Lesson: <a href="b">B</a>.</p><td class="mdescRight">A name.<h2>F</h2>'
    assert finish.without_more(page + details.format("Lesson and more")).count("More...") == 1


def test_names_of_the_reference():
    body = '<a id="details"></a><p>A tensor.</p><h2><a href="#m">x()</a></h2><p>An x.</p>'
    for title in ("Walk Struct Reference", "Walk&lt; T &gt; Class Template Reference", "Walk Class Reference abstract"):
        names = [entry[4] for entry in finish.reference_entries("w.html", finish.text_of(title).replace("<", " <"), body)]
        assert [name.split("<")[0].strip() for name in names] == ["Walk", "Walk::x"], (title, names)


def test_whole():
    page = ('<div class="title">T</div><div class="contents">{}</div><!-- contents --><i>warp</i>')
    with tempfile.TemporaryDirectory() as folder:
        finish.pages.ROOT = pathlib.Path(folder)
        docs, out = pathlib.Path(folder, "docs"), pathlib.Path(folder, "html")
        docs.mkdir()
        out.mkdir()
        (docs / "README.md").write_text("# Not a page\n")
        for name, first in (("../README.md", "# Six days"), ("../CONTRIBUTING.md", "# C"), ("day01_x.md", "# Day 01"),
                            ("words.md", "# Words\n| warp | 32 </script> |\n")):
            (docs / name).write_text(first + "\n")
        (out / "index.html").write_text(page.format("A warp."))
        (out / "CONTRIBUTING.html").write_text(page.format("x"))
        (out / "words.html").write_text(page.format("A warp."))
        (out / "day01_x.html").write_text(page.format(
            '<p>In</p><h1 id="a">A</h1><p>A <strong>warp</strong> <svg>no</svg></p>'
            + fragment(code("f", "day02__x") + "(1)") + '<h1 id="b">B</h1><h1 id="c">C</h1><h1 id="d">D</h1>'))
        member = ('<h2 class="memtitle"><a href="#at">&#9670;</a>operator()() <span>[1/2]</span></h2><div class="memitem"><div class="memproto">'
                  'int operator()</div><div class="memdoc"><p>An element</p><p class="definition">Definition at</p></div></div>')
        (out / "structsixdays_1_1S.html").write_text('<div class="title">S&lt; T &gt; Struct Template Reference<div>x</div></div>' + page.format(
            f'<p>brief</p><a id="details"></a><h2>Detailed Description</h2><p>text</p>{member}<hr/>The documentation for this struct'))
        (out / "structsixdays_1_1S-members.html").write_text(page.format("members"))
        for other in ("files", "classes", "structured__cuda_8cu_source"):
            (out / f"{other}.html").write_text(page.format(f"<p>{other}</p>"))
        (out / "group__reference__x.js").write_text('[ "sixdays::gpu::detail::f", "a.html" ],\n[ "sixdays::g" ],\n[ "std::h" ]')
        sys.argv = ["finish.py", str(out)]
        finish.main()
        day = (out / "day01_x.html").read_text()
        assert fragment("f(1)") in day
        assert day.count('class="term"') == 1 and day.endswith("<i>warp</i>")
        assert day.index("<details class=\"outline\">") < day.index("<p>In</p>")
        assert "term" in (out / "index.html").read_text() and "term" not in (out / "words.html").read_text()
        assert (out / "group__reference__x.js").read_text() == '[ "f", "a.html" ],\n[ "g" ],\n[ "std::h" ]'
        data = (out / "search_data.js").read_text()
    assert data.startswith("searchData(") and "</" not in data
    assert json.loads(data[len("searchData("):-3]) == [
        ["Six days", "", "index.html", "A warp.", "", "", 1.5],
        ["Day 01", "", "day01_x.html", "In", "", "", 3], ["Day 01", "A", "day01_x.html#a", "A warp", "warp", "f(1)", 3],
        *[["Day 01", name, f"day01_x.html#{name.lower()}", "", "", "", 3] for name in "BCD"],
        ["Words", "", "words.html", "A warp.", "", "", 1.5],
        ["C", "", "CONTRIBUTING.html", "x", "", "", 1.5],
        ["S< T >", "", "structsixdays_1_1S.html", "text", "S", "", 0.5],
        ["S< T >", "operator()()", "structsixdays_1_1S.html#at", "An element", "S::operator()", "int operator()", 0.5],
        ["Glossary", "warp", "words.html#word_warp", "32 </script>", "warp", "", 3]], data


if __name__ == "__main__":
    run_tests.run(globals())
