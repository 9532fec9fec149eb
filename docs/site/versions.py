"""What belongs to an operation of the reference: its lesson, its CPU reference, its CUDA version and the files of its steps.

All of it comes from the names of files: <set>_cpu.cpp, <set>_cuda.cu, <set>_tile.cu and steps/, and from the pages that show them.
"""
import html
import re

import reference
from pages import ROOT, anchor_for_doxygen, headings, page_name, sources

SHOWN = re.compile(r"^ *```(?:cuda|cpp|diff) (\S+?)(?: ([^,\n]*))?(?:, .*)?$")
NOT_LESSONS = {"tile.md", "tests.md", "CONTRIBUTING.md"}


def listings():
    """[(file, region, page, anchor, heading)] of what the pages show of the code, in reading order."""
    found = []
    for path in sources():
        if path.name in NOT_LESSONS:
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        anchors, title, at = headings(lines), "", ""
        for number, line in enumerate(lines):
            if number in anchors:
                title, at = line.lstrip("# "), anchor_for_doxygen(path, anchors[number]) if number else ""
            shown = SHOWN.match(line)
            if shown:
                found.append((shown[1], (shown[2] or "").removesuffix("()"), page_name(path), at, title))
    return found


def lesson(shown, header, operation):
    """(page, anchor, heading) where the course explains it: where its loop or kernel is shown, or what stands nearest."""
    folder, stem = header.parent.as_posix(), header.stem
    own = [one for one in shown if re.fullmatch(rf"{folder}/{stem}(_cpu\.cpp|_cuda\.cu|\.hpp)", one[0])]
    nearest = ([one for one in own if one[1] == operation], own, [one for one in shown if one[0].startswith(f"{folder}/steps/{operation}")],
               [one for one in shown if one[0].startswith(folder + "/")])
    found = next(iter(sum(nearest, [])), None)
    return found[2:] if found else lesson_of_room(shown, header.parent)


def lesson_of_room(shown, room):
    """The same for a folder, which may have a page of its name; what no page shows belongs to the lesson of the folder above."""
    while room.parts:
        page = ROOT / "docs" / f"{room.name}.md"
        if page.exists():
            return room.name, "", page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        for file, _, *found in shown:
            if file.startswith(room.as_posix() + "/"):
                return tuple(found)
        room = room.parent
    return None


def line_of(path, name):
    """The line that defines a function, or 0."""
    if not path.exists():
        return 0
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((at for at, line in enumerate(lines, 1) if re.match(rf"[a-z].*\b{name}\(", line) and not line.endswith(";")), 0)


def steps(header, operation):
    """The files of an operation's steps: steps/<operation>/, or those whose launchers its set calls."""
    room, base = ROOT / header.parent, operation.removesuffix("_backward")
    for name in (operation, base, header.stem, header.stem.removesuffix("_backward")):
        if (room / "steps" / name).is_dir():
            return sorted((room / "steps" / name).rglob("[0-9][0-9]_*.cu"), key=lambda path: path.name)
    others = {name for name in re.findall(r"\b(\w+)_cuda\(", (ROOT / header).read_text(encoding="utf-8")) if name != operation}
    calls = "".join(path.read_text(encoding="utf-8") for path in room.glob(header.stem + "*.c*") if "_cpu" not in path.name)
    return sorted((path for path in (room / "steps").rglob("[0-9][0-9]_*.cu")
                   if path.parent.name not in others and any(name in calls for name in re.findall(r"^void (launch_\w+)\(", path.read_text(encoding="utf-8"), re.M))),
                  key=lambda path: path.name)


def source_pages(folder):
    """{path from the root: the page that Doxygen made of this file}"""
    found = {}
    for page in folder.glob("*_source.html"):
        trail = re.search(r'id="nav-path".*?</ul>', page.read_text(encoding="utf-8"), re.S)
        parts = [re.sub(r"<[^>]*>", "", part) for part in re.findall(r'<li class="navelem">(.*?)</li>', trail[0])] if trail else []
        found["/".join(parts)] = page.name
    return found


class Versions:
    """folder: the pages that Doxygen made"""

    def __init__(self, folder):
        self.pages, self.shown, self.headers = source_pages(folder), listings(), {}
        for path in sorted(ROOT.glob("day[0-9][0-9]_*/**/*.hpp")):
            text = path.read_text(encoding="utf-8")
            group = reference.group_of(path, text)
            page = "group__" + group.replace("_", "__") + ".html"
            self.headers.setdefault(page, []).append((path.relative_to(ROOT), text))

    def source(self, path, line=0):
        page = self.pages.get(path.relative_to(ROOT).as_posix())
        return f'<a href="{page}{f"#l{line:05d}" if line else ""}">{path.name}</a>' if page else ""

    def row(self, header, operation):
        """The cells (title, links) of one operation, declared in this header."""
        stem, found = ROOT / header.parent / header.stem, lesson(self.shown, header, operation)
        cells = [("Lesson", f'<a href="{found[0]}.html{"#" + found[1] if found[1] else ""}">{html.escape(found[2])}</a>' if found else "")]
        for title, end, name in (("CPU reference", "_cpu.cpp", operation + "_cpu"), ("CUDA version", "_cuda.cu", operation + "_cuda"),
                                 ("CUDA Tile", "_tile.cu", f"launch_{operation}_tile")):
            path = stem.with_name(stem.name + end)
            line = line_of(path, name)
            cells.append((title, self.source(path, line) if line or operation == header.stem else ""))
        cells.append(("Steps", ", ".join(filter(None, (self.source(path) for path in steps(header, operation))))))
        return [cell for cell in cells if cell[1]]

    def page(self, name, page):
        """The same page of the reference, with a row at each x_cpu() and x_cuda() and at each enumeration of versions."""
        def entry(match):
            memname = re.search(r'<td class="memname">(.*?)</td>', match[0], re.S)
            declared = re.sub(r"<[^>]*>", "", memname[1]).split()[-1] if memname else ""
            operation = re.fullmatch(r"(\w+)_(?:cpu|cuda)|\w+Path", declared)
            header = operation and next((path for path, text in self.headers[name] if re.search(rf"\b{declared}(\(| \{{)", text)), None)
            if not header:
                return match[0]
            of_path = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", declared.removesuffix("Path")).lower()  # AddBroadcastPath: add_broadcast
            of_path = of_path if line_of(ROOT / header.parent / f"{header.stem}_cuda.cu", of_path + "_cuda") else header.stem
            made = "".join(f"<span><b>{title}</b> {links}</span>" for title, links in self.row(header, operation[1] or of_path))
            return match[0] + f'\n<p class="versions">{made}</p>'

        return re.sub(r'<div class="memproto">.*?<div class="memdoc">', entry, page, flags=re.S) if name in self.headers else page
