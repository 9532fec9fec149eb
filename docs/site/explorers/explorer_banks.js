// The bank explorer: a tile in shared memory, and the banks that 32 lanes meet in.
(function () {
    "use strict";

    const {make, walkable, light} = explorer;
    const {kLanes, kBanks} = explore;

    const fields = () => [{label: "", fields: [
        {name: "width", label: "words per row"},
        {name: "pad", label: "pad"},
        {name: "swizzle", label: "order", choices: [["0", "as it is"], ["1", "swizzled"]]},
        {name: "unit", label: "a lane reads", choices: [["1", "a word"], ["4", "a float4, 4 words"]]},
        {name: "column", label: "from", choices: [["1", "column"], ["0", "row"]]},
        {name: "number", label: "number"},
    ]}];

    const colour = (lane) => "colour" + Math.floor(lane / 8);

    // All words of shared memory, 32 a line, so that a column of the picture is a bank.
    function word_boxes({tile, lanes}) {
        const what = new Map();  // word -> where in the tile
        for (let r = 0; r < tile.rows; ++r) {
            for (let c = 0; c < tile.places; ++c) what.set(tile.word(r, c), {r, c});
        }
        const taken = new Map(lanes.map(({r, c}, lane) => [tile.word(r, c), lane]));
        const boxes = [];
        for (let word = 0; word < tile.rows * tile.pitch; word += tile.unit) {
            const place = what.get(word), lane = taken.get(word);
            const box = make("span", {class: "word " + (lane !== undefined ? colour(lane)
                : place ? "unused" : "pad"), "data-word": word}, lane === undefined ? "" : String(lane));
            if (lane !== undefined) box.dataset.n = lane;
            if (place) box.dataset.place = `${place.r},${place.c}`;
            boxes.push(box);
        }
        return boxes;
    }

    function draw(stage) {
        let now = null, at = 0;
        const heads = make("div", {class: "banks heads"});
        const memory = make("div", {class: "banks"});
        const formula = make("p", {class: "formula", "aria-live": "polite"});
        const said = make("p", {class: "said", "aria-live": "polite"});
        stage.append(make("div", {class: "label"}, "shared memory, 32 words a line: a column is a bank; above, the "
            + "words that each bank must hand out, one by one"), make("div", {class: "shared_memory"}, heads,
            memory), formula, said);

        const words_text = (word, unit) => (unit === 1 ? `word ${word}, bank ${word % kBanks}`
            : `words ${word} to ${word + unit - 1}, banks ${word % kBanks} to ${(word + unit - 1) % kBanks}`);
        function explain(r, c, lane) {
            const {tile} = now, place = tile.place(r, c), unit = tile.unit;
            const what = unit === 1 ? "word" : "float4";
            const moved = place === c ? "" : `is at position ${c} ^ ${place ^ c} = ${place}: `;
            const times = unit === 1 ? "" : ` \u00b7 ${unit}`;
            formula.textContent = `${lane === null ? "" : `Lane ${lane}: `}row ${r}, ${what} ${c} ${moved}`
                + `${moved ? "" : "is "}${r} \u00b7 ${tile.pitch} + ${place}${times} = `
                + words_text(tile.word(r, c), unit) + ".";
        }
        function point(lane) {
            at = lane;
            const {r, c} = now.lanes[lane];
            light(stage, memory.querySelectorAll(`[data-word="${now.tile.word(r, c)}"]`));
            explain(r, c, lane);
        }
        walkable(memory, "Shared memory", {steps: () => ({ArrowRight: 1, ArrowLeft: -1}),
            count: () => kLanes, at: () => at, go: point});
        memory.addEventListener("pointerover", (event) => {  // words that no lane takes
            const {place, n} = event.target.dataset;
            if (!place || n !== undefined) return;
            light(stage, [event.target]);
            explain(...place.split(",").map(Number), null);
        });

        return (result) => {
            now = result;
            const {passes, fewest, banks} = result.count;
            memory.style.setProperty("--columns", kBanks / result.tile.unit);
            memory.replaceChildren(...word_boxes(result));
            heads.replaceChildren(...banks.map((n, bank) => make("span", {class: "word head" + (n > 1 ? " met" : ""),
                title: `bank ${bank}: ${n}`}, n === 0 ? "" : String(n))));
            said.replaceChildren(make("b", {}, `${passes} ${passes === 1 ? "wavefront" : "wavefronts"}`),
                `, ${fewest} at least. ` + (result.tile.unit === 1 ? ""
                    : "With 16 bytes each, a quarter of the warp is served at a time."));
            point(at);
        };
    }

    explorer.kinds.banks = {title: "Try it: the banks of a tile", fields, draw,
        read: explore_inputs.read_banks,
        start: {width: "32", pad: "0", number: "2", column: "1", swizzle: "0", unit: "1"},
        presets: {
            "step 3: a column": {},
            "step 3: a row": {column: "0"},
            "step 4: padded": {pad: "1"},
            "swizzled": {swizzle: "1"},
            "float4": {width: "64", unit: "4"},
            "step 6: float4, swizzled": {width: "64", unit: "4", swizzle: "1"},
        }};
})();
