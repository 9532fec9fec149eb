// What readers type into the live pictures, and what they are told; still without a page. A state is
// an object of texts, as typed, so that a link can keep also what is wrong.
var explore_inputs = (function () {
    "use strict";

    const {reject, text_of} = explore;
    const kMostRank = 4;
    const kMostDrawn = 256;  // elements of a tensor, and of its storage
    const kSwitch = ["0", "1"];

    // --- reading -----------------------------------------------------------------------------------

    function number(text, what, least, most) {
        const trimmed = text.trim().replace(/^\u2212/, "-");
        if (!/^[-+]?\d{1,15}$/.test(trimmed)) reject(`${what}: "${text}" is not a whole number`);
        const value = Number(trimmed);
        if (value < least || value > most) {
            reject(`${what}: ${value} asked for, but here it is ${least} to ${most}`);
        }
        return value;
    }

    function one_of(text, what, choices) {
        if (!choices.includes(text)) {
            reject(`${what}: "${text}" asked for, but here it is one of ${choices.join(", ")}`);
        }
        return Number(text);
    }

    // "1, 1, 3"; in brackets, if one likes.
    function numbers(text, what) {
        const inner = text.trim().replace(/^[({[](.*)[)}\]]$/, "$1").trim();
        return inner === "" ? []
            : inner.split(",").map((piece) => number(piece, what, -9999, 9999));
    }

    // Each field as a number, or a sentence in `wrong`. A field of `spec` has what it is called, and
    // the least and the most it may be, or a list of what it may be.
    function fields(state, spec) {
        const values = {}, wrong = {};
        for (const [name, [what, ...allowed]] of Object.entries(spec)) {
            try {
                const read = Array.isArray(allowed[0]) ? one_of : number;
                values[name] = read(state[name], what, ...allowed);
            } catch (error) {
                wrong[name] = error.message;
            }
        }
        return {values, wrong};
    }

    // What `make` makes of the values, beside them; or the sentence with which it rejects.
    function result(state, spec, make) {
        const {values, wrong} = fields(state, spec);
        if (Object.keys(wrong).length > 0) return {wrong};
        try {
            return {wrong, ...make(values)};
        } catch (error) {
            return {wrong: {all: error.message}};
        }
    }

    // --- links -------------------------------------------------------------------------------------

    const link_of = (kind, state) =>
        "?" + new URLSearchParams({explorer: kind, ...state}) + "#explorer_" + kind;

    // The state that a link keeps for this kind of explorer; what it leaves out is as at the start.
    function state_of(link, kind, start) {
        const kept = new URLSearchParams(link);
        const mine = kept.get("explorer") === kind;
        return Object.fromEntries(Object.entries(start).map(([name, text]) =>
            [name, mine && kept.has(name) ? kept.get(name) : text]));
    }

    // --- layouts -----------------------------------------------------------------------------------

    const list = (text) => (text === "" ? [] : text.split(","));

    // Arguments after the view: how many, or any number of them as one list.
    const kTransforms = {
        slice: {counts: [4, 3], names: "dim, begin, end, step"},
        select: {counts: [2], names: "dim, index"},
        flip: {counts: [1], names: "dim"},
        transpose: {counts: [0, 2], names: "two dims, or none for the last two"},
        permute: {names: "each dim once"},
        broadcast_to: {names: "the new shape"},
        reshape: {names: "the new shape"},
    };

    // "slice", "1, 1, 3": the view afterwards, and the line of C++ that says the same.
    function transformed(view, op, text) {
        const {counts, names} = kTransforms[op];
        const given = numbers(text, op);
        if (counts && !counts.includes(given.length)) {
            reject(`${op}(x, ${text}): it takes ${names}`);
        }
        const after = counts ? explore[op](view, ...given) : explore[op](view, given);
        if (after.shape.length > kMostRank) {
            reject(`${op}: the result has ${after.shape.length} dims; ${kMostRank} at most are drawn`);
        }
        drawable(after);
        const more = counts ? given : [`{${given.join(", ")}}`];
        return {view: after, line: `x = ${op}(${["x", ...more].join(", ")});`};
    }

    function drawable(view) {
        const elements = explore.size(view.shape);
        if (elements > kMostDrawn) {
            reject(`shape ${text_of(view.shape)} has ${elements} elements; at most ${kMostDrawn} are `
                + "drawn here");
        }
        return view;
    }

    function layout_spec(state) {
        const spec = {first: ["first", -999, 999], storage: ["storage", 1, kMostDrawn]};
        list(state.shape).forEach((_, d) => spec["shape" + d] = [`extent of dim ${d}`, 0, 999]);
        list(state.strides).forEach((_, d) => spec["strides" + d] = [`stride of dim ${d}`, -999, 999]);
        return spec;
    }

    // {view, base, storage, lines}: `base` is as typed, `view` after the steps ("flip:1;select:0,2").
    function read_layout(state) {
        const texts = {first: state.first, storage: state.storage};
        for (const name of ["shape", "strides"]) {
            list(state[name]).forEach((text, d) => texts[name + d] = text);
        }
        return result(texts, layout_spec(state), (values) => {
            const dims = (name) => list(state[name]).map((_, d) => values[name + d]);
            const base = drawable(explore.layout(dims("shape"), dims("strides"), values.first));
            let view = base;
            const lines = [];
            for (const step of state.steps.split(";").filter((step) => step !== "")) {
                const [op, text] = step.split(":");
                if (!Object.hasOwn(kTransforms, op)) reject(`"${op}" is no transform`);
                const next = transformed(view, op, text || "");
                view = next.view;
                lines.push(next.line);
            }
            return {view, base, storage: values.storage, lines: [cpp_of(base), ...lines]};
        });
    }

    const braces = (dims) => `{${dims.join(", ")}}`;

    function cpp_of({shape, strides, first}) {
        const data = first === 0 ? "data" : `data ${first < 0 ? "-" : "+"} ${Math.abs(first)}`;
        return `View<float> x{${data}, Layout(${braces(shape)}, ${braces(strides)})};`;
    }

    // Each index, in order, with the number of its element in the storage.
    function walk(view) {
        return Array.from({length: explore.size(view.shape)}, (_, i) => {
            const index = explore.unravel(i, view.shape);
            return {index, position: view.first + explore.offset(view, index)};
        });
    }

    // "2 · 4 + 1 · 1 = 9", and where that is.
    function formula(view, index) {
        const products = index.map((i, d) => `${i} \u00b7 ${signed(view.strides[d])}`);
        const sum = explore.offset(view, index);
        const from = view.first === 0 ? "" : `; from element ${minus(view.first)} on: `
            + `element ${minus(view.first + sum)}`;
        return `offset${text_of(index)} = ${products.join(" + ") || "no products"} = ${minus(sum)}${from}`;
    }
    const minus = (n) => (n < 0 ? "\u2212" + -n : "" + n);
    const signed = (n) => (n < 0 ? `(${minus(n)})` : "" + n);

    // What is wrong with it, in sentences: {outside, shared}, each "" if nothing is.
    function verdict(view, storage) {
        const cells = walk(view);
        const out = cells.filter(({position}) => position < 0 || position >= storage);
        const outside = out.length === 0 ? "" : `Outside: ${out.length} of ${cells.length} indices `
            + `leave the storage, which is elements 0 to ${storage - 1}. ${text_of(out[0].index)} would be `
            + `element ${minus(out[0].position)}.`;
        const owner = new Map();
        let shared = "";
        for (const {index, position} of cells) {
            if (owner.has(position)) {
                shared = `Shared: ${text_of(owner.get(position))} and ${text_of(index)} are one element, `
                    + `${minus(position)}. It may be read; as an output this layout is rejected.`;
                break;
            }
            owner.set(position, index);
        }
        return {outside, shared};
    }

    const answers = (view) => ({
        required_span: "" + explore.required_span(view),
        is_contiguous: explore.is_contiguous(view) ? "yes" : "no",
        is_injective: explore.is_injective(view) ? "yes" : "no",
        simplify: explore.layout_text(explore.simplify(view)),
    });

    // --- warps and banks ---------------------------------------------------------------------------

    // {request, element: its bytes, count}
    const read_warp = (state) => result(state, {
        stride: ["stride", -128, 128], first: ["first element", -999, 999],
        bytes: ["bytes an element", ["1", "2", "4", "8", "16"]], wide: ["16-byte loads", kSwitch],
    }, ({stride, first, bytes, wide}) => {
        const request = explore.warp_request(stride, bytes, first, wide === 1);
        return {request, element: bytes, count: explore.count_sectors(request)};
    });

    // {tile, lanes, request, count}
    const read_banks = (state) => result(state, {
        width: ["width", 1, 64], pad: ["pad", 0, 32], number: ["row or column", 0, 63],
        column: ["column", kSwitch], swizzle: ["swizzle", kSwitch], unit: ["words a lane", ["1", "4"]],
    }, ({width, pad, number: which, column, swizzle, unit}) => {
        const tile = explore.tile(width, pad, swizzle === 1, unit);
        const lanes = explore.tile_lanes(tile, column === 1, which);
        const request = explore.tile_request(tile, lanes);
        return {tile, lanes, request, count: explore.count_passes(request)};
    });

    // --- many threads, one answer ------------------------------------------------------------------

    // A spec of `count` fields x0, x1, ...; and their values.
    const row_spec = (count, least, most) =>
        Object.fromEntries(Array.from({length: count}, (_, i) => ["x" + i, [`number ${i}`, least, most]]));
    const row_of = (values, count) => Array.from({length: count}, (_, i) => values["x" + i]);

    // {rounds, op, butterfly}
    const kTree = 8;
    const read_tree = (state) => result(state, {...row_spec(kTree, -999, 999),
        sum: ["what", kSwitch], butterfly: ["how", kSwitch],
    }, (values) => {
        const op = values.sum === 1 ? "sum" : "largest", butterfly = values.butterfly === 1;
        return {rounds: explore.tree(row_of(values, kTree), op, butterfly), op, butterfly};
    });

    // {M, N, K, BM, BN, count}
    const read_product = (state) => result(state, {
        M: ["M", 1, 8], N: ["N", 1, 8], K: ["K", 1, 8], BM: ["rows of a tile", 1, 8],
        BN: ["columns of a tile", 1, 8],
    }, ({M, N, K, BM, BN}) => ({M, N, K, BM, BN, count: explore.product(M, N, K, BM, BN)}));

    // {parts: one list of steps a thread, base, all: what they have together}
    const kScores = 6;
    const read_running = (state) => result(state, {...row_spec(kScores, -99, 99),
        base: ["base", ["2", "e"]], threads: ["threads", ["1", "2"]],
    }, (values) => {
        const base = state.base === "2" ? 2 : Math.E, numbers = row_of(values, kScores);
        const half = kScores / 2;
        const parts = (values.threads === 1 ? [numbers] : [numbers.slice(0, half), numbers.slice(half)])
            .map((part) => explore.running(part, base));
        const ends = parts.map((part) => part[part.length - 1]);
        return {parts, base, all: ends.length === 1 ? ends[0] : explore.joined(...ends, base)};
    });

    return {kMostRank, kTransforms, kTree, kScores, number, numbers, link_of, state_of, list, transformed, read_layout,
        cpp_of, walk, formula, minus, verdict, answers, read_warp, read_banks, read_tree,
        read_product, read_running};
})();
