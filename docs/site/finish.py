#!/usr/bin/env python3
"""What Doxygen's pages get afterwards: finish.py <html folder>

Each page of docs/ gets its contents, and links to the glossary where it first uses one of its words. Links from a
day's listings to what only has the same name go. Operations of the reference get links to their files. All pages and the reference go into search_data.js, one entry a
section, for search_pages.js.
"""
import html
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import pages  # noqa: E402
from pages import anchor, page_name, sources, words  # noqa: E402
from versions import Versions  # noqa: E402

HEADING = re.compile(r"<h([1-6])([^>]*)>(.*?)</h\1>", re.S)
NO_TEXT = re.compile(r'<(svg|script|style)\b.*?</\1>|<div class="ttc".*?</div></div>', re.S)
LISTING = re.compile(r'<div class="fragment">.*?<!-- fragment -->', re.S)
SHOWN = re.compile(r'<div class="fragment">.*?<!-- fragment -->|<pre\b.*?</pre>|<div class="step">.*?</div>(?=\n|$)', re.S)
NO_LINKS = ("a", "code", "pre", "svg", "script", "summary", "th", "h1", "h2", "h3", "h4", "h5", "h6")
EVERYDAY = {"size", "index", "element", "key", "value", "query", "path", "walk", "event", "identity", "score",
            "context"}  # of which a sentence seldom means what the glossary does
# Where a word means another of the glossary's on one page, or none of them.
OTHER_SENSE = {
    "day02_strides.html": {"padding": None},  # of structs
    "day06_transformer_ops.html": {"block": "transformer block", "cache": "KV cache"},
    "gpt2.html": {"cache": "KV cache", "rank": None, "thread": None},  # a pair's place in a list; the CPU's
    "llama.html": {"cache": "KV cache", "block": None},  # of weights, or of a transformer
    "tests.html": {"guard": None},  # bands around an output
    "carry.html": {"activation": None},  # what lies between layers
}
LONG = 4  # headings from which on a page shows its contents


def text_of(part):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", NO_TEXT.sub(" ", part))).split())


def split_page(page):
    """Before, contents, after. A page without contents is all before."""
    begin = page.find('<div class="contents">')
    end = page.find("</div><!-- contents -->")
    if begin < 0 or end < 0:
        return page, "", ""
    begin += len('<div class="contents">')
    return page[:begin], page[begin:end], page[end:]


def anchor_of(heading):
    found = re.search(r'\bid="([^"]*)"', heading) or re.search(r'href="#([^"]*)"', heading)
    return found[1] if found else ""


def sections(body, title):
    """(title, anchor, level, HTML) of what comes before the first heading and of each heading's part."""
    pieces = HEADING.split(body)
    found = [(title, "", 0, pieces[0])]
    for level, attributes, inner, rest in zip(*(iter(pieces[1:]),) * 4):
        found.append((text_of(inner).lstrip("◆ "), anchor_of(attributes + inner), int(level), rest))
    return found


def entries_of(file, title, body, weight):
    """What the search reads of a page: [page, section, address, text, words set off, listings and outputs, weight]."""
    found = []
    for heading, at, _, part in sections(body, title):
        prose = SHOWN.sub(" ", part)
        found.append([title, heading if at else "", f"{file}#{at}" if at else file, text_of(prose),
                      text_of(" ".join(re.findall(r"<(?:b|strong|em)>(.*?)</(?:b|strong|em)>", prose, re.S))),
                      text_of(" ".join(SHOWN.findall(part))), weight])
    return found


def without_more(page):
    """A page of the reference without "More...": in its lists, where each name is a link, and where nothing more follows."""
    page = re.sub(r'(<td class="mdescRight">.*?) *<a href="[^"]*">More\.\.\.</a>', r"\1", page)
    brief = re.search(r'<p>((?:(?!</p>).)*?)\s*<a href="#details">More\.\.\.</a></p>', page, re.S)
    details = re.search(r'<a name="details" id="details"></a><h2 class="groupheader">[^<]*</h2>\s*<p ?>(.*?)</p>\s*(?=<h2|</div>)', page, re.S)
    if brief and details and text_of(brief[1]) == text_of(details[1]):
        page = page.replace(details[0], "").replace(brief[0], f"<p>{brief[1]}</p>")
    return page


SUMMARY = {"Classes", "Enumerations", "Functions", "Modules", "Public Attributes", "Public Member Functions", "Public Types",
           "Static Public Attributes", "Static Public Member Functions", "Topics", "Typedefs", "Variables"}
KIND = re.compile(r"(?: (?:Class|Struct|Union|Namespace))?(?: Template)? Reference(?: abstract)?$")


def reference_entries(file, title, body):
    """The same of a page of the reference: one entry per declaration, under the name that somebody looks up."""
    scope = re.sub(r"<.*", "", KIND.sub("", title)).strip().split("::")[-1] if KIND.search(title) else ""
    body = re.sub(r'<p class="(?:versions|definition)">.*?</p>', "", body, flags=re.S)
    body = re.sub(r'<div class="memproto">(.*?)</div><div class="memdoc">', r'<pre>\1</pre><div>', body, flags=re.S)
    made = []
    body = re.sub(r"<hr ?/>The documentation for this .*", "", body, flags=re.S)
    body = body[body.find('id="details"'):] if scope else body  # what comes before lists what follows
    for page, heading, address, prose, _, code, weight in entries_of(file, KIND.sub("", title), body.partition(">")[2], 0.5):
        if heading in SUMMARY or not prose + code:
            continue
        heading = re.sub(r" \[\d+/\d+\]$", "", heading)
        name = "::".join(filter(None, (scope, heading.removesuffix("()"))))
        made.append([page, heading, address, prose, name, code, weight])
    return made


def outline(parts):
    """The contents of a long page, as a fold."""
    parts = [part for part in parts if part[1]]
    if len(parts) < LONG:
        return ""
    items = "".join(f'<li class="level{level}"><a href="#{name}">{html.escape(title)}</a></li>'
                    for title, name, level, _ in parts)
    return f'<details class="outline"><summary>On this page</summary><ul>{items}</ul></details>'


def in_lines(body):
    """What programs printed, line by line, so that a line too long for the window goes on below its last
    column, and a sentence does at the margin. A table shrinks to the window, by its number of columns; a
    trace, whose last column is text, does not."""
    def line(text):
        plain = html.unescape(text)
        columns = [match.end() for match in re.finditer(r"(?:^| ) +(?=\S)", plain)]
        kind = "row" if columns else "row sentence"
        return f'<span class="{kind}" style="--wrap:{min(max(columns, default=0), 60)}ch">{text}\n</span>'

    def output(match):
        lines = [line for line in html.unescape(match[3]).split("\n") if "  " in re.sub(r"^ *ok ", "", line).strip() and len(line) < 100]
        trace = [line for line in lines if "  requests " in line]
        wide = max(48, *map(len, trace or lines), 48)
        return (f'{match[1]} style="--columns:{wide}">' + "".join(map(line, match[3].split("\n"))) + match[4])

    return re.sub(r'(<div class="run[^>]*>\s*<pre class="fragment")(>)(.*?)\n?(</pre>)', output, body, flags=re.S)


CODE_LINK = re.compile(r'<a class="code(?P<kind>[^"]*)" href="(?P<target>[^"]*)">(?P<text>[^<]*)</a>')
NO_TYPE = {"return", "else", "case", "new", "throw", "goto", "co_return"}


def declared(listing):
    """The names that a listing declares: `int n =`, `float tile[`, `void check(`, as far as words tell."""
    text = NO_TEXT.sub("", re.sub(r'<span class="comment">.*?</span>', "", listing, flags=re.S))
    text = html.unescape(re.sub(r"<[^>]*>", "", text))
    found = re.findall(r"(\w+|>)[&*]*\s+[&*]*(\w+)(?=\s*[\[(=;,{):])", text)
    return {name for type_, name in found if type_ not in NO_TYPE}


def to_the_margin(body):
    """Listings begin at the margin, however deep in a function they were cut out."""
    def listing(match):
        lines = [re.sub(r"<[^>]*>", "", line) for line in re.findall(r'<div class="line">(.*?)</div>', match[0])]
        least = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
        return re.sub(rf'(<div class="line">(?:<span class="comment">)?) {{{least}}}', r"\1", match[0])

    return LISTING.sub(listing, body)


def without_wrong_links(body, day):
    """Doxygen links a word of a listing to whatever has that name. Of a day's page those links stay that
    lead to the day itself or to common/, where the name is not one of the page's own; and a function's
    only where it is called, or declared at the margin: further in it is a variable or a method. Other
    pages have no day. No lesson calls the emulator."""
    own = set().union(*map(declared, LISTING.findall(body)))

    def listing(match):
        def link(found):
            target = found["target"].replace("__", "_")
            days = set(re.findall(r"day\d\d", target)) | ({"day06"} if "gpt2" in target or "llama" in target else set())
            before = html.unescape(match[0][:found.start()])
            behind = html.unescape(match[0][found.end():])
            line = re.sub(r"<[^>]*>", "", match[0][match[0].rfind('<div class="line">', 0, found.start()):found.start()])
            inside = re.match(r"\s+.*?(\w+|(?<=[\w>*&])>)[&*]*\s+[&*]*$", html.unescape(line))
            called = ("hl_function" not in found["kind"] or re.match(r"(</span>)?(\(|<)", behind)
                      and not (inside and inside[1] not in NO_TYPE))
            bare = "::" not in found["text"]
            standard = before.endswith("std::") or found["text"].startswith("std::")
            member = bare and (before.endswith((".", "->")) or "reference_gpu." in target)  # there it is gpu::name
            elsewhere = found["text"].startswith("gpt2::") and not days or "reference_emulator" in target
            stays = (called and not member and not standard and not elsewhere
                     and (days == {day} or not days and not (bare and found["text"] in own)))
            return found[0] if stays else found["text"]

        return CODE_LINK.sub(link, match[0])

    return LISTING.sub(listing, body)


class Linker:
    """Links each word of the glossary where a page first uses it.

    senses: the words that mean another of the glossary's here, or None"""

    def __init__(self, glossary, senses=None):
        self.meaning, self.senses = {}, {word: sense and sense.lower() for word, sense in (senses or {}).items()}
        for name, meaning in glossary:
            if len(name) > 2 and name.lower() not in EVERYDAY:
                self.meaning.setdefault(name.lower(), (name, re.sub(r"[`*]", "", meaning)))
        longest = sorted(self.meaning, key=len, reverse=True)
        self.pattern = re.compile(r"(?<![\w.-])(%s)(s|es)?(?![\w-])" % "|".join(map(re.escape, longest)), re.I)
        self.used = set()

    def link(self, match):
        key = match[1].lower()
        key = self.senses.get(key, key)
        if key is None or key in self.used:
            return match[0]
        self.used.add(key)
        name, meaning = self.meaning[key]
        return (f'<a class="term" href="words.html#{anchor(name)}" title="{html.escape(meaning)}">'
                f"{match[0]}</a>")

    def text(self, text):
        formulas = re.split(r"(\\\(.*?\\\)|\\\[.*?\\\])", text, flags=re.S)
        return "".join(piece if piece.startswith("\\") else self.pattern.sub(self.link, piece)
                       for piece in formulas)

    def page(self, body):
        """Text outside of code, headings, links and pictures is searched; the rest stays as it is."""
        if not self.meaning:
            return body
        closed, done = [], []  # closed: tags open around this place in which nothing is linked
        for piece in re.split(r"(<!--.*?-->|<[^>]*>)", body, flags=re.S):
            tag = re.match(r"<(/?)(\w+)([^>]*)", piece)
            if tag and not tag[3].endswith("/"):
                listing = tag[2] == "div" and (closed or re.search('class="(fragment|step|ttc|measured|bar)"', tag[3]))
                if tag[1] and closed and closed[-1] == tag[2]:
                    closed.pop()
                elif not tag[1] and (tag[2] in NO_LINKS or listing):
                    closed.append(tag[2])
            done.append(piece if piece.startswith("<") or closed else self.text(piece))
        return "".join(done)


def main():
    folder = pathlib.Path(sys.argv[1])
    glossary = words((pages.ROOT / "docs/words.md").read_text(encoding="utf-8").splitlines())
    entries, known = [], {}
    for path in sources():
        name, title = page_name(path) + ".html", path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        known[name] = title
        before, body, after = split_page((folder / name).read_text(encoding="utf-8"))
        body = in_lines(body)
        if name != "emulator.html":
            body = without_wrong_links(body, "day06" if name in ("gpt2.html", "llama.html") else name[:5])
        body = to_the_margin(body)
        weight = 3 if name.startswith("day") else 1.5
        entries += entries_of(name, title, body, weight)
        contents = outline(sections(body, title))
        if name != "words.html":
            body = Linker(glossary, OTHER_SENSE.get(name)).page(body)
        (folder / name).write_text(before + contents + body + after, encoding="utf-8")
    versions = Versions(folder)
    for path in sorted(folder.glob("*.html")):
        if path.name not in known and re.match(r"(group__|(class|struct|union|namespace)sixdays)", path.name) and "members" not in path.name:
            page = versions.page(path.name, without_more(path.read_text(encoding="utf-8")))
            path.write_text(page, encoding="utf-8")
            title = text_of(re.search(r'<div class="title">(.*?)<(?:/div|div|table)', page, re.S)[1])
            entries += reference_entries(path.name, title, split_page(page)[1])
    for path in folder.glob("group__*.js"):  # the sidebar: names without the namespaces, which the headings above say
        path.write_text(re.sub(r'\[ "sixdays::(?:\w+::)*', '[ "', path.read_text(encoding="utf-8")), encoding="utf-8")
    entries += [["Glossary", name, f"words.html#{anchor(name)}", text, name, "", 3] for name, text in glossary]
    data = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    (folder / "search_data.js").write_text(f"searchData({data});\n", encoding="utf-8")
    print(f"{len(known)} pages finished, {len(entries)} sections to be searched")


if __name__ == "__main__":
    main()
