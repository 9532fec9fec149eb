#!/usr/bin/env python3
"""book.py, read by pdftotext: book_tests.py <folder> [<html folder> <page>...]

Pages written by hand; and the pages of the tree, where they are built: contents, titles, links, nothing cut off."""
import html
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import book  # noqa: E402
import run_tests  # noqa: E402

HEAD = '<html><head><title>x</title><script src="search.js"></script><script src="pairs.js"></script></head><body><div class="header"><div class="title">{0} </div></div>'
PAGE = HEAD + '<div class="contents"><details class="outline"><ul><li>On a screen</li></ul></details>{1}</div><!-- contents --></body></html>'
LONG = "first" + " + a_word" * 40 + " + last"
PAGES = {
    "index": ('Six', '<h2><a class="anchor" id="index_why"></a>Why</h2><p>Read <a href="b.html#b_two">two</a>, '
              '<a href="group__x.html#f">its reference</a> and <a href="https://example.org/">more</a>.</p>'),
    "a": ("Day &amp; one", '<h1><a class="anchor" id="a_fold"></a>A fold</h1><details class="answer"><summary>Question</summary>'
          '<div>Hidden answer</div></details><div class="explorer" data-explorer="warp">live</div>'
          f'<div class="fragment"><div class="line">{LONG}</div><div class="ttc"><div class="ttname">a tip</div></div></div><!-- fragment -->'
          '<div class="picture"><svg class="pic" width="90" height="1300"><text y="20">too tall</text></svg>\n</div>'
          '<div class="picture"><svg class="pic" width="90" height="40"><text y="20">drawn</text></svg>\n</div>'
          '<h2><a class="anchor" id="a_small"></a>Small</h2><p>Text</p><p><a href="index.html">front</a></p>'),
    "b": ("Day 2", '<h1><a class="anchor" id="b_one"></a>One</h1><p>' + "A sentence. " * 2000 + '</p>'
          '<h1><a class="anchor" id="b_two"></a>Two</h1><p><a href="#b_one">Up</a></p>'),
}
FOLDER, HTML, NAMES = pathlib.Path(sys.argv[1]), pathlib.Path(*sys.argv[2:3]), sys.argv[3:]


def written(pages):
    folder = FOLDER / "pages"
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in pages.items():
        (folder / f"{name}.html").write_text(PAGE.format(*page), encoding="utf-8")
    return folder


def text(pdf, *options):
    return subprocess.run(["pdftotext", *options, str(pdf), "-"], check=True, capture_output=True, text=True).stdout


def said(words):
    return " ".join(words.split())


WORD = re.compile(r'<word xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)"[^>]*>(.*?)</word>')


def in_columns(page):
    """The words of a page of contents, in the order in which one reads its two columns; no page number."""
    lines = sorted((x > 297, round(y / 4), x, word) for x, y, _, word in page if y < 790)
    return " ".join(word for *_, word in lines)


def check(folder, names):
    """Prints these pages, holds what is true of every book, and returns (book, text of each page)."""
    made = FOLDER / "book.pdf"
    made.unlink(missing_ok=True)
    book.make(folder, made, names)
    assert not list(folder.glob("book.html")) and not list(FOLDER.glob("*.new")), "something was left behind"
    whole = book.Book(folder, names)
    sheets = [said(page) for page in text(made).split("\f")[:-1]]
    boxes = [[(float(x), float(y), float(end), html.unescape(word)) for x, y, end, word in WORD.findall(page)]
             for page in text(made, "-bbox").split("<page ")[1:]]
    first = book.Pdf(made.read_bytes()).page_of[names[0]]  # the contents end before it
    contents, at = " ".join(map(in_columns, boxes[1:first - 1])), 0
    for level, _, title in whole.contents:
        title = said(title)
        place = contents.find(title, at)
        assert place >= 0, f"the contents lack {title}"
        at = place + len(title)
        number = int(re.match(r" (\d+)", contents[at:])[1])
        heading = sheets[number - 1]
        assert title in heading, f"{title} is not on page {number}: {heading[:80]}"
        if level == 1:
            assert heading.startswith(title), f"page {number} begins with {heading[:40]}, not with {title}"
            below = [word for _, y, _, word in boxes[number - 1] if y > 790]
            assert below == [str(number)], f"page {number} has {below} below its text"
    data = made.read_bytes()
    pdf = book.Pdf(data)
    assert len(pdf.pages) == len(sheets)
    lost = {pdf.name(name) for name in re.findall(rb"/Dest /(\S+)", data)} - set(pdf.page_of)
    assert not lost, f"links of the PDF that lead nowhere: {lost}"
    assert data.count(b"/Subtype /Link") > len(whole.contents) and b"file:" not in data
    assert b"/Outlines" in data
    for number, page in enumerate(boxes, 1):
        for _, _, end, word in page:
            assert end < 595 - 40, f"page {number}: {word} ends at {end} of 595 points"
    return whole, sheets


def test_by_hand():
    whole, sheets = check(written(PAGES), list(PAGES))
    assert [title for *_, title in whole.contents] == ["About this course", "Why", "Day & one", "A fold", "Day 2", "One", "Two"]
    assert "pairs.js" in whole.text and "search.js" not in whole.text
    everything = " ".join(sheets)
    for word in ("Hidden answer", "+ last", "its reference", "drawn", "Six days from flat memory to a transformer"):
        assert word in everything, f"{word} is missing"
    for word in ("On a screen", "live", "a tip", "too tall"):
        assert word not in everything, f"{word} was printed"
    links = (FOLDER / "book.pdf").read_bytes()
    assert b"https://example.org/" in links and b"group__x" not in links


def test_lost_link():
    pages = dict(PAGES, index=("Six", '<h2><a class="anchor" id="index_why"></a>Why</h2><p><a href="b.html#b_three">three</a></p>'))
    (FOLDER / "book.pdf").unlink(missing_ok=True)
    try:
        book.make(written(pages), FOLDER / "book.pdf", list(pages))
    except SystemExit as error:
        assert str(error).endswith("lead nowhere: b_three"), error
    else:
        raise AssertionError("a lost link was printed")
    assert not (FOLDER / "book.pdf").exists(), "a book with a lost link was kept"


def test_pages_of_the_tree():
    missing = [name for name in NAMES if not (HTML / f"{name}.html").is_file()]
    if missing or not NAMES:
        print(f"Not checked: the pages of the tree are not built here ({', '.join(missing) or 'none is named'}).")
        return
    whole, sheets = check(HTML, NAMES)
    assert len(sheets) > 200, f"{len(sheets)} pages"
    everything = " ".join(sheets)
    assert sum(level == 1 for level, *_ in whole.contents) == len(NAMES)
    assert "\\(" not in everything and "\\frac" not in everything, "a formula was not drawn"
    assert everything.count("the loop") >= 10


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    run_tests.run(globals())
