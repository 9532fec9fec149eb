// The warp explorer: 32 lanes, laid over memory, and the sectors that they touch.
(function () {
    "use strict";

    const {make, walkable, light} = explorer;
    const {minus} = explore_inputs;
    const {kLanes, kSector} = explore;

    const fields = () => [{label: "", fields: [
        {name: "stride", label: "stride"},
        {name: "first", label: "first element"},
        {name: "bytes", label: "bytes an element", choices: ["1", "2", "4", "8", "16"].map((n) => [n, n])},
        {name: "wide", label: "loads of", choices: [["0", "an element"], ["1", "16 bytes"]]},
    ]}];

    // Eight neighbouring lanes have one colour.
    const colour = (lane) => "colour" + Math.floor(lane / 8);

    // Bytes of a sector are drawn in slots of the size of an element; a slot has the lanes that use it.
    function sector_box(sector, {addresses, bytes}, slot) {
        const box = make("div", {class: "sector"}, make("span", {class: "label"}, minus(sector)));
        const slots = make("div", {class: "slots", style: `--columns: ${kSector / slot}`});
        for (let begin = sector * kSector; begin < (sector + 1) * kSector; begin += slot) {
            const lanes = [...addresses.keys()].filter((l) =>
                addresses[l] < begin + slot && begin < addresses[l] + bytes);
            if (lanes.length === 0) {
                slots.append(make("span", {class: "slot unused"}));
                continue;
            }
            const text = slot < 4 ? "" : lanes.length === kLanes ? "all" : lanes[0];
            slots.append(make("span", {class: "slot " + colour(lanes[0]), "data-n": lanes[0],
                "data-lanes": lanes.join(" ")}, text));
        }
        box.append(slots);
        return box;
    }

    function sector_boxes(request, slot) {
        const sectors = [...explore.units_touched(request.addresses, request.bytes, kSector)]
            .sort((a, b) => a - b);
        return sectors.flatMap((sector, i) => {
            const skipped = i === 0 ? 0 : sector - sectors[i - 1] - 1;
            const box = sector_box(sector, request, slot);
            return skipped === 0 ? [box]
                : [make("div", {class: "skipped"}, `${skipped} skipped`), box];
        });
    }

    function draw(stage) {
        let request = null, at = 0;
        const lanes = make("div", {class: "lanes"}, ...Array.from({length: kLanes}, (_, l) =>
            make("span", {class: "cell " + colour(l), "data-n": l}, String(l))));
        const memory = make("div", {class: "sectors"});
        const formula = make("p", {class: "formula", "aria-live": "polite"});
        const said = make("p", {class: "said", "aria-live": "polite"});
        stage.append(make("div", {class: "label"}, "the lanes"), lanes,
            make("div", {class: "label"}, "the sectors they touch, 32 bytes each; sector 0 begins at the pointer"),
            memory, formula, said);

        function point(lane) {
            at = lane;
            const begin = request.addresses[lane], end = begin + request.bytes - 1;
            light(stage, [lanes.children[lane], ...[...memory.querySelectorAll("[data-lanes]")]
                .filter((slot) => slot.dataset.lanes.split(" ").includes(String(lane)))]);
            const bytes = begin === end ? `byte ${minus(begin)}` : `bytes ${minus(begin)} to ${minus(end)}`;
            formula.textContent = `Lane ${lane} loads ${bytes}: sector ${minus(Math.floor(begin / kSector))}.`;
        }
        for (const [box, label] of [[lanes, "The lanes"], [memory, "The sectors"]]) {
            walkable(box, label, {steps: () => ({ArrowRight: 1, ArrowLeft: -1}), count: () => kLanes,
                at: () => at, go: point});
        }
        return (result) => {
            request = result.request;
            const {bytes, sectors, fewest} = result.count;
            memory.replaceChildren(...sector_boxes(request, result.element));
            const plural = sectors === 1 ? "" : "s";
            said.replaceChildren(make("b", {}, `${sectors} sector${plural} touched`), `, ${fewest} at least. `
                + `${bytes} bytes used of ${(sectors * kSector).toLocaleString("en-US")} moved: `
                + `${Math.round(100 * bytes / (sectors * kSector))} %.`);
            point(at);
        };
    }

    explorer.kinds.warp = {title: "Try it: what a warp touches", fields, draw,
        read: explore_inputs.read_warp,
        start: {stride: "1", first: "0", bytes: "4", wide: "0"},
        presets: {
            "neighbours": {},
            "one element later": {first: "1"},
            "every other": {stride: "2"},
            "a row apart": {stride: "32", first: "2"},
            "backwards": {stride: "-1", first: "31"},
            "all the same": {stride: "0"},
            "bytes": {bytes: "1"},
            "16 bytes per load": {wide: "1"},
        }};
})();
