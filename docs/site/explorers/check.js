// Runs in the page that tests.py opens: explore.js against the cases that cases.cpp wrote, and
// explore_inputs.js against what was worked out by hand.
function check_cases(cases) {
    "use strict";
    const plain = ({shape, strides, first}) => ({shape, strides, first});
    const asked = {
        answers: (l) => ({reach: explore.reach(l), span: explore.required_span(l),
            contiguous: explore.is_contiguous(l), injective: explore.is_injective(l),
            simplified: plain(explore.simplify(l))}),
        offsets: (l) => explore_inputs.walk(l).map((cell) => cell.position),
        load: (stride, bytes, first, wide) => {
            const count = explore.count_sectors(explore.warp_request(stride, bytes, first, wide));
            return [count.sectors, count.fewest, count.bytes];
        },
        tile: (width, pad, swizzle, unit, column, number) => {
            const tile = explore.tile(width, pad, swizzle, unit);
            const request = explore.tile_request(tile, explore.tile_lanes(tile, column, number));
            const count = explore.count_passes(request);
            return [count.passes, count.fewest, explore.units_touched(request.addresses, request.bytes, 1).size];
        },
        // The place of a sum means nothing; an idle thread of a tree keeps what it has.
        tree: (numbers, sum, butterfly) => explore.tree(numbers, sum ? "sum" : "largest", butterfly)
            .map((round) => round.map(({value, at}) => (sum ? [value] : [value, at]))),
        product: (...sizes) => {
            const count = explore.product(...sizes);
            return [count.times_a, count.times_b, count.fetched, count.multiply_adds];
        },
        running: (numbers, half) => {
            const [one, other] = [numbers.slice(0, half), numbers.slice(half)]
                .map((part) => explore.running(part, Math.E));
            const all = explore.joined(one[one.length - 1], other[other.length - 1], Math.E);
            return [...one, ...other, all].map(({largest, sum}) => [largest, sum.toFixed(9)]);
        },
    };
    const done = {}, wrong = [];
    for (const {op, args, gives, rejected} of cases) {
        const expected = JSON.stringify(rejected || gives);
        let got;
        try {
            got = JSON.stringify((asked[op] || explore[op])(...args));
        } catch (error) {
            // The emulator says so in other words.
            got = gives === null && error.message.includes("misaligned") ? "null"
                : JSON.stringify(error.message);
        }
        const kind = rejected || gives === null ? op + " rejected" : op;
        done[kind] = (done[kind] || 0) + 1;
        if (got !== expected) {
            wrong.push(`${op}(${JSON.stringify(args)}) is ${got}, but in C++ it is ${expected}`);
        }
    }
    return {done, wrong};
}

// [what was asked, what came, what is right]; compared as JSON.
function check_inputs() {
    "use strict";
    const wrong = [];
    const same = (what, got, right) => {
        if (JSON.stringify(got) !== JSON.stringify(right)) {
            wrong.push(`${what}: ${JSON.stringify(got)}, not ${JSON.stringify(right)}`);
        }
    };
    const said = (f) => {
        try {
            return f();
        } catch (error) {
            return error.message;
        }
    };
    const {number, numbers, read_layout, read_warp, read_banks, read_tree, read_product, read_running}
        = explore_inputs;

    for (const [text, right] of [["7", 7], [" -3 ", -3], ["\u22123", -3], ["+4", 4], ["9", 9], ["-9", -9],
        ["10", "n: 10 asked for, but here it is -9 to 9"],
        ["-10", "n: -10 asked for, but here it is -9 to 9"], ["3x", 'n: "3x" is not a whole number'],
        ["", 'n: "" is not a whole number'], ["1.5", 'n: "1.5" is not a whole number'],
        ["1e1", 'n: "1e1" is not a whole number']]) {
        same(`number "${text}"`, said(() => number(text, "n", -9, 9)), right);
    }
    for (const [text, right] of [["1, 2", [1, 2]], ["(3,-4)", [3, -4]], ["{5}", [5]], ["[ 6 ]", [6]], ["", []],
        [" () ", []], ["9999, -9999", [9999, -9999]], ["1,,2", 'l: "" is not a whole number'],
        ["10000", "l: 10000 asked for, but here it is -9999 to 9999"],
        ["-10000", "l: -10000 asked for, but here it is -9999 to 9999"]]) {
        same(`numbers "${text}"`, said(() => numbers(text, "l")), right);
    }

    // A link keeps the state, wrong input too, of its own kind of explorer only.
    const state = {shape: "3,3", strides: "4,x", first: "0", storage: "12", steps: "flip:1;select:0,2"};
    const start = {shape: "1", strides: "1", first: "1", storage: "1", steps: ""};
    const link = explore_inputs.link_of("views", state);
    same("end of a link", link.slice(link.indexOf("#")), "#explorer_views");
    const search = link.slice(0, link.indexOf("#"));
    same("a link", explore_inputs.state_of(search, "views", start), state);
    same("another's link", explore_inputs.state_of(search, "layout", start), start);
    same("half a link", explore_inputs.state_of("?explorer=views&first=5&more=6", "views", start),
        {...start, first: "5"});
    same("no link", explore_inputs.state_of("", "views", start), start);

    const good = {shape: "3,3", strides: "4,1", first: "0", storage: "12", steps: ""};
    const layout = (change) => read_layout({...good, ...change});
    same("lines", layout({steps: "slice:1,1,3;flip:0;permute:1, 0"}).lines,
        ["View<float> x{data, Layout({3, 3}, {4, 1})};", "x = slice(x, 1, 1, 3);", "x = flip(x, 0);",
            "x = permute(x, {1, 0});"]);
    same("view", layout({steps: "slice:1,1,3;flip:0;permute:1, 0"}).view,
        {shape: [2, 3], strides: [1, -4], first: 9});
    same("base", layout({first: "2", storage: "20", steps: "select:0,1"}).base,
        {shape: [3, 3], strides: [4, 1], first: 2});
    same("storage", layout({}).storage, 12);
    same("rank 0", [layout({shape: "", strides: ""}).view, layout({shape: "", strides: ""}).lines],
        [{shape: [], strides: [], first: 0}, ["View<float> x{data, Layout({}, {})};"]]);
    same("first > 0", layout({first: "3"}).lines, ["View<float> x{data + 3, Layout({3, 3}, {4, 1})};"]);
    same("first < 0", layout({first: "-2"}).lines, ["View<float> x{data - 2, Layout({3, 3}, {4, 1})};"]);
    same("a slice with a step", layout({steps: "slice:0,0,3,2"}).lines[1], "x = slice(x, 0, 0, 3, 2);");
    same("transpose", layout({steps: "transpose:;transpose:0,1"}).lines.slice(1),
        ["x = transpose(x);", "x = transpose(x, 0, 1);"]);
    same("a new shape", layout({steps: "slice:0,0,1;broadcast_to:(4, 2, 3);select:0,1;reshape:{6}"}).wrong.all,
        "reshape of shape (2, 3), strides (0, 1) to (6): no single stride describes dims 0 and 1; "
        + "copy first");
    for (const [what, change, right] of [
        ["extent", {shape: "3,x"}, {shape1: 'extent of dim 1: "x" is not a whole number'}],
        ["extents", {shape: "-1,1000"}, {shape0: "extent of dim 0: -1 asked for, but here it is 0 to 999",
            shape1: "extent of dim 1: 1000 asked for, but here it is 0 to 999"}],
        ["stride", {strides: "1000,-1000"},
            {strides0: "stride of dim 0: 1000 asked for, but here it is -999 to 999",
                strides1: "stride of dim 1: -1000 asked for, but here it is -999 to 999"}],
        ["first", {first: "1000"}, {first: "first: 1000 asked for, but here it is -999 to 999"}],
        ["first", {first: "-1000"}, {first: "first: -1000 asked for, but here it is -999 to 999"}],
        ["storage", {storage: "0"}, {storage: "storage: 0 asked for, but here it is 1 to 256"}],
        ["storage", {storage: "257"}, {storage: "storage: 257 asked for, but here it is 1 to 256"}],
        ["ranks", {strides: "1"}, {all: "shape (3, 3) has rank 2, strides (1) have rank 1; one stride per "
            + "dim is needed"}],
        ["drawn", {shape: "1,256"}, {}],
        ["too many", {shape: "1,257"}, {all: "shape (1, 257) has 257 elements; at most 256 are drawn here"}],
        ["too many later", {steps: "broadcast_to:99,3,3"},
            {all: "shape (99, 3, 3) has 891 elements; at most 256 are drawn here"}],
        ["rank 4", {steps: "broadcast_to:1,2,3,3"}, {}],
        ["rank 5", {steps: "broadcast_to:1,1,1,3,3"},
            {all: "broadcast_to: the result has 5 dims; 4 at most are drawn"}],
        ["counts", {steps: "slice:1, 2"}, {all: "slice(x, 1, 2): it takes dim, begin, end, step"}],
        ["counts", {steps: "transpose:0"},
            {all: "transpose(x, 0): it takes two dims, or none for the last two"}],
        ["no such", {steps: "toString:1"}, {all: '"toString" is no transform'}],
        ["no divisor", {steps: "reshape:-1, 5"}, {all: "reshape of shape (3, 3), strides (4, 1) to (-1, 5): that is "
            + "9 elements, which 5 does not divide"}],
        ["helper's words", {steps: "select:0,3"}, {all: "select: index 3 of dim 0, whose extent is 3"}],
        ["no list", {steps: "flip"}, {all: "flip(x, ): it takes dim"}],
    ]) {
        same(what + " " + JSON.stringify(change), layout(change).wrong, right);
    }

    const view = {shape: [2, 3], strides: [-3, 1], first: 3};
    same("walk", explore_inputs.walk(view).map((cell) => [cell.index, cell.position]),
        [[[0, 0], 3], [[0, 1], 4], [[0, 2], 5], [[1, 0], 0], [[1, 1], 1], [[1, 2], 2]]);
    same("formula", explore_inputs.formula(view, [1, 2]),
        "offset(1, 2) = 1 \u00b7 (\u22123) + 2 \u00b7 1 = \u22121; from element 3 on: element 2");
    same("formula", explore_inputs.formula({...view, first: 0}, [0, 2]),
        "offset(0, 2) = 0 \u00b7 (\u22123) + 2 \u00b7 1 = 2");
    same("formula", explore_inputs.formula({shape: [2], strides: [0], first: -1}, [1]),
        "offset(1) = 1 \u00b7 0 = 0; from element \u22121 on: element \u22121");
    same("formula", explore_inputs.formula({shape: [], strides: [], first: 0}, []),
        "offset() = no products = 0");
    const leaves = (n, all, last, index, at) => `Outside: ${n} of ${all} indices leave the storage, which is `
        + `elements 0 to ${last}. ${index} would be element ${at}.`;
    const shares = (a, b, at) => `Shared: ${a} and ${b} are one element, ${at}. It may be read; as an output `
        + "this layout is rejected.";
    same("fine", explore_inputs.verdict(view, 6), {outside: "", shared: ""});
    same("too short", explore_inputs.verdict(view, 5), {outside: leaves(1, 6, 4, "(0, 2)", 5), shared: ""});
    same("before it", explore_inputs.verdict({...view, first: 1}, 9),
        {outside: leaves(2, 6, 8, "(1, 0)", "\u22122"), shared: ""});
    same("shared", explore_inputs.verdict({shape: [2, 3], strides: [1, 1], first: 0}, 4),
        {outside: "", shared: shares("(0, 1)", "(1, 0)", 1)});
    same("shared before it", explore_inputs.verdict({shape: [3], strides: [0], first: -1}, 4),
        {outside: leaves(3, 3, 3, "(0)", "\u22121"), shared: shares("(0)", "(1)", "\u22121")});
    same("nothing", explore_inputs.verdict({shape: [0, 3], strides: [1, 1], first: 99}, 4),
        {outside: "", shared: ""});
    same("answers", explore_inputs.answers({shape: [3, 3], strides: [4, 1], first: 0}), {required_span: "11",
        is_contiguous: "no", is_injective: "yes", simplify: "shape (3, 3), strides (4, 1)"});
    same("answers", explore_inputs.answers({shape: [2, 3], strides: [3, 1], first: 0}), {required_span: "6",
        is_contiguous: "yes", is_injective: "yes", simplify: "shape (6), strides (1)"});
    same("answers", explore_inputs.answers({shape: [4], strides: [0], first: 0}).is_injective, "no");

    const warp = (change) => read_warp({stride: "1", first: "0", bytes: "4", wide: "0", ...change});
    same("neighbours", warp({}).count, {bytes: 128, sectors: 4, fewest: 4});
    same("one on", warp({first: "1"}).count, {bytes: 128, sectors: 5, fewest: 4});
    same("rows", warp({stride: "32"}).count, {bytes: 128, sectors: 32, fewest: 4});
    same("wide", warp({wide: "1"}).count, {bytes: 512, sectors: 16, fewest: 16});
    same("addresses", warp({stride: "-2", first: "3", bytes: "8"}).request.addresses.slice(0, 3), [24, 8, -8]);
    same("a load", [warp({wide: "1"}).request.bytes, warp({bytes: "2"}).request.bytes], [16, 2]);
    for (const [what, change, right] of [
        ["wide, one on", {wide: "1", first: "1"}, {all: "A load of 16 bytes begins at a multiple of 16, and "
            + 'lane 0\'s would begin at byte 4. A GPU ends the kernel with "misaligned address".'}],
        ["stride", {stride: "129"}, {stride: "stride: 129 asked for, but here it is -128 to 128"}],
        ["stride", {stride: "-129"}, {stride: "stride: -129 asked for, but here it is -128 to 128"}],
        ["first", {first: "1000"}, {first: "first element: 1000 asked for, but here it is -999 to 999"}],
        ["first", {first: "-1000"}, {first: "first element: -1000 asked for, but here it is -999 to 999"}],
        ["bytes", {bytes: "3"},
            {bytes: 'bytes an element: "3" asked for, but here it is one of 1, 2, 4, 8, 16'}],
        ["switch", {wide: "2"}, {wide: '16-byte loads: "2" asked for, but here it is one of 0, 1'}],
    ]) {
        same(what, warp(change).wrong, right);
    }

    // Steps 3, 4 and 6 of Day 03's transpose, whose passes its page prints.
    const banks = (change) => read_banks({width: "32", pad: "0", number: "2", column: "1", swizzle: "0",
        unit: "1", ...change});
    const passes = (change) => [banks(change).count.passes, banks(change).count.fewest];
    same("step 3", passes({}), [32, 1]);
    same("step 3, a row", passes({column: "0"}), [1, 1]);
    same("step 4", passes({pad: "1"}), [1, 1]);
    same("a swizzle of words", passes({swizzle: "1"}), [1, 1]);
    same("step 6", passes({width: "64", swizzle: "1", unit: "4"}), [4, 4]);
    same("step 6 unswizzled", passes({width: "64", unit: "4"}), [32, 4]);
    same("banks of step 3", banks({}).count.banks.map((n, bank) => n * bank).filter((n) => n > 0), [64]);
    same("banks of vectors", banks({width: "64", unit: "4"}).count.banks.slice(6, 18),
        [0, 0, 8, 8, 8, 8, 8, 8, 8, 8, 0, 0]);
    same("banks of a row", new Set(banks({column: "0"}).count.banks).size, 1);
    same("lanes", banks({}).lanes.slice(30), [{r: 30, c: 2}, {r: 31, c: 2}]);
    same("lanes of vectors", banks({width: "64", unit: "4"}).lanes.slice(15, 17), [{r: 60, c: 2}, {r: 0, c: 3}]);
    same("lanes of rows", banks({width: "20", column: "0"}).lanes.slice(19, 21), [{r: 2, c: 19}, {r: 3, c: 0}]);
    same("a tile", (({rows, places, unit, pitch}) => [rows, places, unit, pitch])(banks({pad: "1"}).tile),
        [32, 32, 1, 33]);
    same("a tile of vectors", (({rows, places, unit, pitch}) => [rows, places, unit, pitch])(
        banks({width: "16", pad: "4", unit: "4"}).tile), [64, 4, 4, 20]);
    const {tile} = banks({swizzle: "1", pad: "3"});
    same("places", [tile.place(5, 2), tile.word(5, 2), tile.place(31, 31)], [7, 5 * 35 + 7, 0]);
    same("a place of a vector", banks({width: "64", unit: "4", swizzle: "1"}).tile.place(7, 2), 3);
    const beyond = (name, n, least, most) => `${name}: ${n} asked for, but here it is ${least} to ${most}`;
    for (const [what, change, right] of [
        ["width", {width: "0"}, {width: beyond("width", 0, 1, 64)}],
        ["width", {width: "65"}, {width: beyond("width", 65, 1, 64)}],
        ["pad", {pad: "33"}, {pad: beyond("pad", 33, 0, 32)}],
        ["pad", {pad: "-1"}, {pad: beyond("pad", -1, 0, 32)}],
        ["number", {number: "64"}, {number: beyond("row or column", 64, 0, 63)}],
        ["number", {number: "-1"}, {number: beyond("row or column", -1, 0, 63)}],
        ["unit", {unit: "2"}, {unit: 'words a lane: "2" asked for, but here it is one of 1, 4'}],
        ["column", {column: "x"}, {column: 'column: "x" asked for, but here it is one of 0, 1'}],
        ["swizzle", {swizzle: ""}, {swizzle: 'swizzle: "" asked for, but here it is one of 0, 1'}],
        ["the last column", {number: "31"}, {}],
        ["beyond the last", {number: "32"}, {all: "Lane 31 would take column 32, but the last is column 31."}],
        ["the last row", {column: "0", number: "31"}, {}],
        ["rows beyond", {column: "0", number: "31", width: "31"},
            {all: "Lane 31 would take row 32, but the last is row 31."}],
        ["two columns of vectors", {width: "16", unit: "4"}, {}],
        ["vectors beyond", {width: "16", unit: "4", number: "3"},
            {all: "Lane 31 would take column 4, but the last is column 3."}],
        ["no power of two", {width: "24", swizzle: "1"}, {all: "Exclusive or stays within a row if its places "
            + "are a power of two in number; this one has 24."}],
        ["vectors of 18", {width: "18", unit: "4"}, {all: "A width of 18 words: a float4 begins at multiples of 16 "
            + "bytes, so it is a multiple of 4."}],
        ["vectors, pad 1", {pad: "1", unit: "4"}, {all: "A pad of 1 words: a float4 begins at multiples of 16 bytes, "
            + "so it is a multiple of 4."}],
    ]) {
        same(what, banks(change).wrong, right);
    }

    const row = (numbers) => Object.fromEntries(numbers.map((x, i) => ["x" + i, String(x)]));
    const tree = (change) => read_tree({...row([8, 48, 39, 5, 48, 12, 7, 31]), sum: "0", butterfly: "0", ...change});
    const ends = ({rounds}) => rounds[3].map(({value}) => value);
    same("a tree", tree({}).rounds[3][0], {value: 48, at: 1, from: [0, 1]});
    same("who works", tree({}).rounds.map((round) => round.filter(({from}) => from !== null).length), [0, 4, 2, 1]);
    same("a butterfly", ends(tree({butterfly: "1"})), [48, 48, 48, 48, 48, 48, 48, 48]);
    same("a sum by a tree", ends(tree({sum: "1"})), [198, 96, 46, 36, 48, 12, 7, 31]);
    same("no number", tree({x3: "x"}).wrong, {x3: 'number 3: "x" is not a whole number'});
    same("no way", tree({butterfly: "2"}).wrong, {butterfly: 'how: "2" asked for, but here it is one of 0, 1'});
    const product = (change) => read_product({M: "8", N: "8", K: "4", BM: "4", BN: "4", ...change});
    same("tiles of 4 x 4", product({}).count, {times_a: 2, times_b: 2, fetched: 128, multiply_adds: 256});
    same("no tiles", product({BM: "1", BN: "1"}).count, {times_a: 8, times_b: 8, fetched: 512, multiply_adds: 256});
    same("edges", product({BM: "3", BN: "5"}).count, {times_a: 2, times_b: 3, fetched: 160, multiply_adds: 256});
    same("too tall", product({BM: "9"}).wrong, {BM: beyond("rows of a tile", 9, 1, 8)});
    same("no depth", product({K: "0"}).wrong, {K: beyond("K", 0, 1, 8)});
    const running = (change) => read_running({...row([0, 1, 3, 2, 3, 5]), base: "2", threads: "1", ...change});
    same("the page's sums", running({}).parts[0].map(({sum}) => sum), [1, 1.5, 1.375, 1.875, 2.875, 1.71875]);
    same("the page's factors", running({}).parts[0].map(({factor}) => factor), [0, 0.5, 0.25, 1, 1, 0.25]);
    same("joined", running({threads: "2"}).all, {largest: 5, factors: [0.25, 1], sum: 1.71875});
    same("base e", running({...row([0, 0, 0, 0, 0, 0]), base: "e"}).all.sum, 6);
    same("no base", running({base: "3"}).wrong, {base: 'base: "3" asked for, but here it is one of 2, e'});
    same("no score", running({x5: "100"}).wrong, {x5: beyond("number 5", 100, -99, 99)});
    return wrong;
}
