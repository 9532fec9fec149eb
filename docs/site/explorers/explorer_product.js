// The product explorer: outputs in tiles, and how often each number of a and b is fetched for them.
(function () {
    "use strict";

    const {make, walkable, light} = explorer;

    const fields = () => [
        {label: "product", fields: ["M", "N", "K"].map((name) => ({name, label: name}))},
        {label: "tile", fields: [{name: "BM", label: "rows"}, {name: "BN", label: "columns"}]}];

    const range = (word, begin, end) =>
        (end - begin === 1 ? `${word} ${begin}` : `${word}s ${begin} to ${end - 1}`);
    const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

    function draw(stage) {
        let now = null, at = 0;
        const [a, b, out] = ["a", "b", "out"].map((name) => make("div", {class: "matrix operand", "data-of": name}));
        const formula = make("p", {class: "formula", "aria-live": "polite"});
        const said = make("p", {class: "said", "aria-live": "polite"});
        stage.append(make("div", {class: "label"}, "b above, a at the left, and the outputs in their tiles; in a and b "
            + "how often a number is fetched"), make("div", {class: "product"}, make("span"), b, a, out), formula, said);

        function point(n) {
            at = n;
            const {M, N, K, BM, BN} = now, m = Math.floor(n / N), n0 = n % N - n % N % BN, m0 = m - m % BM;
            const m1 = Math.min(m0 + BM, M), n1 = Math.min(n0 + BN, N);
            const tile = [];
            for (let row = m0; row < m1; ++row) {
                for (let column = n0; column < n1; ++column) tile.push(out.children[row * N + column]);
            }
            const of_a = [...a.children].filter((_, i) => m0 <= Math.floor(i / K) && Math.floor(i / K) < m1);
            const of_b = [...b.children].filter((_, i) => n0 <= i % N && i % N < n1);
            light(stage, [...tile, ...of_a, ...of_b]);
            const fetched = of_a.length + of_b.length, made = tile.length * K;
            formula.textContent = `Output (${m}, ${n % N}): its tile needs ${range("row", m0, m1)} of a and `
                + `${range("column", n0, n1)} of b, ${of_a.length} + ${of_b.length} elements for ${tile.length} \u00b7 ${K} = `
                + `${plural(made, "multiply-add")}: ${(made / fetched).toFixed(2)} per element.`;
        }
        walkable(out, "The outputs", {
            steps: () => ({ArrowRight: 1, ArrowLeft: -1, ArrowDown: now.N, ArrowUp: -now.N}),
            count: () => now.M * now.N, at: () => at, go: point});

        const cells = (box, rows, columns, cell) => {
            box.style.setProperty("--columns", columns);
            box.replaceChildren(...Array.from({length: rows * columns}, (_, i) =>
                cell(Math.floor(i / columns), i % columns, i)));
        };
        return (result) => {
            now = result;
            const {M, N, K, BM, BN, count} = now;
            cells(a, M, K, () => make("span", {class: "cell unused"}, String(count.times_a)));
            cells(b, K, N, () => make("span", {class: "cell unused"}, String(count.times_b)));
            cells(out, M, N, (m, n, i) => make("span", {"data-n": i, class: "cell colour"
                + (Math.floor(m / BM) % 2 * 2 + Math.floor(n / BN) % 2)}));
            said.replaceChildren(make("b", {}, `${plural(count.fetched, "element")} loaded`),
                ` for ${plural(count.multiply_adds, "multiply-add")}: ${(count.multiply_adds / count.fetched).toFixed(2)} `
                + `per element. a and b have ${M * K + K * N} elements.`);
            point(Math.min(at, M * N - 1));
        };
    }

    explorer.kinds.product = {title: "Try it: a tile and its reuse", fields, draw,
        read: explore_inputs.read_product,
        start: {M: "8", N: "8", K: "4", BM: "4", BN: "4"},
        presets: {
            "4 x 4": {},
            "1 x 1: no tile": {BM: "1", BN: "1"},
            "1 x 8: a row": {BM: "1", BN: "8"},
            "2 x 8": {BM: "2", BN: "8"},
            "8 x 8: all at once": {BM: "8", BN: "8"},
            "3 x 3: edges": {BM: "3", BN: "3"},
        }};
})();
