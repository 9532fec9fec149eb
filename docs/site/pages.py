#!/usr/bin/env python3
"""The pages as Doxygen reads them: docs/*.md with the directives that need more than its own aliases.

    pages.py <project folder> <folder for pages> <folder for what they include>

    @step{file mark, file mark}    the second region as its difference to the first
    @number{csv; row; column}      a measured number, rounded
    @bar{csv; row}                 a row as a bar
    @question{text} @endquestion   a question whose answer is folded
    @exercises{day01}              the day's exercises, how hard they are and how long they take
    @reading{must, 5}              a badge: must, optional or hands on, and minutes; @minutes: their sums

Each takes one line and leaves one, so that Doxygen's line numbers stay right. The first mistake ends
it with file, line and a sentence.
"""
import html
import pathlib
import re
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "pictures")]
import measured  # noqa: E402
import rows  # noqa: E402
import steps  # noqa: E402

DIRECTIVE = re.compile(r"@(step|number|bar|question|exercises|reading)\{([^{}]*)\}|@(endquestion|minutes)\b")
KINDS = {"must": "must read", "optional": "optional", "hands on": "hands on"}
STATEMENT = re.compile(r"/// Exercise (\d+) of Day \d+: (.*)\.\n///\n/// (Easy|Medium|Hard), ([1-9]\d*) minutes\.\n")
WORD_ROW = re.compile(r"^\| ([^|]+?) \| ([^|]+?) \|")


class Page:
    def __init__(self, root, includes, path):
        self.root, self.includes, self.name, self.files = root, includes, path.stem, 0
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.open = None  # the line of an open question
        self.results = {}

    def include(self, text):
        """A command for Doxygen that puts this HTML in place."""
        self.files += 1
        file = self.includes / f"page_{self.name}_{self.files}.html"
        write(file, text)
        return f"@htmlinclude[block] {file.name}"

    def csv(self, name):
        """The results whose file begins with this name."""
        if name not in self.results:
            found = sorted((self.root / "docs/results").glob(f"{name}*.csv"))
            if len(found) != 1:
                names = ", ".join(path.stem for path in found) or "none"
                raise ValueError(f"one file of docs/results/ should begin with '{name}', but {names} did")
            self.results[name] = measured.Results(found[0]), found[0].name
        return self.results[name]

    def step(self, text):
        ends = [end.split(None, 1) for end in text.split(",")]
        if [len(end) for end in ends] != [2, 2]:
            raise ValueError(f"@step takes `file mark, file mark`, not '{text}'")
        regions = []
        for file, mark in ends:
            if not (self.root / file).is_file():
                raise ValueError(f"there is no file {file}")
            code = (self.root / file).read_text(encoding="utf-8")
            regions.append(steps.region(code, mark.strip(), file))
        return self.include(steps.step(*regions, [file for file, _ in ends]))

    def measured(self, text, show):
        name, *fields = [field.strip() for field in text.split(";")]
        return show(*[self.csv(name)[0], fields, self.csv(name)[1]])

    def number(self, text):
        return self.measured(text, rows.number)

    def bar(self, text):
        return self.include(self.measured(text, rows.bar))

    def question(self, text):
        if self.open:
            raise ValueError(f"the question of line {self.open} has no @endquestion")
        self.open = self.line
        text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
        return f'@htmlonly[block]<details class="answer question"><summary>{text}</summary><div>@endhtmlonly'

    def endquestion(self, _):
        if not self.open:
            raise ValueError("no @question is open here")
        self.open = None
        return "@htmlonly[block]</div></details>@endhtmlonly"

    def exercises(self, day):
        """From the statements, the headers exercises/<name>/<name>.hpp; common/learn reads the same lines."""
        found = []
        for path in self.root.glob(f"{day}_*/exercises/*/stub.cu"):
            statement = path.parent / f"{path.parent.name}.hpp"
            match = STATEMENT.search(statement.read_text(encoding="utf-8"))
            if not match:
                raise ValueError(f"{statement.relative_to(self.root)} lacks `/// Exercise N of Day NN: what.`, "
                                 "or a line behind it and then `/// Easy, 15 minutes.`")
            number, title, level, minutes = match.groups()
            cells = (f"<code>{path.parent.name}</code>", html.escape(title, quote=False), level.lower(),
                     f"{minutes} minutes")
            found.append((int(number), "".join(f"<td>{cell}</td>" for cell in cells)))
        if not found:
            raise ValueError(f"'{day}' has no exercises")
        rows = "".join(f"<tr>{cells}</tr>" for _, cells in sorted(found))
        return self.include(f'<table class="markdownTable">{rows}</table>')

    def kind_and_minutes(self, text):
        kind, _, minutes = (piece.strip() for piece in text.partition(","))
        if kind not in KINDS or not re.fullmatch(r"[1-9]\d*", minutes):
            raise ValueError(f"@reading takes must, optional or hands on, and minutes, not '{text}'")
        return kind, int(minutes)

    def reading(self, text):
        kind, minutes = self.kind_and_minutes(text)
        plural = "s" if minutes > 1 else ""
        return (f'@htmlonly[block]<p class="reading {kind.split()[0]}"><span>{KINDS[kind]}</span> '
                f"{minutes} minute{plural}</p>@endhtmlonly")

    def minutes(self, _):
        sums = dict.fromkeys(KINDS, 0)
        for line in self.lines:
            for match in re.finditer(r"@reading\{([^{}]*)\}", line):
                kind, minutes = self.kind_and_minutes(match[1])
                sums[kind] += minutes
        return ", ".join(f"{KINDS[kind]} {sums[kind]}&nbsp;minutes" for kind in KINDS if sums[kind])

    def made(self):
        lines = []
        for self.line, line in enumerate(self.lines, 1):
            try:
                lines.append(DIRECTIVE.sub(
                    lambda m: getattr(self, m[1] or m[3])((m[2] or "").strip()), line))
            except (ValueError, KeyError) as error:
                raise SystemExit(f"docs/{self.name}.md:{self.line}: {error}") from None
        if self.open:
            raise SystemExit(f"docs/{self.name}.md:{self.open}: this question has no @endquestion")
        return lines


def words(lines):
    """(name, meaning) of each row of the glossary; in "warp, lane" each name is a word."""
    rows = [WORD_ROW.match(line) for line in lines]
    rows = [row for row in rows if row and row[1] not in ("We say", "Letter") and "---" not in row[1]]
    return [(name.strip(" `"), row[2]) for row in rows for name in row[1].split(",")]


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


def main():
    root, pages, includes = map(pathlib.Path, sys.argv[1:])
    for folder in (pages, includes):
        folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((root / "docs").glob("*.md")):
        if path.name == "README.md":
            continue
        lines = Page(root, includes, path).made()
        if path.name == "words.md":
            lines = anchored(lines)
        write(pages / path.name, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
