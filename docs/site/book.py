#!/usr/bin/env python3
"""One PDF of all pages: book.py <html folder> <PDF> <page>...

Puts the pages that finish.py has finished one after the other, with a cover and contents, and prints them with
Chromium. It cannot number contents (no target-counter), so it prints twice: the first PDF says on which page each
heading is.
"""
import base64
import html
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "explorers")]
import browser  # noqa: E402
import finish  # noqa: E402

TITLE = "Six days from flat memory to a transformer"
FRONT = "About this course"
SCREEN = re.compile(r'<details class="outline">.*?</details>|<div class="ttc".*?</div></div>|<div class="explorer".*?</div>', re.S)
KEPT = re.compile(r"x-mathjax-config|MathJax\.js|pairs\.js")
PICTURE = re.compile(r'<div class="picture">\s*<svg\b[^>]*? height="(\d+)".*?</svg>\s*</div>', re.S)
SHEET = 1200  # pixels of a picture that can be read on one sheet
MINUTES = 10  # that Chromium may take


# --- the pages as one -----------------------------------------------------------------------------------------

class Book:
    """The HTML of a book, and its contents: [(level, anchor, title)]."""

    def __init__(self, folder, names):
        self.folder, self.names, self.contents = folder, names, []
        chapters = [self.chapter(name) for name in names]
        lines = "".join(f'<p class="level{level}"><a href="#{anchor}">{html.escape(title)}</a><i></i><span data-of="{anchor}"></span></p>'
                        for level, anchor, title in self.contents)
        running = "".join(f"@page {name} {{ @top-right {{ content: {self.quoted(title)}; }} }} #{name} {{ page: {name}; }}\n"
                          for level, name, title in self.contents if level == 1)
        self.text = (f'<!DOCTYPE html><html lang="en" class="light-mode"><head>{self.head()}<style>\n'
                     f'{(HERE / "book.css").read_text(encoding="utf-8")}{running}</style></head><body>'
                     f'<div class="contents cover"><h1>{TITLE}</h1>{self.cover()}</div>'
                     f'<div class="contents list"><h1 id="contents">Contents</h1>{lines}</div>' + "".join(chapters) + "</body></html>")
        self.lost = sorted(set(re.findall(r' href="#([^"]+)"', self.text)) - set(re.findall(r' (?:id|name)="([^"]+)"', self.text)))

    @staticmethod
    def quoted(text):
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    def page(self, name):
        return (self.folder / f"{name}.html").read_text(encoding="utf-8")

    def head(self):
        """Styles, formulas and the marks between loop and kernel; no menus and no search."""
        head = re.search(r"<head>(.*?)</head>", self.page(self.names[0]), re.S)[1]
        head = re.sub(r"<script\b.*?</script>", lambda script: script[0] if KEPT.search(script[0]) else "", head, flags=re.S)
        return re.sub(r"<title>.*?</title>", f"<title>{TITLE}</title>", head)

    def cover(self):
        """The pictures of the six days, from the front page."""
        days = re.search(r'<table class="days">.*?</table>', self.page(self.names[0]), re.S)
        return "".join(re.findall(r'<div class="picture">.*?</svg>\s*</div>', days[0], re.S)) if days else ""

    def chapter(self, name):
        """A page without what needs a screen; its title is an <h1>, and its sections begin at <h2>."""
        page = self.page(name)
        title = FRONT if name == "index" else finish.text_of(re.search(r'<div class="title">(.*?)</div>', page, re.S)[1])
        body = SCREEN.sub("", finish.split_page(page)[1]).replace('<details class="answer">', '<details class="answer" open>')
        # A taller one shows rows of the table below it.
        body = PICTURE.sub(lambda picture: picture[0] if int(picture[1]) <= SHEET else "", body)
        down = 2 - min([int(level) for level, *_ in finish.HEADING.findall(body)], default=2)
        self.contents.append((1, name, title))
        self.contents += [(2, anchor, heading) for heading, anchor, level, _ in finish.sections(body, title)
                          if anchor and level + down == 2]

        def heading(found):
            """One level further down, and itself the anchor: an empty one may be left on the page before."""
            level, attributes, inner = int(found[1]) + down, found[2], found[3]
            anchor = re.match(r'\s*<a class="anchor" id="([^"]*)"></a>', inner)
            if anchor:
                attributes, inner = f'{attributes} id="{anchor[1]}"', inner[anchor.end():]
            return f"<h{level}{attributes}>{inner}</h{level}>"

        body = finish.HEADING.sub(heading, body)
        body = re.sub(r'<a\b([^>]*?) href="([^"]*)"([^>]*)>(.*?)</a>', self.link, body, flags=re.S)
        return f'<div class="chapter contents" id="{name}"><h1>{html.escape(title)}</h1>{body}</div>\n'

    def link(self, match):
        """Within the book, or to the web. A link to the reference is its text."""
        before, target, behind, text = match.groups()
        file, _, anchor = target.partition("#")
        if re.match(r"https?:", target):
            return match[0]
        if not file or file.removesuffix(".html") in self.names:
            return f'<a{before} href="#{anchor or file.removesuffix(".html")}"{behind}>{text}</a>'
        return text


# --- what Chromium's PDF says of itself -----------------------------------------------------------------------

class Pdf:
    """Of a PDF by Skia, whose objects are not packed: its number of pages, and the page of each destination."""

    def __init__(self, data):
        self.objects = {int(number): text for number, text in
                        re.findall(rb"^(\d+) 0 obj\n(.*?)^endobj", re.sub(rb">> stream\n.*?\nendstream", b"", data, flags=re.S), re.S | re.M)}
        catalog = next(text for text in self.objects.values() if b"/Type /Catalog" in text)
        self.pages = self.leaves(self.reference(catalog, b"Pages"))
        places = self.objects[self.reference(catalog, b"Dests")]
        self.page_of = {self.name(name): self.pages.index(int(page)) + 1
                        for name, page in re.findall(rb"/(\S+) \[(\d+) 0 R /XYZ", places)}

    @staticmethod
    def reference(text, key):
        return int(re.search(rb"/%s (\d+) 0 R" % key, text)[1])

    @staticmethod
    def name(text):
        return re.sub(rb"#([0-9A-Fa-f]{2})", lambda code: bytes([int(code[1], 16)]), text).decode()

    def leaves(self, number):
        kids = re.search(rb"/Kids \[([^]]*)\]", self.objects[number])
        if not kids:
            return [number]
        return [leaf for kid in re.findall(rb"(\d+) 0 R", kids[1]) for leaf in self.leaves(int(kid))]


# --- printing -------------------------------------------------------------------------------------------------

PRINT = {"preferCSSPageSize": True, "printBackground": True, "generateTaggedPDF": True, "generateDocumentOutline": True}
READY = """(async () => {
    await document.fonts.ready;
    if (window.MathJax && MathJax.Hub) await new Promise((done) => MathJax.Hub.Queue(done));
})()"""
NUMBER = """((pages) => {
    for (const place of document.querySelectorAll("[data-of]")) place.textContent = pages[place.dataset.of];
})(%s)"""


def printed(program, made, contents):
    """The PDF with its contents numbered, and the number of its pages."""
    numbers = {}
    with browser.Browser(program, 60 * MINUTES) as chromium:
        page = browser.Page(chromium, 800, 1100)
        page.open(made.as_uri())
        page.value(READY)
        while True:
            data = base64.b64decode(page.ask("Page.printToPDF", **PRINT)["data"])
            pdf = Pdf(data)
            found = {anchor: pdf.page_of.get(anchor) for _, anchor, _ in contents}
            missing = [anchor for anchor, number in found.items() if not number]
            if missing:
                sys.exit(f"Chromium's PDF does not say on which page this is: {', '.join(missing)}")
            if found == numbers:
                return data, len(pdf.pages)
            if numbers:
                sys.exit("The numbers moved the pages that they name: make room for them in book.css")
            numbers = found
            page.value(NUMBER % json.dumps(numbers))


def make(folder, to, names):
    """Writes the PDF, or nothing; its number of pages."""
    program = browser.find()
    if program is None:
        sys.exit("A PDF needs Chromium: apt install chromium-headless-shell")
    book = Book(folder, names)
    if book.lost:
        sys.exit(f"Links of the book that lead nowhere: {', '.join(book.lost)}")
    made, whole = folder.resolve() / "book.html", to.with_suffix(".new")  # the first beside the styles that it uses
    try:
        made.write_text(book.text, encoding="utf-8")
        data, pages = printed(program, made, book.contents)
        whole.write_bytes(data)
        whole.replace(to)
    finally:
        made.unlink(missing_ok=True)
        whole.unlink(missing_ok=True)
    return pages


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    to = pathlib.Path(sys.argv[2])
    print(f"{to}: {make(pathlib.Path(sys.argv[1]), to, sys.argv[3:])} pages")


if __name__ == "__main__":
    main()
