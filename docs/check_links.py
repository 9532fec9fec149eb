#!/usr/bin/env python3
"""Checks the built pages as a reader without network meets them.

    docs/check_links.py build/default/docs/html

Every local href and src leads to a file that is there, every #anchor exists in it, and no page loads
anything from the network. (Links that only a click follows may lead outside.)
"""
import html.parser
import pathlib
import re
import sys
import urllib.parse

LOADS = {"src", "srcset", "poster", "data", "xlink:href"}
OUTSIDE = re.compile(r"^(https?:)?//")
PLAIN = re.compile(r'<(?!script|style)\w+( class="[^"]*")?>|</(?!script|style)\w+>')  # every second tag: it leads nowhere


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.anchors, self.links, self.loads, self.style = set(), [], [], False

    def handle_starttag(self, tag, attributes):
        self.style = tag == "style"
        for name, value in attributes:
            value = value or ""
            if name in ("id", "name"):
                self.anchors.add(value)
            elif name in LOADS or (name == "href" and tag in ("link", "image", "use")):
                self.loads.append(value)
            elif name == "href":
                self.links.append(value)
            elif name == "style":
                self.loads += css_urls(value)

    def handle_data(self, data):
        if self.style:
            self.loads += css_urls(data)

    def handle_endtag(self, tag):
        self.style = False


def css_urls(text):
    """What a style sheet loads."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    found = re.findall(r"url\(\s*['\"]?([^'\")]+)", text)
    return found + re.findall(r"@import\s+['\"]([^'\"]+)", text)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = {}
    for path in root.glob("*.html"):
        pages[path.name] = page = Page()
        page.feed(PLAIN.sub("", path.read_text(encoding="utf-8")))
    if "index.html" not in pages:
        sys.exit(f"{root} holds no index.html")

    wrong = []
    for name, page in sorted(pages.items()):
        for target in dict.fromkeys(page.loads + page.links):
            loaded = target in page.loads
            if OUTSIDE.match(target):
                if loaded:
                    wrong.append(f"{name}: asks the network for {target}")
                continue
            if re.match(r"^[a-z]+:", target):  # data:, javascript:, mailto:
                continue
            url = urllib.parse.urlsplit(target)
            file = urllib.parse.unquote(url.path) or name
            anchor = urllib.parse.unquote(url.fragment)
            if file not in pages and not (root / file).exists():
                wrong.append(f"{name}: {target} leads nowhere")
            elif anchor == "nested-classes":
                pass  # Doxygen writes this one for private structs too, which it does not list
            elif anchor and file in pages and anchor not in pages[file].anchors:
                wrong.append(f"{name}: {file} has no #{anchor}")
    for sheet in sorted(root.glob("*.css")):
        for target in css_urls(sheet.read_text(encoding="utf-8")):
            if OUTSIDE.match(target):
                wrong.append(f"{sheet.name}: asks the network for {target}")
            elif not target.startswith(("data:", "#")) and not (root / target).exists():
                wrong.append(f"{sheet.name}: {target} leads nowhere")
    if wrong:
        sys.exit("\n".join(dict.fromkeys(wrong)))
    print(f"{len(pages)} pages: every link leads somewhere, and nothing is asked of the network")


if __name__ == "__main__":
    main()
