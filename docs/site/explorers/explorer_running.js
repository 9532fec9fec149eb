// The explorer of the running maximum: numbers come one by one, and a sum that is put right.
(function () {
    "use strict";

    const {make, walkable, light} = explorer;
    const {kScores, minus} = explore_inputs;

    const fields = () => [
        {label: "scores", fields: Array.from({length: kScores}, (_, i) => ({name: "x" + i, label: ""}))},
        {label: "", fields: [
            {name: "base", label: "powers of", choices: [["2", "2"], ["e", "e"]]},
            {name: "threads", label: "threads", choices: [["1", "one"], ["2", "two, joined"]]},
        ]}];

    const in_cell = (x) => (x < 0.005 ? "~0" : String(Number(x.toPrecision(2))));
    const short = (x) => String(Number(x.toPrecision(4)));

    function draw(stage) {
        let now = null, at = 0, cells = [];
        const rows = make("div", {class: "rounds"});
        const formula = make("p", {class: "formula", "aria-live": "polite"});
        const said = make("p", {class: "said", "aria-live": "polite"});
        stage.append(make("div", {class: "label"}, "after each score: what it and those before count, if the largest "
            + "so far counts as 1"), rows, formula, said);

        function point(n) {
            at = n;
            const {x, largest, step} = cells[n], name = now.base === 2 ? "2" : "e";
            light(stage, [rows.querySelector(`[data-n="${n}"]`)]);
            formula.textContent = `${name}^(${minus(x)} \u2212 ${largest < 0 ? `(${minus(largest)})` : largest}) = `
                + `${short(Math.pow(now.base, x - largest))}. The sum: ${step}.`;
        }
        walkable(rows, "The sums", {steps: () => ({ArrowRight: 1, ArrowLeft: -1}), count: () => cells.length,
            at: () => at, go: point});

        function row(numbers, largest, step) {
            const boxes = numbers.map((x) => {
                cells.push({x, largest, step});
                return make("span", {class: "cell colour" + (x === largest ? 1 : 0), "data-n": cells.length - 1},
                    in_cell(Math.pow(now.base, x - largest)));
            });
            return make("div", {class: "running"}, make("div", {class: "matrix", style: `--columns: ${kScores}`},
                ...boxes), make("span", {}, step));
        }
        return (result) => {
            now = result, cells = [];
            rows.replaceChildren(...now.parts.flatMap((steps, part) => [
                ...(now.parts.length > 1 ? [make("div", {class: "label"}, `thread ${part}`)] : []),
                ...steps.map(({x, largest, factor, sum}, i) => row(steps.slice(0, i + 1).map((s) => s.x), largest,
                    i === 0 ? "1" : `${short(steps[i - 1].sum)} \u00b7 ${short(factor)} + `
                        + `${short(Math.pow(now.base, x - largest))} = ${short(sum)}`))]));
            const {all} = now;
            if (now.parts.length > 1) {
                const [one, other] = now.parts.map((steps) => steps[steps.length - 1].sum);
                rows.append(make("div", {class: "label"}, "together"), row(now.parts.flat().map((s) => s.x), all.largest,
                    `${short(one)} \u00b7 ${short(all.factors[0])} + ${short(other)} \u00b7 ${short(all.factors[1])} = `
                    + short(all.sum)));
            }
            const times = now.parts.flat().filter(({factor}) => factor !== 1 && factor !== 0).length;
            said.replaceChildren(make("b", {}, `largest ${minus(all.largest)}, sum ${short(all.sum)}`),
                `. A larger score came ${times} ${times === 1 ? "time" : "times"}, and each time one factor rescaled the `
                + "sum.");
            point(Math.min(at, cells.length - 1));
        };
    }

    explorer.kinds.running = {title: "Try it: a running maximum", fields, draw,
        read: explore_inputs.read_running,
        start: {x0: "0", x1: "1", x2: "3", x3: "2", x4: "3", x5: "5", base: "2", threads: "1"},
        presets: {
            "as above, and on": {},
            "two threads": {threads: "2"},
            "falling": {x0: "5", x1: "4", x2: "3", x3: "2", x4: "1", x5: "0"},
            "rising": {x0: "0", x1: "1", x2: "2", x3: "3", x4: "4", x5: "5"},
            "far apart": {x0: "-99", x1: "99", x2: "0", x3: "99", x4: "98", x5: "-99", base: "e"},
        }};
})();
