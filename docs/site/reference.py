#!/usr/bin/env python3
"""What Doxygen reads instead of a header, and the group of the reference that a header belongs to.

    reference.py <header>           the same lines, one for one, as Doxygen is to read them
    reference.py --groups <file>    writes the groups of the days: one per day, and per room of Day 06
    reference.py --left-out         the patterns of files that Doxygen does not read

Headers stay as they are written here:
- A trailing `// text` of a member, an enumerator or an alias is its description, with the lines that continue it; `// a; b` of two members
  is one each.
- A `///` comment over overloads, methods, check_x() or launch_x() describes all of them up to the next blank line.
- Below x_cpu(), x_cuda() has the description of x_cpu() and its own.
- name(), check_x(), choose_x(), x_workspace_bytes(), destructors, `= default` and `= delete` need no comment.
"""
import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What Doxygen does not read: helpers of executables, benchmarks and tests, and the insides of the emulator.
LEFT_OUT = """*/emulator/machine/* */emulator/memory/* */emulator/checks/* */emulator/report/* */emulator/api/*
    */emulator/include/* */emulator/libraries/* */emulator/published/* */emulator/tile/* */emulator/translate/*
    */emulator/async_copy.hpp */emulator/mbarrier.hpp */emulator/memory_order.hpp */emulator/wgmma.hpp */editor/* */exercises/*.md */wrong/* */README.md
    */*.op.hpp */operation/* */tests*.cpp */tests*.hpp */tests*.cu */tests/* */bench/* */lesson/* */run/* */mine/* */strides_model/*
    */options.hpp */options.cpp */flag_values.hpp */emulated.hpp */packings.hpp""".split()
# The insides of kernels, and exercises: their source is shown, and nothing else.
SOURCE_ONLY = """*/steps/*.hpp */exercises/*.hpp */tile.hpp */tiles.hpp */*_tile.hpp */*_tiles.hpp */*_problem.hpp */*_plan.hpp
    */phase*.hpp */gpu_rows.hpp */counting_operations.hpp""".split()
NAMES = {"gpt2": "GPT-2", "bf16": "bf16", "cpu": "CPU", "gpu": "GPU", "kv": "KV"}
OPERATION = re.compile(r"\b\w+_(?:cpu|cuda)\(")


def is_left_out(path):
    """path: from the root of the project"""
    return any(fnmatch.fnmatchcase("/" + path.as_posix(), pattern) for pattern in LEFT_OUT + SOURCE_ONLY)


def room_of(path):
    """The folder whose group a header belongs to: common/tensor, day01_flat_memory, day06_transformer_ops/gpt2/file."""
    return pathlib.Path(*path.parts[:2]) if path.parts[0] == "common" else path.parent


def group_name(room):
    parts = room.parts[1:] if room.parts[0] == "common" else room.parts
    return "_".join(("reference", *parts))


def is_operation(text):
    return OPERATION.search(re.sub(r"//.*", "", text)) is not None


def group_of(path, text):
    """Operations are in the group of their room, and in a room that has some, other headers are in its helpers."""
    path = path.resolve()
    if not path.is_relative_to(ROOT) or is_left_out(path := path.relative_to(ROOT)):
        return ""
    room = room_of(path)
    if path.parts[0] == "common" or is_operation(text):
        return group_name(room)
    if len(room.parts) == 1 and list((ROOT / room).glob("*/*_cpu.cpp")):
        return group_name(room) + "_helpers"  # of all rooms of this day
    others = any(is_operation(other.read_text(encoding="utf-8")) for other in (ROOT / room).glob("*.hpp")
                 if not is_left_out(other.relative_to(ROOT)))
    return group_name(room) + ("_helpers" if others else "")


# --- declarations -----------------------------------------------------------------------------------------------------

class Declaration:
    def __init__(self, kind, scope, text, first, last, column):
        self.kind, self.scope, self.text = kind, scope, text
        self.first, self.last, self.column = first, last, column  # lines, and where it ends in the last one
        self.name, self.docs, self.trailing = "", [], ""


def kind_of(text):
    text = re.sub(r"^\s*template\s*<.*?>\s*(?=\w|\[)", "", text, flags=re.S).strip()
    head = re.sub(r"\(.*", "(", text, flags=re.S)
    if re.match(r"(inline )?namespace\b|extern \"", text):
        return "namespace"
    if re.match(r"enum\b", text):
        return "enum"
    if re.match(r"(struct|class|union)\b", text) and "(" not in re.sub(r"alignas\([^)]*\)", "", text):
        return "class"
    if re.match(r"(friend|static_assert|using namespace|extern template|template\b)", text) and "operator" not in head:
        return "other"
    if re.match(r"(using|typedef)\b", text):
        return "alias"
    if "(" in text and ("=" not in head or "operator" in head):
        return "function"
    return "variable"


def name_of(kind, text):
    if kind == "function":
        found = re.search(r"(operator\s*(?:\(\)|[^\s(]+)|~?\w+)\s*\(", text)
    elif kind == "alias":
        found = re.search(r"using (?:.*::)?(\w+)", text)
    elif kind == "enumerator":
        found = re.match(r"\s*(\w+)", text)
    else:
        found = re.search(r"(\w+)\s*(?:=.*|\{.*|\[.*|:.*)?$", text, re.S)
    return found[1] if found else ""


def scan(lines):
    """The declarations of a header, in order, and the comments: {line: (column, text)}."""
    comments, found, scopes = {}, [], ["namespace"]
    text, first, round_, pending, seen = "", None, 0, False, (0, 0)

    def end(line, column, kind=None):
        nonlocal text, first
        if kind == "enumerator" and not text[-1:].strip():
            line, column = seen  # the last one has no comma
        if first is not None and text.strip():
            kind = kind or kind_of(text)
            found.append(Declaration(kind, tuple(scopes), text.strip(), first, line, column))
            found[-1].name = name_of(kind, text.strip())
        text, first = "", None

    directive = False
    for at, line in enumerate(lines):
        if directive or line.lstrip().startswith("#"):
            directive = line.endswith("\\")
            continue
        column = 0
        while column < len(line):
            if line.startswith("//", column):
                comments[at] = column, line[column:].rstrip()
                break
            char = line[column]
            if char in "\"'" and not (char == "'" and column and line[column - 1].isalnum()):
                close = re.compile(r"(?:\\.|[^\\])*?" + char).match(line, column + 1)
                piece, column = line[column:close.end() if close else len(line)], close.end() if close else len(line)
                text += piece
                continue
            column += 1
            inside = scopes[-1]
            if inside == "body":
                text += "" if "(" in text else char  # of an initializer
                if char in "{}":
                    scopes.append("body") if char == "{" else scopes.pop()
                    if scopes[-1] != "body":  # the end of a function, or of an initializer
                        continues = line[column:].lstrip().startswith(tuple(";,{)")) or round_
                        if not continues:
                            end(at, column)
                continue
            if pending and char == ";":  # of a class
                pending = False
                text, first = "", None
                continue
            pending = pending and char.isspace()
            if char in "([":
                round_ += 1
            elif char in ")]":
                round_ -= 1
            if char == "{":
                kind = "body" if round_ or inside == "enum" else kind_of(text)
                if kind in ("namespace", "enum", "class"):
                    end(at, column, kind)
                    scopes.append(kind)
                else:
                    text += "" if "(" in text else char
                    scopes.append("body")
            elif char == "}":
                if inside == "enum":
                    end(at, column - 1, "enumerator")
                scopes.pop()
                pending, text, first = True, "", None
            elif char == ";" and not round_:
                end(at, column, "enumerator" if inside == "enum" else None)
            elif char == "," and inside == "enum" and not round_:
                end(at, column, "enumerator")
            elif char == ":" and inside == "class" and text.strip() in ("public", "private", "protected"):
                text, first = "", None
            else:
                if first is None and not char.isspace():
                    first = at
                text += char
                if not char.isspace():
                    seen = at, column
        if first is not None:
            text += "\n"
    return found, comments


def is_doc(comments, lines, at):
    return at in comments and comments[at][1].startswith("///") and not comments[at][1].startswith("///<") \
        and not lines[at][:comments[at][0]].strip()


def attach(declarations, lines, comments):
    """Gives each declaration its comments."""
    for one in declarations:
        at = one.first
        while at > 0 and (is_doc(comments, lines, at - 1) or re.match(r"\s*// \[[^]]*\]$", lines[at - 1])):
            at -= 1
        one.docs = [line for line in range(at, one.first) if is_doc(comments, lines, line)]
        column, text = comments.get(one.last, (0, ""))
        if text.startswith("// ") and not lines[one.last][one.column:column].strip(" ;,") \
                and not re.match(r"// (\[|NOLINT|clang-format)", text):
            one.trailing = text


# --- what is put in ---------------------------------------------------------------------------------------------------

BREAK = " \\ilinebr "


def in_one_line(docs):
    """Lines of a description as one line of Doxygen's."""
    made, block = [], []
    for line in [*docs, ""]:
        if line.startswith("    ") and not (made and made[-1].startswith(("@", "-")) and not block):
            block.append(line)
            continue
        if block and line.strip():
            made += ["@verbatim " + BREAK.join(block) + " @endverbatim"]
            block = []
        elif block:
            block.append(line)
            continue
        made.append(line)
    if block:
        made += ["@verbatim " + BREAK.join(part for part in block if part.strip()) + " @endverbatim"]
    return BREAK.join(made).rstrip().removesuffix("\\ilinebr").rstrip()


def whole(line):
    """A line in which only the full stop of a sentence looks like one to Doxygen."""
    if line.startswith("    "):
        return line
    return re.sub(r"(?<= )\.\.(?= )", "&hellip;", re.sub(r"(?<= )\.(?= )", "&middot;", line))


def for_this(docs, one):
    """A description without the parameters that this function does not have."""
    made, keep = [], True
    for line in docs:
        command = re.match(r"@(\w+) ?([\w,]*)", line)
        if command or not line:
            keep = not command or command[1] not in ("param", "tparam") or all(
                re.search(rf"\b{name}\b", one.text) for name in command[2].split(","))
        if keep:
            made.append(line)
    return made


def sentence(one, known):
    """The description of what needs no comment."""
    text, name = " ".join(one.text.split()), one.name
    if one.kind != "function":
        return ""
    if re.search(r"\bchar\* name\((const )?\w+ \w+\)", text):
        return "The name of this value, as results and messages have it."
    if text.endswith("= delete"):
        return "Cannot be copied." if re.search(r"\(const (\w+)& ?\w*\)", text) else "Not allowed."
    if text.endswith("= default"):
        return ("Whether all members are equal." if "==" in name else "Copies each member." if "(const" in text
                else "Moves each member." if "&&" in text else "Each member has its default value.")
    if name.startswith("~"):
        return "Releases what it owns."
    if name.endswith("_workspace_bytes") and name.removesuffix("_workspace_bytes") + "_cuda" in known:
        return f"Bytes of workspace that {name.removesuffix('_workspace_bytes')}_cuda() needs for these views; the caller allocates them: see gpu::Workspace."
    if name.startswith("choose_") and name.removeprefix("choose_") + "_cuda" in known:
        return f"The best path of {name.removeprefix('choose_')}_cuda() for these views, which must be valid."
    checked = [f"{each}()" for each in (name.removeprefix("check_") + end for end in ("_cpu", "_cuda", "")) if each in known]
    if name.startswith("check_") and checked:
        path = "; with a path, also what that path does not support" if re.search(r"\bpath\b", text) else ""
        return f"Rejects what {' and '.join(checked)} reject{'s' if len(checked) == 1 else ''}{path}. @throws std::invalid_argument"
    return ""


CUDA = "The CUDA version of {}(): views of device memory; it launches on {} and returns without waiting."


def several(one):
    """`T a, b;` as `T a; T b;`, or nothing."""
    found = re.fullmatch(r"(?P<type>[\w:<>, ]+?[*&]? )(?P<names>\w+(?: = {}|{}| = [^,{(]+)?(?:, \w+(?: = {}|{}| = [^,{(]+)?)+)", one.text)
    if one.kind != "variable" or one.first != one.last or not found or found["type"].count("<") != found["type"].count(">"):
        return []
    return [found["type"] + name for name in found["names"].split(", ")]


def documented(lines):
    declarations, comments = scan(lines)
    attach(declarations, lines, comments)
    made, known = list(lines), {}

    def text_of(one):
        return [whole(comments[at][1][3:].removeprefix(" ")) for at in one.docs]

    def put_in(one, text):
        made[one.first] = f"/** {text} */ " + made[one.first]

    shared = None  # the description that holds up to the next blank line: (declaration, lines)
    for one in declarations:
        begin = one.docs[0] if one.docs else one.first
        if shared and (shared[0].scope != one.scope or shared[0].kind != one.kind
                       or not all(line.strip() for line in lines[shared[0].last:begin])):
            shared = None
        own, parts = text_of(one), several(one)
        loop = one.name.removesuffix("_cuda") + "_cpu"
        if one.kind == "function" and one.name.endswith("_cuda") and loop in known:
            lead = [CUDA.format(loop, "the stream of `how`" if re.search(r"\bhow\b", one.text) else "`stream`"), ""]
            docs = for_this(known[loop], one)
            cut = next((at for at, line in enumerate(docs) if line.startswith("@throws")), len(docs))
            if own:  # its own sentences, what the loop's says, its own parameters, what is rejected
                lines_ = [" " + line for line in own]
                at = next((at for at, line in enumerate(own) if line.startswith("@")), len(own))
                before, after = in_one_line(["", *docs[:cut], ""][at == 0:]), in_one_line(docs[cut:])
                if at == len(own):
                    lines_[-1] += BREAK + before
                else:
                    lines_[at] = f" {before}{BREAK}{own[at]}"
                lines_[0] = f"/** {in_one_line([*lead, ''])}{BREAK}{lines_[0][1:]}"
                lines_[-1] += f"{BREAK}{after} */"
                for line, made_ in zip(one.docs, lines_):
                    made[line] = made_
            else:
                put_in(one, in_one_line(lead + docs))
            shared = None
            own = lead + docs + own
        elif own:
            shared = one, own
        elif one.trailing:
            column, after = comments[one.last][0], one.last + 1
            while after in comments and comments[after][0] == column and not lines[after][:column].strip():
                after += 1
            if parts:
                text = " ".join(comments[at][1][2:].strip() for at in range(one.last, after))
                each = text.split("; ") if text.count("; ") + 1 == len(parts) else [text] * len(parts)
                made[one.last:after] = [""] * (after - one.last)
                made[one.last] = "".join(f"/** {said.strip()} */ {part}; " for said, part in zip(each, parts))
            else:
                for at in range(one.last, after):
                    made[at] = lines[at][:column] + "///<" + lines[at][column + 2:]
            continue
        elif sentence(one, known) and not comments.get(one.last, (0, ""))[1].startswith("///<") and not (shared and shared[0].name.startswith("check_")):
            put_in(one, sentence(one, known))
        elif shared and one.kind == "function" and (shared[0].name == one.name or one.scope[-1] == "class" and for_this(shared[1], one) == shared[1] or all(
                re.match(r"check_|launch_", each.name) for each in (shared[0], one))):
            shared = one, shared[1]
            own = for_this(shared[1], one)
            if any(own):
                put_in(one, in_one_line(own))
        if own and parts:
            text = in_one_line(own)
            made[one.last] = "".join(f"/** {text} */ {part}; " for part in parts)
            for at in one.docs:
                made[at] = ""
        for at, line in zip(one.docs, text_of(one)):  # so that its first sentence alone is the brief description
            if made[at] == lines[at]:
                made[at] = f"{'/**' if at == one.docs[0] else ''} {line}{' */' if at == one.docs[-1] else ''}"
        if one.kind == "function" and own:
            known[one.name] = own  # of overloads, the nearest above
    return made


def filtered(path):
    text = path.read_text(encoding="utf-8")
    group, lines = group_of(path, text), text.splitlines()
    made = documented(lines)
    if not group:
        made[lines.index("#pragma once") + 1] += "/** @cond */"
        made[-1] += " /** @endcond */"
        return made
    begins = [at for at, line in enumerate(lines) if re.match(r"namespace sixdays.*\{$", line)]
    ends = [at for at, line in enumerate(lines) if line.startswith("}  // namespace sixdays")]
    for begin, end in zip(begins, ends):
        made[lines.index("", begin)] = f"/** @addtogroup {group} */ /** @{{ */"
        made[end] = "/** @} */" + made[end]
    return made


# --- the groups -------------------------------------------------------------------------------------------------------

def title_of(room):
    if len(room.parts) == 1:
        readme = ROOT / room / "README.md"
        return readme.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ") if readme.exists() else room.name
    parts = [" ".join(NAMES.get(word, word) for word in part.split("_")) for part in room.parts[1:]]
    title = ": ".join(parts)
    return title[:1].upper() + title[1:]


def groups():
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    import versions  # the filter does without
    shown = versions.listings()
    made = ["/** @defgroup reference_days Days\n@brief What each day declares: operations first, then helpers. */"]
    headers = [path for path in sorted(ROOT.glob("day[0-9][0-9]_*/**/*.hpp")) if not is_left_out(path.relative_to(ROOT))]
    names = {}
    for path in headers:
        names.setdefault(room_of(path.relative_to(ROOT)), set()).add(group_of(path, path.read_text(encoding="utf-8")))
    rooms = sorted(set(names) | {parent for room in names for parent in room.parents if parent.parts})
    for room in rooms:  # a group lists those in it as they are defined: rooms first
        name, above = group_name(room), group_name(room.parent) if room.parent.parts else "reference_days"
        page, anchor, heading = versions.lesson_of_room(shown, room)
        made.append(f"/** @defgroup {name} {title_of(room)}\n@ingroup {above}\n@brief Lesson: @ref {anchor or page} \"{heading}\". */")
    for room, name in ((room, group_name(room)) for room in rooms if group_name(room) + "_helpers" in names.get(room, ())):
        made.append(f"/** @defgroup {name}_helpers {title_of(room)} (helpers)\n@ingroup {name}\n"
                    f"@brief What the operations of {title_of(room)} are made of. */")
    return "\n\n".join(made) + "\n"


def main():
    sys.stdout.reconfigure(encoding="utf-8")
    if sys.argv[1] == "--groups":
        pathlib.Path(sys.argv[2]).write_text(groups(), encoding="utf-8")
    elif sys.argv[1] == "--left-out":
        print(";".join(LEFT_OUT))
    else:
        print("\n".join(filtered(pathlib.Path(sys.argv[1]))))


if __name__ == "__main__":
    main()
