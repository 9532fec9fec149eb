// Finds which line of a loop became which lines of its kernel, and marks them alike:
//
//   for (... i = 0; i < n; ++i) {      1      i = blockIdx.x * blockDim.x + threadIdx.x;   1
//                                             if (i < n) {                                 1
//       out[i] = a[i] + b[i];          =          out[i] = a[i] + b[i];                    =
//
// A loop variable has a number: on the left its `for`, on the right where it is set, where it is
// held against its end, and where it walks on. `=` marks lines that are the same word for word, and
// as often on both sides.
(function () {
    "use strict";

    const codeLines = (box) => Array.from(box.querySelectorAll("div.fragment div.line"));
    const codeOf = (line) => line.textContent.replace(/\/\/.*$/, "").replace(/\s+/g, " ").trim();

    // `if (m < M && k < K) {` belongs to two variables and has both numbers, in both tints.
    function mark(line, sign, colour, key) {
        const before = line.dataset.mark;
        line.dataset.mark = before ? before + " " + sign : sign;
        line.dataset.keys = before ? line.dataset.keys + " " + key : key;
        if (colour !== null) line.dataset[before ? "second" : "colour"] = colour;
    }

    // A line too long for its column goes on below, four letters further in than it began. One that
    // goes on with arguments below a bracket would begin far to the right: it begins eight letters
    // further in than the statement.
    function indent(lines) {
        let statement = 0;
        for (const line of lines) {
            const first = line.firstChild;
            let spaces = line.textContent.match(/^ */)[0].length;
            if (spaces > statement + 4 && first && first.nodeType === Node.TEXT_NODE) {
                spaces = statement + 8;
                first.textContent = first.textContent.replace(/^ */, " ".repeat(spaces));
            } else if (line.textContent.trim()) {
                statement = spaces;
            }
            line.style.setProperty("--wrap", spaces + 4 + "ch");
        }
    }

    // The variable that a loop counts, and its end: `for (... i = 0; i < n; ++i) {`
    function headOf(line) {
        const head = codeOf(line).match(/^for \((?:const )?[\w:]+ (\w+) = [^;]*; \1 < ([^;]+);/);
        return head && {name: head[1], end: head[2]};
    }

    // The lines of the kernel that a loop has become. A loop there begins where its variable is set,
    // and what holds the variable against its end belongs to the loop begun last. Where several loops
    // have one variable, the second became the second; if there are not as many, nobody knows.
    function partnersOf(line, name, heads, kernel) {
        const alike = heads.filter(([, head]) => head.name === name);
        const word = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
        const set = new RegExp("^(for \\()?(const )?[\\w:]+ " + name + " = ");
        const ends = alike.map(([, head]) => word(head.end)).join("|");
        const held = new RegExp("\\b" + name + " (<|>=) (" + ends + ")(?!\\w)");
        const begun = [];
        for (const l of kernel) {
            if (set.test(codeOf(l)) || (held.test(codeOf(l)) && begun.length === 0)) begun.push([l]);
            else if (held.test(codeOf(l))) begun[begun.length - 1].push(l);
        }
        if (alike.length === 1) return begun.flat();
        return alike.length === begun.length ? begun[alike.findIndex(([other]) => other === line)] : [];
    }

    function markPair(pair) {
        const [loop, kernel] = Array.from(pair.children).map(codeLines);
        [loop, kernel || []].forEach(indent);
        if (!kernel) return;
        let variables = 0;
        const heads = loop.map((line) => [line, headOf(line)]).filter(([, head]) => head);
        for (const [line, head] of heads) {
            const partners = partnersOf(line, head.name, heads, kernel);
            if (partners.length === 0) continue;
            const colour = variables++ % 4;
            mark(line, variables, colour, "loop" + variables);
            partners.forEach((l) => mark(l, variables, colour, "loop" + variables));
        }
        let same = 0;
        for (const line of loop) {
            const code = codeOf(line);
            if (code.length < 3 || line.dataset.mark) continue;
            const [ours, theirs] = [loop, kernel].map((side) => side.filter((l) => codeOf(l) === code));
            if (ours.length !== theirs.length) continue;
            const twin = theirs[ours.indexOf(line)];
            if (twin.dataset.mark) continue;
            same += 1;
            mark(line, "=", null, "same" + same);
            mark(twin, "=", null, "same" + same);
        }
        for (const line of [...loop, ...kernel]) {
            if (!line.dataset.mark) continue;
            const keys = line.dataset.keys.split(" ");
            const all = [...loop, ...kernel].filter((l) => l.dataset.keys
                && l.dataset.keys.split(" ").some((key) => keys.includes(key)));
            line.addEventListener("mouseenter", () => all.forEach((l) => l.classList.add("partner")));
            line.addEventListener("mouseleave", () => all.forEach((l) => l.classList.remove("partner")));
        }
    }

    // site.css breaks the lines of the other listings only where the window is narrow.
    document.addEventListener("DOMContentLoaded", () => {
        document.querySelectorAll(".pair").forEach(markPair);
        if (!window.matchMedia("(max-width: 1199px)").matches) return;
        const alone = Array.from(document.querySelectorAll(".textblock div.fragment"));
        alone.filter((box) => !box.closest(".pair")).forEach((box) => indent(Array.from(box.querySelectorAll("div.line"))));
    });
})();
