// The tree explorer: eight threads, eight numbers, and what each holds after every round.
(function () {
    "use strict";

    const {make, walkable, light} = explorer;
    const {kTree, minus} = explore_inputs;

    const fields = () => [
        {label: "numbers", fields: Array.from({length: kTree}, (_, i) => ({name: "x" + i, label: ""}))},
        {label: "", fields: [
            {name: "sum", label: "find", choices: [["0", "the largest"], ["1", "the sum"]]},
            {name: "butterfly", label: "by", choices: [["0", "a tree in shared memory"], ["1", "a butterfly of shuffles"]]},
        ]}];

    function draw(stage) {
        let now = null, at = 0;
        const rows = make("div", {class: "rounds"});
        const formula = make("p", {class: "formula", "aria-live": "polite"});
        const said = make("p", {class: "said", "aria-live": "polite"});
        stage.append(rows, formula, said);

        const value = ({value, at}) => minus(value) + (now.op === "largest" ? ` (number ${at})` : "");
        function point(n) {
            at = n;
            const round = Math.floor(n / kTree), t = n % kTree, cell = now.rounds[round][t];
            const who = now.butterfly ? "lane" : "thread", name = `${who[0].toUpperCase()}${who.slice(1)} ${t}`;
            const boxes = [n];
            if (round === 0) {
                formula.textContent = `${name} begins with value ${t}, ${minus(cell.value)}.`;
            } else if (cell.from === null) {
                formula.textContent = `${name} has nothing to do in round ${round}; it only reaches the barrier.`;
            } else {
                const [mine, other] = cell.from.map((from) => now.rounds[round - 1][from]);
                boxes.push(...cell.from.map((from) => (round - 1) * kTree + from));
                formula.textContent = `${name} has ${value(mine)}, and ${who} ${cell.from[1]} has ${value(other)}: `
                    + (now.op === "sum" ? `${minus(mine.value)} + ${minus(other.value)} = ` : "the larger is ")
                    + `${value(cell)}.`
                    + (now.op === "largest" && mine.value === other.value ? " Of equal ones it is the earlier." : "");
            }
            light(stage, boxes.map((box) => rows.querySelector(`[data-n="${box}"]`)));
        }
        walkable(rows, "The rounds", {
            steps: () => ({ArrowRight: 1, ArrowLeft: -1, ArrowDown: kTree, ArrowUp: -kTree}),
            count: () => now.rounds.length * kTree, at: () => at, go: point});

        return (result) => {
            now = result;
            rows.replaceChildren(...now.rounds.flatMap((cells, round) => [
                make("div", {class: "label"}, round === 0 ? "at the start"
                    : `round ${round}, at a distance of ${kTree >> round}`),
                make("div", {class: "matrix", style: `--columns: ${kTree}`}, ...cells.map((cell, t) => {
                    const idle = round > 0 && cell.from === null;
                    const box = make("span", {"data-n": round * kTree + t,
                        class: "cell " + (idle ? "unused" : "colour" + (now.op === "sum" ? round % 4 : cell.at % 4))},
                    minus(cell.value));
                    if (now.op === "largest" && !idle) box.append(make("sup", {}, String(cell.at)));
                    return box;
                }))]));
            const rounds = now.rounds.length - 1;
            const joins = now.rounds.flat().filter(({from}) => from !== null).length;
            said.replaceChildren(make("b", {}, `${rounds} rounds`), `, ${joins} values combined. `
                + (now.butterfly ? `Every lane ends with ${value(now.rounds[rounds][0])}; no barrier is needed.`
                    : `Thread 0 ends with ${value(now.rounds[rounds][0])}; there is a barrier before each round.`));
            point(at);
        };
    }

    explorer.kinds.tree = {title: "Try it: eight numbers become one", fields, draw,
        read: explore_inputs.read_tree,
        start: {x0: "8", x1: "48", x2: "39", x3: "5", x4: "48", x5: "12", x6: "7", x7: "31", sum: "0", butterfly: "0"},
        presets: {
            "largest, tree": {},
            "largest, butterfly": {butterfly: "1"},
            "sum, tree": {sum: "1"},
            "sum, butterfly": {sum: "1", butterfly: "1"},
            "all equal": {x0: "5", x1: "5", x2: "5", x3: "5", x4: "5", x5: "5", x6: "5", x7: "5"},
        }};
})();
