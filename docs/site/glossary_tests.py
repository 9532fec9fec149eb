#!/usr/bin/env python3
"""Each term of docs/words.md is bold where the page that introduces it first uses it, and no page before that one uses it.

A term in a link, in a heading, in code or in a formula is not used: a link may point ahead to what a later page explains."""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from finish import EVERYDAY, OTHER_SENSE  # noqa: E402
from pages import WORD_ROW, page_name  # noqa: E402

DOCS = pathlib.Path(__file__).resolve().parents[1]
INTRODUCED = re.compile(r"\]\((\w+\.md)\)")
NOT_PROSE = re.compile(r"^ *```.*?^ *```[^\n]*$|\$`.*?`\$|^#.*?$|^!\[.*?$|^\|.*?$|<!--.*?-->|`[^`\n]*`|\[[^\]]*\]\([^)]*\)", re.M | re.S)


def order():
    """The pages as their last lines lead from one to the next."""
    page, pages = "day01_flat_memory.md", []
    while page and page not in pages:
        pages.append(page)
        last = (DOCS / page).read_text(encoding="utf-8").rstrip().splitlines()[-1]
        following = re.search(r"→\]\((\w+\.md)\)", last)
        page = following and following[1]
    return [page for page in pages if (DOCS / page).exists() and page != "words.md"]


def terms(lines):
    """(names, the page that introduces them) of each row of the glossary."""
    for line in lines:
        row, introduced = WORD_ROW.match(line), INTRODUCED.search(line)
        if row and introduced:
            yield [name.strip(" `") for name in re.split("[,;]", row[1])], introduced[1]


def prose(text):
    return NOT_PROSE.sub(" ", text)


def uses(name):
    return re.compile(r"(?<![\w.-])%s(s|es)?(?![\w-])" % re.escape(name).replace(r"\ ", r"\s+"), re.I if len(name) > 2 else 0)


def faults(rows, texts, everyday=(), senses=None):
    """texts: {page: its text}, in reading order"""
    pages, found = list(texts), []
    plain = {page: prose(text) for page, text in texts.items()}
    for names, home in rows:
        if home not in pages:
            found.append(f"{names[0]}: {home} is not among the pages that follow each other")
            continue
        bold = re.compile(r"\*\*[^*\n]*?(?<!\w)(%s)(s|es)?\b[^*\n]*?\*\*" % "|".join(re.escape(name) for name in names), re.I)
        if not bold.search(texts[home]):
            found.append(f"{home}: does not introduce **{names[0]}**")
        for name in names:
            if name.lower() in everyday or len(name) < 3:
                continue
            for page in pages[:pages.index(home)]:
                used = None if name.lower() in (senses or {}).get(page, ()) else uses(name).search(plain[page])
                if used:
                    around = " ".join(plain[page][max(0, used.start() - 30):used.end() + 20].split())
                    found.append(f"{page}: uses '{name}', which {home} introduces: ... {around} ...")
                    break
    return found


def test_itself():
    texts = {"a.md": "A **warp** has lanes, `banks`. A [bank](b.md)\n## Bank\n```\nbank\n```\n", "b.md": "**Banks** and warps: two\nforms."}
    assert faults([(["warp", "lane"], "a.md"), (["bank"], "b.md")], texts) == []
    assert faults([(["warp"], "b.md")], texts) == ["b.md: does not introduce **warp**",
                                                   "a.md: uses 'warp', which b.md introduces: ... A **warp** has lanes, . A ..."]
    assert faults([(["warp"], "b.md")], texts, {"warp"}) == faults([(["warp"], "b.md")], texts, (), {"a.md": {"warp"}}) == [
        "b.md: does not introduce **warp**"]
    assert faults([(["lane"], "c.md")], texts) == ["lane: c.md is not among the pages that follow each other"]


def main():
    test_itself()
    rows = list(terms((DOCS / "words.md").read_text(encoding="utf-8").splitlines()))
    assert len(rows) > 100, rows
    senses = {page_name(DOCS / page): page for page in order()}
    other = {senses[name.removesuffix(".html")]: set(words) for name, words in OTHER_SENSE.items() if name.removesuffix(".html") in senses}
    found = faults(rows, {page: (DOCS / page).read_text(encoding="utf-8") for page in order()}, EVERYDAY, other)
    if found:
        sys.exit("\n".join(found))
    print(f"{len(rows)} terms are introduced before they are used")


if __name__ == "__main__":
    main()
