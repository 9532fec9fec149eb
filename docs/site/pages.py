#!/usr/bin/env python3
"""The language of the pages: docs/*.md and the top README.md are standard Markdown, as a code host shows it.

    pages.py fill  [<folder of outputs>]    writes into each page what it shows of code, results and runs
    pages.py check [<folder of outputs>]    says where a page is not what `fill` would write; a test runs it
    pages.py make [--bench <folder of results>] [<folder of outputs>] <folder for pages>    the pages as Doxygen reads them

What a page shows of the tree stands in its committed text, so that it reads well where nothing was built. Nobody
types it: write the empty block or link, then `fill`. After a change of a listing `check` names the page, and
`fill` mends it. Outputs are filled where a folder of them is named: <build>/docs/outputs, made by target `docs`;
their long sentences are broken, since code hosts do not break lines. `make` without that folder shows what the
committed text says that programs print, and compiles nothing (target `docs_as_written`). With --bench it also shows what
`common/learn bench` wrote there: the reader's own GPU, beside the H200's. After a merge that conflicts in a block, `fill`.

    ```cuda day01/add_cuda.cu add         the code between two comments `// [add]`; without `add` the whole file. A
    ```                                   loop (_cpu.cpp) and, directly after it, its kernel are shown side by side
    ```cuda day01/add_cuda.cu add()       the function of this name
    ```
    ```diff one.cu add, two.cu kernel     the second region as its difference to the first
    ```diff day01/wrong/no_guard.patch    a patch's own lines
    ```text day01_flat_memory.3.txt       a captured output: section 3 of what day01_flat_memory_emulated printed
    [84 %](results/x.csv "add; fast; share")       a measured number: row and column, see rows.py
    [](results/x.csv "add; fast")                  alone on its line: that row as a bar
    [text](results/x.csv)                          alone on its line: the whole table; with "sweep" its sweep
    | exercise | what it asks for | how hard | how long |    this table's rows: the exercises of this page
    Allow 5 minutes for required reading           the sums of lines `*Must read, 5 minutes.*` (Optional, Hands on)
    [42](day01_flat_memory.md "must read")         the sum of another page

The rest is Markdown that Doxygen is given in its own words: `![what it shows](pictures/x.svg)` alone on its line,
`<details><summary>`, `<div class="x">`, $`x^2`$ and ```math, links to pages, headings (`words.md#gpu`), folders of code
(their reference) and files, `[← one page](a.md) · [the next →](b.md)` as the last line, and
`<!-- explorer warp -->`, a live picture below one that says the same on paper.

The first mistake ends it with file, line and a sentence.
"""
import pathlib
import re
import sys
import textwrap

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "pictures")]
import day01  # noqa: E402
import measured  # noqa: E402
import rows  # noqa: E402
import steps  # noqa: E402

ROOT = HERE.parents[1]
MEASURED = {f"{draw.__name__}.svg": draw for draw in (day01.roofline, *measured.PICTURES)}  # drawn with the reader's GPU
FENCE = re.compile(r"( *)(```+)(\w*) *(.*)")
LISTING = re.compile(r" *```\w+ \S+(_cpu\.cpp|_cuda\.cu) (.+)")  # of a loop or of a port
INLINE = re.compile(r"\$`(?P<math>[^`]+)`\$|(?P<code>(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
                    r"|(?<!!)\[(?P<text>(?:`[^`]*`|[^][`]|\[[^][]*\])*)\]\((?P<target>[^()\s]+)(?: \"(?P<title>[^\"]*)\")?\)",
                    re.S)
RESULT = re.compile(r"( *)\[([^][]*)\]\(([^()\s]*results/(\w+)\.csv)(?: \"([^\"]*)\")?\)$")
PICTURE = re.compile(r"( *)!\[([^][]+)\]\(([^()\s]+\.svg)\)$")
HEADING = re.compile(r"(#+) (.*)")
READING = re.compile(r"\*(Must read|Optional|Hands on), ([1-9]\d*) minutes?\.\*$")
SPENT = {"must read": "for required reading", "optional": "for optional parts", "hands on": "at the keyboard"}
MINUTES = re.compile(rf"\bAllow (?:\d+ (?:minutes? )?(?:{'|'.join(SPENT.values())})(?:, | and )?)*(?=\.)")
HTML = re.compile(r" *</?(?:details|div|table|tr|td)\b")
EXPLORER = re.compile(r"<!-- explorer (\w+) -->$")
WALK = re.compile(r"\[← [^][]*\]\([^()]*\)(?: · \[[^][]* →\]\([^()]*\))?$|\[[^][]* →\]\([^()]*\)$")
EXERCISES = "| exercise | what it asks for | how hard | how long |"
STATEMENT = re.compile(r"///? Exercise (\d+) of Day \d+: (.*)\.\n///?\n///? (Tiny|Easy|Medium|Hard), ([1-9]\d*) minutes\.\n"
                       r"(?:///?\n///? Page: (\S+)\n)?")
OF_A_MISTAKE = re.compile(r"day\d\d_(?:\w+_)?wrong_|mistake_|try_")  # outputs that are set off in red
ITS_OWN = re.compile(r" *\[|-?[\d.]+ is the |\w+, \S+:\d+: ")  # a line of an output that never goes on from the one above
WORD_ROW = re.compile(r"^\| ([^|]+?) \| ([^|]+?) \|(?:[^|]*\|){0,2}$")  # a wider table holds numbers, not words


def raw(text):
    return f"@htmlonly[block]{text}@endhtmlonly"


def plural(number):
    return f"{number} minute{'s' if number > 1 else ''}"


def wrapped(lines):
    """An output with its sentences broken, since code hosts do not break lines; tables stay as they are."""
    return [part for line in lines for part in
            (textwrap.wrap(line, 110, subsequent_indent=re.match(" *", line)[0], break_on_hyphens=False)
             if len(line) > 110 and "  " not in line.strip() else [line])]


def unbroken(lines):
    """What `wrapped` broke, whole again: where the first word of a line did not fit into the line above."""
    made, above = [], ""
    for line in lines:
        sentences = above.count(" ") > 4 and line.strip() and "  " not in f"{above.strip()}|{line.strip()}"
        alike = len(above) <= 110 and re.match(" *", above)[0] == re.match(" *", line)[0]
        if sentences and alike and len(f"{above} {line.split()[0]}") > 110 and not ITS_OWN.match(line):
            made[-1] += " " + line.strip()
        else:
            made.append(line)
        above = line
    return made


def page_name(path):
    """What Doxygen calls a page: its file's name; the top README is the front page."""
    return "index" if path == ROOT / "README.md" else path.stem


def headings(lines):
    """{line number: anchor} as code hosts make anchors: small letters, hyphens for spaces, no other signs."""
    found, seen, fenced = {}, {}, False
    for number, line in enumerate(lines):
        fenced ^= line.lstrip().startswith("```")
        heading = HEADING.match(line)
        if heading and not fenced:
            slug = re.sub(r"[^\w -]", "", re.sub(r"\]\([^)]*\)", "", heading[2]).lower()).replace(" ", "-")
            seen[slug] = seen.get(slug, -1) + 1
            found[number] = slug + (f"-{seen[slug]}" if seen[slug] else "")
    return found


def anchor_for_doxygen(page, slug):
    return page_name(page) + "_" + slug.replace("-", "_")


def sides(blocks):
    """{line number: what stands before and behind this listing}, where a loop and its port are side by side."""
    found, listings = {}, [(at, LISTING.fullmatch(block[0])) for at, block in blocks if any(block)]
    for (loop_at, loop), (port_at, port) in zip(listings, listings[1:]):
        if loop and port and (loop[1], port[1]) == ("_cpu.cpp", "_cuda.cu") and loop[2] == port[2]:
            found[loop_at] = [raw('<div class="pair"><div>')], [raw("</div><div>")]
            found[port_at] = [], [raw("</div></div>")]
    return found


class Page:
    def __init__(self, path, outputs=None, own=None):
        self.path, self.outputs, self.own = path, outputs, own
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.slugs = headings(self.lines)
        self.results = {}

    def blocks(self):
        """The page as (number of its first line, lines): a fenced block, a line that is special, or text."""
        at, text = 0, []
        while at < len(self.lines):
            end, fence = at + 1, FENCE.match(self.lines[at])
            if fence:
                close = fence[1] + fence[2]
                while end < len(self.lines) and self.lines[end].rstrip() != close:
                    end += 1
                if end == len(self.lines):
                    self.line = at
                    raise ValueError("this block has no end")
                end += 1
            elif self.lines[at] == EXERCISES:
                while end < len(self.lines) and self.lines[end].startswith("|"):
                    end += 1
            elif not any(pattern.match(self.lines[at]) for pattern in (RESULT, PICTURE, HEADING, READING, HTML, EXPLORER, WALK)):
                text.append(self.lines[at])
                at = end
                continue
            if text:
                yield at - len(text), text
            yield at, self.lines[at:end]
            at, text = end, []
        if text:
            yield at - len(text), text

    def each(self, change):
        made = []
        try:
            blocks = list(self.blocks())
            self.sides = sides(blocks)
            for self.line, block in blocks:
                made += change(block)
        except (ValueError, KeyError) as error:
            raise SystemExit(f"{self.path.relative_to(ROOT)}:{self.line + 1}: {error}") from None
        return made

    # --- what a page shows of the tree ---------------------------------------------------------------------

    def code(self, argument):
        """File, mark and lines of `file mark`."""
        file, _, mark = argument.strip().partition(" ")
        if not (ROOT / file).is_file():
            raise ValueError(f"there is no file {file}")
        text = (ROOT / file).read_text(encoding="utf-8")
        return file, mark, steps.region(text, mark, file) if mark else text.splitlines()

    def difference(self, argument):
        """The pairs of a ```diff block, see steps.py, and the names of their two sides."""
        if argument.endswith(".patch"):
            patch = self.code(argument)[2]
            right = next((line.split("/")[-1] for line in patch if line.startswith("--- ")), "")
            return steps.hunks_of(patch), [right, argument.split("/")[-1]]
        ends = [self.code(end) for end in argument.split(",")]
        if len(ends) != 2 or not all(mark for _, mark, _ in ends):
            raise ValueError(f"```diff takes `file mark, file mark` or a patch, not '{argument}'")
        return [(ends[0][2], ends[1][2])], [file.split("/")[-1] for file, _, _ in ends]

    def output(self, name):
        """Lines of a captured output, or of a file in the tree; None where none was captured."""
        path = ROOT / name if "/" in name else self.outputs and self.outputs / name
        return path.read_text(encoding="utf-8").splitlines() if path and path.is_file() else None

    def csv(self, target, fields):
        """Results, fields and name for a function of rows.py."""
        path = (self.path.parent / target).resolve()
        if path not in self.results:
            if not path.is_file():
                raise ValueError(f"there is no {target}")
            self.results[path] = measured.with_others(path, self.own)
        return self.results[path], [field.strip() for field in fields.split(";")], path.name

    def exercises(self):
        found = [row for page, row in exercises() if page == self.path]
        if not found:
            raise ValueError(f"no exercise belongs to {self.path.relative_to(ROOT)}")
        return [EXERCISES, "|---|---|---|---|", *found]

    def spent(self):
        sums = dict.fromkeys(SPENT, 0)
        for match in filter(None, map(READING.match, self.lines)):
            sums[match[1].lower()] += int(match[2])
        return sums

    def minutes(self):
        parts = []
        for kind, minutes in self.spent().items():
            if minutes:
                parts.append(f"{minutes if parts else plural(minutes)} {SPENT[kind]}")
        *most, last = parts or [""]
        return "Allow " + (f"{', '.join(most)} and {last}" if most else last)

    # --- fill ------------------------------------------------------------------------------------------------

    def filled(self):
        return self.each(self.fill)

    def fill(self, block):
        fence, result = FENCE.match(block[0]), RESULT.match(block[0])
        if fence and fence[4]:
            lines = self.shown(fence[3], fence[4])
            if lines is None:  # an output that is not captured here
                lines = wrapped(line.removeprefix(fence[1]) for line in block[1:-1])
            return [block[0], *((fence[1] + line).rstrip() for line in lines), block[-1]]
        if fence:
            return block
        if result:
            indent, _, target, _, fields = result.groups()
            if not fields or fields == "sweep":
                return block
            return [f'{indent}[{rows.bar_text(*self.csv(target, fields))}]({target} "{fields}")']
        if block[0] == EXERCISES:
            return self.exercises()
        return MINUTES.sub(lambda _: self.minutes(), "\n".join(self.in_text(self.number, block))).split("\n")

    def in_text(self, change, block):
        first = self.line

        def changed(match):
            self.line = first + match.string.count("\n", 0, match.start())
            return change(match)

        return INLINE.sub(changed, "\n".join(block)).split("\n")

    def shown(self, language, argument):
        if language == "diff":
            return steps.text_of(*self.difference(argument))
        if argument.endswith(".txt"):
            lines = self.output(argument)
            return lines and wrapped(lines)
        return self.code(argument)[2]

    def number(self, match):
        if match["title"] in SPENT:
            self.link(match["target"])  # leads somewhere
            said = Page((self.path.parent / match["target"]).resolve()).spent()[match["title"]]
            return f'[{said}]({match["target"]} "{match["title"]}")'
        if not (match["title"] and match["target"].endswith(".csv")):
            return match[0]
        said = rows.number(*self.csv(match["target"], match["title"]))
        return f'[{said}]({match["target"]} "{match["title"]}")'

    # --- make ------------------------------------------------------------------------------------------------

    def made(self, folder):
        """The page for Doxygen, and beside it what it includes."""
        self.folder, self.files = folder, 0
        return self.each(self.make)

    def make(self, block):
        fence = FENCE.match(block[0])
        if fence:
            lines = self.fenced(fence, block)
            return [fence[1] + line if line else line for line in lines] + [""] * (len(block) - len(lines))
        if block[0] == EXERCISES:
            return self.text(self.exercises())
        for pattern, change in ((RESULT, self.result), (PICTURE, self.picture), (HEADING, self.heading), (READING, self.reading),
                                (HTML, self.html), (EXPLORER, self.explorer), (WALK, self.walk)):
            match = pattern.match(block[0])
            if match:
                return [change(match, block[0])]
        return self.text(block)

    def fenced(self, fence, block):
        language, argument = fence[3], fence[4]
        if language == "math":
            return [r"\f[", *block[1:-1], r"\f]"]
        if not argument:
            return block
        if language == "diff":
            return [self.include(steps.html_of(*self.difference(argument)))]
        if argument.endswith(".txt"):
            kind = "run rejected" if OF_A_MISTAKE.match(argument) else "run"
            if self.output(argument) is None:  # not captured, or not here: the page knows what it printed
                lines = unbroken(line.removeprefix(fence[1]) for line in block[1:-1])
                argument = self.include("\n".join(lines) + "\n", "txt").split()[-1]
            return [raw(f'<div class="{kind}">'), f"@verbinclude {argument}", raw("</div>")]
        file, mark, _ = self.code(argument)
        listing = f"@snippet {file} {mark}" if mark else f"@include {file}"
        if mark.endswith("()"):
            return ["@code{.cpp}", *self.code(argument)[2], "@endcode"]
        before, behind = self.sides.get(self.line, ([], []))
        return [*before, listing, *behind]

    def include(self, text, kind="html"):
        """A command for Doxygen that puts this HTML in place."""
        self.files += 1
        name = f"page_{page_name(self.path)}_{self.files}.{kind}"
        write(self.folder / name, text)
        return f"@htmlinclude[block] {name}"

    def result(self, match, _):
        indent, _, target, name, fields = match.groups()
        of = self.csv(target, fields or "")
        return indent + self.include(rows.table(of[0], fields == "sweep") if not fields or fields == "sweep" else rows.bar(*of))

    def picture(self, match, _):
        path = self.path.parent / match[3]
        if not path.is_file():
            raise ValueError(f"there is no {match[3]}")
        drawn = MEASURED[path.name](self.own) if self.own and path.name in MEASURED else path.read_text(encoding="utf-8")
        return match[1] + self.include(f'<div class="picture">{drawn}</div>\n')

    def heading(self, match, _):
        page, slug = page_name(self.path), self.slugs[self.line]
        if page == "index":  # has the project's name, and its sections stay out of the sidebar
            return f"<h2>@anchor {anchor_for_doxygen(self.path, slug)} {match[2]}</h2>" if self.line else "# Six days"
        return f"{match[1]} {self.text([match[2]])[0]} {{#{anchor_for_doxygen(self.path, slug) if self.line else page}}}"

    def reading(self, match, _):
        kind = match[1].lower()
        return raw(f'<p class="reading {kind.split()[0]}"><span>{kind}</span> {plural(int(match[2]))}</p>')

    def html(self, _, line):
        indent = line[:len(line) - len(line.lstrip())]
        return indent + raw(line.strip().replace("<details>", '<details class="answer">').replace("</summary>", "</summary><div>")
                            .replace("</details>", "</div></details>"))

    def explorer(self, match, _):
        return raw(f'<div class="explorer" id="explorer_{match[1]}" data-explorer="{match[1]}"></div>')

    def walk(self, _, line):
        return raw('<div class="walk">') + "\n\n" + self.text([line])[0].replace(" · ", "\n\n") + "\n" + raw("</div>")

    def text(self, block):
        return self.in_text(self.inline, block)

    def inline(self, match):
        if match["math"]:
            return rf"\f${match['math']}\f$"
        if match["code"]:
            return re.sub(r"%(?=[A-Za-z_])", "%%", match[0])  # Doxygen drops one
        text, target, title = match["text"], match["target"], match["title"]
        if target.endswith(".csv") and title:
            results, fields, name = self.csv(target, title)
            return rows.number(results, fields, name).replace(" ", "&nbsp;") + rows.of_readers_gpu(results, fields)
        return f"[{text}]({self.link(target)})" if self.link(target) else text

    def link(self, target):
        """Where a link of the source leads on the pages; empty if to a file that they do not show."""
        if re.match(r"\w+:", target):
            return target
        file, _, slug = target.partition("#")
        path = (self.path.parent / file).resolve() if file else self.path
        if not path.exists() or ROOT not in (path, *path.parents):
            raise ValueError(f"the link {target} leads nowhere")
        if path.is_dir():
            name = path.relative_to(ROOT).as_posix()
            return "@ref reference_" + name.removeprefix("common/") if re.fullmatch(r"common/\w+|day\d\d_\w+", name) else ""
        if path not in sources():
            return ""
        if not slug:
            return f"@ref {page_name(path)}"
        if not slug.startswith("word_") and slug not in headings(path.read_text(encoding="utf-8").splitlines()).values():
            raise ValueError(f"{file or 'this page'} has no heading #{slug}")
        return "@ref " + (slug if slug.startswith("word_") else anchor_for_doxygen(path, slug))


def exercises():
    """[(page, row of its table)], by day, then those of one file, then by number: from the statements,
    exercises/<name>.cu and exercises/<name>/<name>.hpp; common/learn reads the same lines. An exercise belongs to its
    day's first page, or to another one that a line of its statement names: `/// Page: docs/training.md`."""
    found = []
    for statement in [*ROOT.glob("day*/exercises/*.cu"),
                      *(hints.parent / f"{hints.parent.name}.hpp" for hints in ROOT.glob("day*/exercises/*/hints.md"))]:
        name = statement.relative_to(ROOT)
        match = STATEMENT.search(statement.read_text(encoding="utf-8"))
        if not match:
            raise ValueError(f"{name} lacks `/// Exercise N of Day NN: what.`, "
                             "or a line after it and then `/// Easy, 15 minutes.`")
        number, title, level, minutes, page = match.groups()
        page = ROOT / (page or f"docs/{name.parts[0]}.md")
        if not (page.is_file() and EXERCISES in page.read_text(encoding="utf-8").splitlines()):
            raise ValueError(f"{name} belongs to {page.relative_to(ROOT)}, which has no table of exercises")
        row = f"| `{statement.stem}` | {title} | {level.lower()} | {minutes} minutes |"
        found.append((name.parts[0], statement.suffix == ".hpp", int(number), page, row))
    return [(page, row) for *_, page, row in sorted(found)]


def words(lines):
    """(name, meaning) of each row of the glossary; in "warp, lane" each name is a word."""
    found = [WORD_ROW.match(line) for line in lines]
    found = [row for row in found if row and row[1] not in ("Term", "Letter") and "---" not in row[1]]
    return [(name.strip(" `"), row[2]) for row in found for name in row[1].split(",")]


def anchor(word):
    return "word_" + re.sub(r"\W+", "_", word.lower())


def anchored(lines):
    """The glossary with an anchor for each of its words; of two alike, for the first."""
    seen, made = set(), []
    for line in lines:
        names = [anchor(name) for name, _ in words([line]) if anchor(name) not in seen]
        seen.update(names)
        made.append("| " + "".join(f"@anchor {name} " for name in names) + line[2:] if names else line)
    return made


def write(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def sources():
    """README.md is the front page; docs/README.md, how pages are made, is none."""
    pages = [path for path in sorted((ROOT / "docs").glob("*.md")) if path.name != "README.md"]
    return [ROOT / "README.md", *pages, ROOT / "CONTRIBUTING.md"]


def main():
    verb, folders = sys.argv[1] if len(sys.argv) > 1 else "", sys.argv[2:]
    own = None
    if verb == "make" and folders[:1] == ["--bench"] and len(folders) > 1:
        own, folders = pathlib.Path(folders[1]).resolve(), folders[2:]
    folders = [pathlib.Path(name) for name in folders]
    if (verb, len(folders)) not in (("fill", 0), ("fill", 1), ("check", 0), ("check", 1), ("make", 1), ("make", 2)):
        sys.exit(__doc__)
    stale = []
    for path in sources():
        page = Page(path, folders[0] if folders[verb == "make":] else None, own)
        if verb == "make":
            folders[-1].mkdir(parents=True, exist_ok=True)
            lines = page.made(folders[-1])
            write(folders[-1] / f"{page_name(path)}.md", "\n".join(anchored(lines) if path.name == "words.md" else lines) + "\n")
            continue
        lines = page.filled()
        if verb == "fill":
            write(path, "\n".join(lines) + "\n")
        elif lines != page.lines:
            line = next((n for n, (a, b) in enumerate(zip(lines, page.lines)) if a != b), min(len(lines), len(page.lines)))
            stale.append(f"{path.relative_to(ROOT)}:{line + 1}: shows what was there before; docs/site/pages.py fill mends it")
    if stale:
        sys.exit("\n".join(stale))


if __name__ == "__main__":
    main()
