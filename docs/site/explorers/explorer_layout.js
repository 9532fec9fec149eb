// The layout explorer: a storage and the tensor that a shape, strides and a first offset see in it.
// "layout" has the fields, "views" also the transforms of Day 03.
(function () {
    "use strict";

    const {make, walkable, light} = explorer;
    const {minus, list} = explore_inputs;

    // --- fields: a row of extents, a row of strides, the rest -----------------------------------------

    const is_dim = (name) => name.match(/^(shape|strides)(\d)$/);

    function get(state, name) {
        const dim = is_dim(name);
        return dim ? list(state[dim[1]])[dim[2]] : state[name];
    }

    function set(state, name, text) {
        const dim = is_dim(name);
        if (!dim) return void (state[name] = text);
        const texts = list(state[dim[1]]);
        texts[dim[2]] = text.replace(/,/g, ".");  // one number a field
        state[dim[1]] = texts.join(",");
    }

    function fields(state) {
        const row = (label, name) => ({label, fields: list(state[name]).map((_, d) =>
            ({name: name + d, label: `dimension ${d}`}))});
        return [row("extents", "shape"), row("strides", "strides"), {label: "", fields: [
            {name: "first", label: "first"}, {name: "storage", label: "storage"}]}];
    }

    // Dims come and go at the front, where a batch would.
    function more(state, changed) {
        const rank = list(state.shape).length;
        const button = (text, change) => make("button", {type: "button", onclick: () => {
            state.shape = change(list(state.shape), "2").join(",");
            state.strides = change(list(state.strides), "1").join(",");
            changed();
        }}, text);
        return make("p", {class: "presets"},
            ...(rank < explore_inputs.kMostRank
                ? [button("one dimension more", (texts, text) => [text, ...texts])] : []),
            ...(rank > 1 ? [button("one less", (texts) => texts.slice(1))] : []));
    }

    // --- the picture -----------------------------------------------------------------------------------

    // Which of four colours an element has: as the base is cut along dim 0, if it is not the only one.
    function colours_of(base) {
        const colours = new Map();
        for (const {index, position} of explore_inputs.walk(base)) {
            if (!colours.has(position)) colours.set(position, index.length > 1 ? index[0] % 4 : 0);
        }
        return colours;
    }

    function memory_cells({view, base, storage}, uses) {
        const colours = colours_of(base);
        const outside = [...uses.keys()].filter((p) => p < 0 || p >= storage);
        const inside = Array.from({length: storage}, (_, p) => p);
        const cells = [...outside, ...inside].sort((a, b) => a - b);
        return cells.flatMap((position, i) => {
            const used = uses.get(position) || [];
            const classes = ["cell", used.length > 0 ? "colour" + colours.get(position) : "unused"];
            if (position < 0 || position >= storage) classes.push("outside");
            if (used.length > 1) classes.push("shared");
            const cell = make("span", {class: classes.join(" "), "data-n": i, "data-position": position},
                minus(position));
            if (used.length > 1) cell.append(make("sup", {}, "\u00d7" + used.length));
            const gap = i > 0 && cells[i - 1] !== position - 1;
            return gap ? [make("span", {class: "gap"}, "\u2026"), cell] : [cell];
        });
    }

    // One matrix below the other, each with the indices that stay the same in it.
    function tensor_cells({view, base, storage}, walked, uses) {
        const colours = colours_of(base);
        const columns = view.shape[view.shape.length - 1] || 1;
        const rows = view.shape[view.shape.length - 2] || 1;
        const matrices = [];
        walked.forEach(({index, position}, n) => {
            if (n % (rows * columns) === 0) {
                const fixed = index.slice(0, -2);
                const box = make("div", {class: "matrix", style: `--columns: ${columns}`});
                matrices.push(make("div", {}, ...(fixed.length > 0
                    ? [make("div", {class: "label"}, `(${fixed.join(", ")}, \u00b7, \u00b7)`)] : []), box));
            }
            const classes = ["cell", "colour" + colours.get(position)];
            if (position < 0 || position >= storage) classes.push("outside");
            if (uses.get(position).length > 1) classes.push("shared");
            matrices[matrices.length - 1].lastChild.append(make("span", {class: classes.join(" "),
                "data-n": n, "data-position": position, title: explore.text_of(index)}, minus(position)));
        });
        return matrices;
    }

    function draw(stage) {
        let now = null, at = 0, place = 0;
        const memory = make("div", {class: "cells memory"}), tensor = make("div", {class: "cells tensor"});
        const formula = make("p", {class: "formula", "aria-live": "polite"});
        const seen = make("p", {class: "formula seen"});
        const verdicts = make("div", {class: "verdicts", "aria-live": "polite"});
        const answers = make("dl", {class: "answers"});
        const code = make("pre", {class: "line"});
        const copy = make("button", {type: "button", onclick: () => copied(code, copy)}, "copy");
        stage.append(make("div", {class: "pictures"},
            make("div", {}, make("div", {class: "label"}, "the storage"), memory),
            make("div", {}, make("div", {class: "label"}, "the tensor"), tensor)),
        seen, formula, verdicts, answers, make("div", {class: "as-code"}, code, copy));

        const on = (position) => stage.querySelectorAll(`[data-position="${position}"]`);
        function point(n) {  // at an index
            at = n;
            const {index, position} = now.walked[n];
            light(stage, [...memory.querySelectorAll(`[data-position="${position}"]`),
                tensor.querySelector(`[data-n="${n}"]`)]);
            formula.textContent = explore_inputs.formula(now.view, index);
        }
        function point_place(n) {  // at an element of the storage
            place = n;
            const cell = memory.querySelector(`[data-n="${n}"]`);
            const position = Number(cell.dataset.position), used = now.uses.get(position);
            if (used) point(used[0]);
            light(stage, used ? on(position) : [cell]);
            if (!used) formula.textContent = `Element ${minus(position)}: no index leads here.`;
            else if (used.length > 1) formula.textContent += `; so do ${used.length - 1} more`;
        }
        walkable(memory, "The storage", {steps: () => ({ArrowRight: 1, ArrowLeft: -1}),
            count: () => memory.querySelectorAll("[data-n]").length, at: () => place, go: point_place});
        walkable(tensor, "The tensor", {
            steps: () => {
                const [row, matrix] = [-1, -2].map((d) =>
                    explore.size(now.view.shape.slice(d)));
                return {ArrowRight: 1, ArrowLeft: -1, ArrowDown: row, ArrowUp: -row, PageDown: matrix,
                    PageUp: -matrix};
            },
            count: () => now.walked.length, at: () => at, go: point});

        return (result) => {
            const walked = explore_inputs.walk(result.view), uses = new Map();
            walked.forEach(({position}, n) => uses.set(position, [...(uses.get(position) || []), n]));
            now = {...result, walked, uses};
            memory.replaceChildren(...memory_cells(result, uses));
            tensor.replaceChildren(...tensor_cells(result, walked, uses));
            seen.textContent = result.lines.length > 1
                ? `x now: ${explore.layout_text(result.view)}, first ${minus(result.view.first)}` : "";
            at = Math.min(at, Math.max(walked.length - 1, 0)), place = 0;
            if (walked.length > 0) point(at);
            else formula.textContent = "An extent is 0: there are no elements, and nothing is launched.";
            verdicts.replaceChildren(...Object.entries(explore_inputs.verdict(result.view, result.storage))
                .filter(([, sentence]) => sentence !== "")
                .map(([kind, sentence]) => make("p", {class: kind}, sentence)));
            answers.replaceChildren(...Object.entries(explore_inputs.answers(result.view)).map(
                ([question, answer]) => make("div", {}, make("dt", {}, question), make("dd", {}, answer))));
            code.textContent = result.lines.join("\n");
        };
    }

    function copied(code, button) {
        getSelection().selectAllChildren(code);  // for keys, where a page may not copy by itself
        const done = navigator.clipboard && navigator.clipboard.writeText(code.textContent);
        if (done) done.then(() => button.textContent = "copied", () => button.textContent = "selected");
        setTimeout(() => button.textContent = "copy", 2000);
    }

    // --- transforms ------------------------------------------------------------------------------------

    const kFirstArguments = {slice: "1, 1, 3", select: "0, 1", flip: "1", transpose: "", permute: "1, 0",
        broadcast_to: "2, 3, 4", reshape: "2, 6"};

    function transforms(state, changed) {
        const wrong = make("p", {class: "wrong", "aria-live": "polite"});
        const push = (op, text) => {
            const next = [state.steps, `${op}:${text}`].filter((step) => step !== "").join(";");
            const result = explore_inputs.read_layout({...state, steps: next});
            wrong.textContent = result.wrong.all || "";
            if (Object.keys(result.wrong).length > 0) return;
            state.steps = next;
            changed();
        };
        const ops = Object.entries(explore_inputs.kTransforms).map(([op, {names}]) => {
            const input = make("input", {type: "text", size: 8, value: kFirstArguments[op],
                name: op, "aria-label": `${op}: ${names}`, title: names, autocomplete: "off"});
            const press = () => push(op, input.value.replace(/[;:]/g, " "));
            input.addEventListener("keydown", (event) => {
                if (event.key === "Enter") press();
            });
            return make("span", {class: "op"}, make("button", {type: "button", onclick: press}, op), input);
        });
        const undo = make("button", {type: "button", onclick: () => {
            state.steps = state.steps.split(";").slice(0, -1).join(";");
            wrong.textContent = "";
            changed();
        }}, "undo");
        return make("div", {class: "transforms"}, ...ops, undo, wrong);
    }

    const common = {fields, get, set, read: explore_inputs.read_layout, draw};

    explorer.kinds.layout = {...common, more, title: "Try it: a layout",
        start: {shape: "3,4", strides: "4,1", first: "0", storage: "12", steps: ""},
        presets: {
            "row-major": {},
            "column-major": {strides: "1,3"},
            "padded rows": {shape: "3,3"},
            "backwards": {shape: "5", strides: "-1", first: "4", storage: "5"},
            "stride 0": {strides: "0,1", storage: "4"},
            "overlapping": {shape: "2,3", strides: "1,1", storage: "4"},
            "too long": {strides: "5,1"},
            "rank 4": {shape: "2,2,2,3", strides: "12,6,3,1", storage: "24"},
        }};

    explorer.kinds.views = {...common, title: "Try it: views of one buffer",
        more: (state, changed) => {
            const box = make("div", {}, more(state, changed));
            box.append(transforms(state, changed));
            return box;
        },
        start: {shape: "3,4", strides: "4,1", first: "0", storage: "12", steps: ""},
        presets: {
            "x": {},
            "part of the columns": {steps: "slice:1, 1, 3"},
            "every other row": {steps: "slice:0, 0, 3, 2"},
            "transposed": {steps: "transpose:"},
            "backwards": {steps: "flip:1"},
            "row 1, repeated": {steps: "select:0, 1;broadcast_to:3, 4"},
            "a slice that can be (2, 8)": {shape: "2,2,4", strides: "12,4,1", storage: "24"},
        }};
})();
