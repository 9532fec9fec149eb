"""What one listing changes in another: a step of a ladder, or the patch that plants a mistake; as text and as HTML.

Such a difference is a list of pairs (lines before, lines after)."""
import difflib
import html
import re

# What Doxygen's own listings tell apart, by the names of their styles.
TOKEN = re.compile(r"""(?P<comment>//.*)|(?P<stringliteral>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])+')
    |(?P<preprocessor>^\s*\#\s*\w+)
    |(?P<keywordflow>\b(?:if|else|for|while|do|return|switch|case|default|break|continue)\b)
    |(?P<keywordtype>\b(?:void|bool|char|int|unsigned|float|double|auto)\b)
    |(?P<keyword>\b(?:const|constexpr|static|inline|template|class|struct|namespace|using|sizeof
        |static_assert|noexcept|extern)\b)
    |\s+|\w+|.""", re.X)
KEEP, FOLD = 2, 6  # unchanged lines that stay in sight beside a change; the fewest worth a fold


def region(text, mark, name):
    """The lines between the two comments `// [mark]`, without the indentation they share; or the function `mark()`."""
    lines = text.splitlines()
    if mark.endswith("()"):
        begin = next((i for i, line in enumerate(lines) if re.match(rf"[^\s/].*\b{mark[:-2]}\(", line)), None)
        if begin is None or "}" not in lines[begin:]:
            raise ValueError(f"{name} has no function {mark}")
        return lines[begin:lines.index("}", begin) + 1]
    at = [i for i, line in enumerate(lines) if line.strip() == f"// [{mark}]"]
    if len(at) != 2:
        raise ValueError(f"{name} has {len(at)} lines `// [{mark}]`, and a region has two")
    found = [line for line in lines[at[0] + 1:at[1]] if not re.fullmatch(r"\s*// \[[^]]*\]", line)]
    return to_the_margin(found)


def to_the_margin(lines):
    margin = min((len(l) - len(l.lstrip()) for l in lines if l.strip()), default=0)
    return [line[margin:].rstrip() for line in lines]


def hunks_of(patch):
    """The pairs of a unified diff, each without the indentation that its lines share."""
    hunks = []
    for line in patch:
        if line.startswith("@@"):
            hunks.append([])
        elif hunks:
            hunks[-1].append((line[:1] or " ", line[1:]))
    pairs = []
    for hunk in hunks:
        lines = to_the_margin([line for _, line in hunk])
        pairs.append(tuple([line for (sign, _), line in zip(hunk, lines) if sign in kept] for kept in (" -", " +")))
    return pairs


def plain(line):
    """A line as it is compared: spaces are no change."""
    return re.sub(r"\s+", "", line)


def tokens(line):
    return [(match.lastgroup, match.group()) for match in TOKEN.finditer(line)]


def words(line):
    return [text for _, text in tokens(line) if text.strip()]


def show(line, other=None):
    """A line as HTML. What its partner in the other listing does not say is set off."""
    found = tokens(line)
    new = set()
    if other is not None:
        match = difflib.SequenceMatcher(None, [t for _, t in tokens(other)], [t for _, t in found], False)
        for kind, _, _, first, last in match.get_opcodes():
            if kind != "equal":
                new.update(range(first, last))
    parts = []
    for number, (style, text) in enumerate(found):
        text = html.escape(text, quote=False)
        if style:
            text = f'<span class="{style}">{text}</span>'
        parts.append(f"<b>{text}</b>" if number in new and text.strip() else text)
    return "".join(parts).replace("</b><b>", "")


def row(line, kind, other=None):
    """A line as a line of the listing."""
    indent = len(line) - len(line.lstrip())
    return f'<div class="line {kind}" style="--wrap:{indent + 4}ch">{show(line, other)}</div>'


def partners(before, after):
    """Which changed lines are one line, changed: pairs in rising order that have most words in common."""
    best = [[(0, {})] * (len(before) + 1) for _ in range(len(after) + 1)]  # of the first j and i lines
    for j, new in enumerate(after, 1):
        for i, old in enumerate(before, 1):
            best[j][i] = max(best[j - 1][i], best[j][i - 1], key=lambda found: found[0])
            alike = difflib.SequenceMatcher(None, words(old), words(new), False).ratio()
            total, pairs = best[j - 1][i - 1]
            if alike > 0.6 and total + alike > best[j][i][0]:
                best[j][i] = total + alike, {**pairs, j - 1: i - 1}
    return best[-1][-1][1]


def changed(before, after):
    pairs = partners(before, after)
    back = {i: j for j, i in pairs.items()}
    old = [row(line, "old", after[back[i]] if i in back else None) for i, line in enumerate(before)]
    new = [row(line, "new", before[pairs[j]] if j in pairs else None) for j, line in enumerate(after)]
    return f'<div class="hunk"><div>{"".join(old)}</div><div>{"".join(new)}</div></div>'


def same(before, after):
    """Unchanged lines, twice: a narrow window shows the second only."""
    return "".join(f'<div class="hunk same"><div>{row(a, "")}</div><div>{row(b, "")}</div></div>'
                   for a, b in zip(before, after))


def folded(before, after, first, last):
    """The same, with the middle of a long run folded. The first or last run has one change beside it."""
    top, end = (0 if first else KEEP), len(after) - (0 if last else KEEP)
    if end - top < FOLD:
        return same(before, after)
    return (same(before[:top], after[:top])
            + f'<details><summary>{end - top} lines as before</summary>'
            + same(before[top:end], after[top:end]) + "</details>"
            + same(before[end:], after[end:]))


def opcodes(before, after):
    found = difflib.SequenceMatcher(None, [plain(l) for l in before], [plain(l) for l in after], False).get_opcodes()
    if all(kind == "equal" for kind, *_ in found):
        raise ValueError("the two sides of this difference do not differ but for spaces")
    return found


def text_of(pairs, names):
    """As `diff` writes it, with long runs of unchanged lines left out."""
    lines = [f"--- {names[0]}", f"+++ {names[1]}"]
    for before, after in pairs:
        codes = opcodes(before, after)
        lines += ["@@ @@"] if len(lines) > 2 else []
        for number, (kind, a, b, c, d) in enumerate(codes):
            if kind != "equal":
                lines += ["-" + line for line in before[a:b]] + ["+" + line for line in after[c:d]]
                continue
            same = [" " + line for line in after[c:d]]
            top, end = (0 if number == 0 else KEEP), len(same) - (0 if number == len(codes) - 1 else KEEP)
            lines += same if end - top < FOLD else [*same[:top], f"@@ {end - top} lines as before @@", *same[end:]]
    return lines


def nearer(lines):
    """A line that goes on far to the right, below a bracket, begins eight letters further in than its statement."""
    moved, statement = [], 0
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if indent > statement + 4 and moved:
            line = " " * (statement + 8) + line.lstrip()
        elif line:
            statement = indent
        moved.append(line)
    return moved


def html_of(pairs, names):
    """HTML of both, side by side where there is room, else one in the other."""
    parts = []
    for before, after in pairs:
        codes, before, after = opcodes(before, after), nearer(before), nearer(after)
        for number, (kind, a, b, c, d) in enumerate(codes):
            if kind == "equal":
                parts.append(folded(before[a:b], after[c:d], number == 0, number == len(codes) - 1))
            else:
                parts.append(changed(before[a:b], after[c:d]))
    heads = "".join(f"<div>{html.escape(name)}</div>" for name in names)
    return (f'<div class="step"><div class="hunk names">{heads}</div>'
            f'<div class="lines">{"".join(parts)}</div></div>\n')
