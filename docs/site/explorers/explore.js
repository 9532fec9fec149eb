// What the live pictures know, without a page: layouts as in common/tensor, requests as the emulator
// counts them. Names, rejections and their sentences are the C++ helpers'; cases.cpp writes some
// thousand random cases that hold the two against each other. Numbers are exact up to 2^53.
var explore = (function () {
    "use strict";

    const kLanes = 32;
    const kSector = 32;      // bytes
    const kBanks = 32;       // each serves one word of 4 bytes in a pass
    const kEnumerable = 1 << 16;

    function reject(sentence) {
        throw new RangeError(sentence);
    }

    const text_of = (dims) => "(" + dims.join(", ") + ")";

    // --- layouts: {shape, strides}, and `first`, where index (0, 0, ...) lies ---------------------

    function size(shape) {
        shape.forEach((extent, d) => {
            if (extent < 0) {
                reject(`shape ${text_of(shape)}: the extent of dim ${d} is ${extent}, and an extent `
                    + "cannot be negative");
            }
        });
        return shape.reduce((product, extent) => product * extent, 1);
    }

    function layout(shape, strides, first = 0) {
        if (shape.length !== strides.length) {
            reject(`shape ${text_of(shape)} has rank ${shape.length}, strides ${text_of(strides)} have `
                + `rank ${strides.length}; one stride per dim is needed`);
        }
        size(shape);
        return {shape, strides, first};
    }

    function row_major(shape) {
        size(shape);
        const strides = shape.map(() => 1);
        for (let d = shape.length - 2; d >= 0; --d) {
            strides[d] = strides[d + 1] * Math.max(shape[d + 1], 1);
        }
        return layout(shape, strides);
    }

    function column_major(shape) {
        size(shape);
        const backwards = row_major([...shape].reverse());
        return layout(shape, backwards.strides.reverse());
    }

    // From index (0, 0, ...), as in C++: `first` is not in it.
    const offset = ({strides}, index) => index.reduce((sum, i, d) => sum + i * strides[d], 0);

    function unravel(number, shape) {
        const index = shape.map(() => 0);
        for (let d = shape.length - 1; d >= 0; --d) {
            index[d] = number % shape[d];
            number = Math.floor(number / shape[d]);
        }
        return index;
    }

    function reach({shape, strides}) {
        if (size(shape) === 0) return {lowest: 0, highest: -1};
        let lowest = 0, highest = 0;
        shape.forEach((extent, d) => {
            const last = (extent - 1) * strides[d];
            if (last < 0) lowest += last;
            else highest += last;
        });
        return {lowest, highest};
    }

    function required_span(l) {
        const {lowest, highest} = reach(l);
        return highest - lowest + 1;
    }

    function is_contiguous({shape, strides}) {
        if (size(shape) === 0) return true;
        let expected = 1;
        for (let d = shape.length - 1; d >= 0; --d) {
            if (shape[d] === 1) continue;
            if (strides[d] !== expected) return false;
            expected *= shape[d];
        }
        return true;
    }

    function is_injective_by_enumeration(l) {
        const seen = new Set();
        for (let i = 0; i < size(l.shape); ++i) seen.add(offset(l, unravel(i, l.shape)));
        return seen.size === size(l.shape);
    }

    function is_injective(l) {
        if (size(l.shape) === 0) return true;
        const walks = l.shape.map((count, d) => ({count, step: Math.abs(l.strides[d])}))
            .filter((walk) => walk.count > 1).sort((a, b) => a.step - b.step);
        let reached = 0, proved = true;
        for (const {count, step} of walks) {
            if (step <= reached) proved = false;
            reached += (count - 1) * step;
        }
        return proved || (size(l.shape) <= kEnumerable && is_injective_by_enumeration(l));
    }

    // Of one layout, as the launchers ask it of several at once.
    function simplify({shape, strides}) {
        if (size(shape) === 0) return layout([0], [1]);
        const dims = shape.map((extent, d) => ({extent, stride: strides[d]}))
            .filter((dim) => dim.extent !== 1)
            .sort((a, b) => Math.abs(b.stride) - Math.abs(a.stride));
        for (let inner = dims.length - 1; inner > 0; --inner) {
            const [a, b] = [dims[inner - 1], dims[inner]];
            if (a.stride !== b.stride * b.extent) continue;
            dims.splice(inner - 1, 2, {extent: a.extent * b.extent, stride: b.stride});
        }
        return layout(dims.map((dim) => dim.extent), dims.map((dim) => dim.stride));
    }

    const layout_text = ({shape, strides}) => `shape ${text_of(shape)}, strides ${text_of(strides)}`;

    // --- transforms: a view in, a view out ---------------------------------------------------------

    function checked_dim(op, dim, rank) {
        if (dim < -rank || dim >= rank) {
            const allowed = rank === 0 ? "none"
                : `dims 0 to ${rank - 1}, or ${-rank} to -1 from the back`;
            reject(`${op}: dim ${dim} asked for, but a tensor of rank ${rank} has ${allowed}`);
        }
        return dim < 0 ? dim + rank : dim;
    }

    const with_at = (list, d, value) => list.map((old, i) => (i === d ? value : old));
    const without = (list, d) => list.filter((_, i) => i !== d);

    // A part without elements has the pointer of what it was cut from.
    const cut = (v, shape, strides, moved) =>
        layout(shape, strides, v.first + (size(shape) === 0 ? 0 : moved));

    function slice(v, dim, begin, end, step = 1) {
        const d = checked_dim("slice", dim, v.shape.length);
        if (begin < 0 || begin > end || end > v.shape[d]) {
            reject(`slice [${begin}, ${end}) of dim ${d}, whose extent is ${v.shape[d]}`);
        }
        if (step < 1) reject(`slice with step ${step}; a step is at least 1, and flip() goes back`);
        return cut(v, with_at(v.shape, d, Math.ceil((end - begin) / step)),
            with_at(v.strides, d, v.strides[d] * step), begin * v.strides[d]);
    }

    function select(v, dim, i) {
        const d = checked_dim("select", dim, v.shape.length);
        if (i < 0 || i >= v.shape[d]) {
            reject(`select: index ${i} of dim ${d}, whose extent is ${v.shape[d]}`);
        }
        return cut(v, without(v.shape, d), without(v.strides, d), i * v.strides[d]);
    }

    function flip(v, dim) {
        const d = checked_dim("flip", dim, v.shape.length);
        if (size(v.shape) === 0 || v.shape[d] === 1) return v;
        return cut(v, v.shape, with_at(v.strides, d, 0 - v.strides[d]),
            (v.shape[d] - 1) * v.strides[d]);
    }

    // The last two dims, where none are named.
    function transpose(v, a, b) {
        const rank = v.shape.length;
        if (a === undefined) {
            if (rank < 2) reject(`transpose of shape ${text_of(v.shape)}: two dims are needed`);
            return transpose(v, -2, -1);
        }
        const [i, j] = [a, b].map((dim) => checked_dim("transpose", dim, rank));
        const order = with_at(with_at([...v.shape.keys()], i, j), j, i);
        return permute(v, order);
    }

    function permute(v, order) {
        const rank = v.shape.length;
        const dims = order.map((d) => (d < 0 ? d + rank : d));
        const each_once = dims.length === rank && new Set(dims).size === rank
            && dims.every((d) => 0 <= d && d < rank);
        if (!each_once) {
            reject(`permute of shape ${text_of(v.shape)} by ${text_of(order)}: each of its ${rank} dims `
                + "is needed exactly once");
        }
        return layout(dims.map((d) => v.shape[d]), dims.map((d) => v.strides[d]), v.first);
    }

    function broadcast_to(v, shape) {
        const words = `broadcast of shape ${text_of(v.shape)} to ${text_of(shape)}`;
        const added = shape.length - v.shape.length;
        if (added < 0) reject(words + ": a broadcast adds dims and drops none");
        const strides = shape.map(() => 0);
        v.shape.forEach((extent, d) => {
            if (extent === shape[added + d]) {
                strides[added + d] = v.strides[d];
            } else if (extent !== 1) {
                reject(`${words}: dim ${d} has extent ${extent}, not ${shape[added + d]}, and only an `
                    + "extent of 1 can be repeated");
            }
        });
        return layout(shape, strides, v.first);
    }

    // `shape` with its -1 replaced, and with as many elements as the view.
    function shape_of_as_many(v, shape) {
        const words = `reshape of ${layout_text(v)} to ${text_of(shape)}`;
        const unknown = shape.indexOf(-1);
        if (unknown !== shape.lastIndexOf(-1)) reject(words + ": only one extent may be -1");
        const all = size(v.shape), known = size(shape.map((extent) => (extent === -1 ? 1 : extent)));
        if (unknown >= 0 && known === 0) {
            reject(words + ": beside an extent of 0, -1 could be any number");
        }
        const exact = with_at(shape, unknown, Math.floor(all / known));
        if (size(exact) !== all) {
            reject(`${words}: that is ${all} elements, which `
                + (unknown >= 0 ? `${known} does not divide` : `cannot fill ${known}`));
        }
        return exact;
    }

    function reshape(v, shape) {
        const exact = shape_of_as_many(v, shape);
        if (size(exact) === 0) return layout(exact, row_major(exact).strides, v.first);
        const strides = exact.map(() => 0);
        let d = exact.length - 1;         // the new dim whose stride is wanted
        let walked = 1, wanted = 1;       // elements of the run so far: of old dims, of new dims
        let step = 1, inner = -1;
        const use_up = (more) => {
            for (; d >= 0 && more(); --d) {
                strides[d] = step * wanted;
                wanted *= exact[d];
            }
        };
        for (let old = v.shape.length - 1; old >= 0; --old) {
            if (v.shape[old] === 1) continue;
            if (inner >= 0 && v.strides[old] !== step * walked) {
                use_up(() => wanted < walked);
                if (wanted !== walked) {
                    reject(`reshape of ${layout_text(v)} to ${text_of(exact)}: no single stride `
                        + `describes dims ${old} and ${inner}; copy first`);
                }
                walked = wanted = 1;
            }
            if (walked === 1) step = v.strides[old];
            walked *= v.shape[old];
            inner = old;
        }
        use_up(() => true);
        return layout(exact, strides, v.first);
    }

    // --- requests: the bytes [address, address + bytes) of each lane -------------------------------

    function units_touched(addresses, bytes, unit) {
        const units = new Set();
        for (const begin of addresses) {
            const end = begin + bytes;
            for (let u = Math.floor(begin / unit); u * unit < end; ++u) units.add(u);
        }
        return units;
    }

    function count_sectors({addresses, bytes}) {
        const used = units_touched(addresses, bytes, 1).size;
        return {bytes: used, sectors: units_touched(addresses, bytes, kSector).size,
            fewest: Math.ceil(used / kSector)};
    }

    function words_in_banks(addresses, bytes) {
        const banks = Array.from({length: kBanks}, () => 0);
        for (const word of units_touched(addresses, bytes, 4)) ++banks[word % kBanks];
        return banks;
    }

    // Lanes that are served together: all of them with 4 bytes each, a quarter of them with 16.
    function parts_of({addresses, bytes}) {
        const lanes = addresses.length / (bytes / 4);
        return Array.from({length: bytes / 4}, (_, part) =>
            addresses.slice(part * lanes, (part + 1) * lanes));
    }

    // `banks`: words that a bank must hand out, one after the other, in the part where they are most.
    function count_passes(request) {
        const parts = parts_of(request).map((part) => words_in_banks(part, request.bytes));
        return {passes: parts.reduce((sum, banks) => sum + Math.max(...banks), 0),
            fewest: Math.ceil(units_touched(request.addresses, request.bytes, 4).size / kBanks),
            banks: parts[0].map((_, bank) => Math.max(...parts.map((banks) => banks[bank])))};
    }

    // A warp's loads from memory: lane l takes element first + l * stride; or, `wide`, the 16 bytes
    // that are l * stride such loads behind element `first`.
    function warp_request(stride, bytes, first, wide) {
        const load = wide ? 16 : bytes;
        const addresses = Array.from({length: kLanes}, (_, l) => first * bytes + l * stride * load);
        if (addresses[0] % load !== 0) {
            reject(`A load of ${load} bytes begins at a multiple of ${load}, and lane 0's would begin at `
                + `byte ${addresses[0]}. A GPU ends the kernel with "misaligned address".`);
        }
        return {addresses, bytes: load};
    }

    // A tile in shared memory. `unit` words move at once, 1 or 4; a row has width / unit places.
    function tile(width, pad, swizzle, unit) {
        const places = width / unit;
        for (const [name, words] of [["width", width], ["pad", pad]]) {
            if (words % unit !== 0) {
                reject(`A ${name} of ${words} words: a float4 begins at multiples of 16 bytes, so it is a `
                    + "multiple of 4.");
            }
        }
        if (swizzle && (places & (places - 1)) !== 0) {
            reject(`Exclusive or stays within a row if its places are a power of two in number; this `
                + `one has ${places}.`);
        }
        // As rows of step 3, or of step 6, where a thread takes blocks of 4 x 4 words.
        const rows = unit === 1 ? 32 : 64;
        const place = (r, c) => (swizzle ? c ^ (Math.floor(r / unit) % places) : c);
        const word = (r, c) => r * (width + pad) + place(r, c) * unit;
        return {rows, places, unit, pitch: width + pad, place, word};
    }

    // Which place of which row each lane takes: along row `number`, and on into the next; or down
    // column `number`, a vector every fourth row.
    function tile_lanes({rows, places, unit}, column, number) {
        const lanes = Array.from({length: kLanes}, (_, l) => column
            ? {r: l * unit % rows, c: number + Math.floor(l * unit / rows)}
            : {r: number + Math.floor(l / places), c: l % places});
        const {r, c} = lanes[kLanes - 1];
        if (r >= rows || c >= places) {
            reject(column ? `Lane 31 would take column ${c}, but the last is column ${places - 1}.`
                : `Lane 31 would take row ${r}, but the last is row ${rows - 1}.`);
        }
        return lanes;
    }

    const tile_request = (t, lanes) =>
        ({addresses: lanes.map(({r, c}) => 4 * t.word(r, c)), bytes: 4 * t.unit});

    // --- many threads, one answer ------------------------------------------------------------------

    // Of two that were found anywhere in a line; of equal ones the earlier. Day 04's `better`, and +.
    const kJoin = {
        largest: (a, b) => (b.value > a.value || (b.value === a.value && b.at < a.at) ? b : a),
        sum: (a, b) => ({value: a.value + b.value, at: 0}),
    };

    // What each thread holds after each round; the first entry is the start. `from`: the two threads
    // whose numbers it has joined; null if the thread does nothing any more.
    function tree(numbers, op, butterfly) {
        const rounds = [numbers.map((value, at) => ({value, at, from: null}))];
        for (let far = numbers.length / 2; far >= 1; far /= 2) {
            const held = rounds[rounds.length - 1];
            rounds.push(held.map((mine, t) => {
                if (!butterfly && t >= far) return {...mine, from: null};
                const other = butterfly ? t ^ far : t + far;
                return {...kJoin[op](mine, held[other]), from: [t, other]};
            }));
        }
        return rounds;
    }

    // A product of (M, K) and (K, N), its outputs cut into tiles of BM x BN, each made by itself: how
    // often a number of a is fetched, and one of b; and all together.
    function product(M, N, K, BM, BN) {
        const times_a = Math.ceil(N / BN), times_b = Math.ceil(M / BM);
        return {times_a, times_b, fetched: M * K * times_a + K * N * times_b, multiply_adds: M * N * K};
    }

    // The running maximum: after each number the largest so far, the factor that puts the sum right,
    // and the sum of base^(x - largest).
    function running(numbers, base) {
        let largest = -Infinity, sum = 0;
        return numbers.map((x) => {
            const old = largest;
            largest = Math.max(largest, x);
            const factor = Math.pow(base, old - largest);
            sum = sum * factor + Math.pow(base, x - largest);
            return {x, largest, factor, sum};
        });
    }

    // What two threads have found, joined.
    function joined(a, b, base) {
        const largest = Math.max(a.largest, b.largest);
        const factors = [a, b].map((one) => Math.pow(base, one.largest - largest));
        return {largest, factors, sum: a.sum * factors[0] + b.sum * factors[1]};
    }

    return {kLanes, kSector, kBanks, reject, text_of, layout_text, size, layout, row_major, column_major,
        offset, unravel, reach, required_span, is_contiguous, is_injective, simplify, slice, select,
        flip, transpose, permute, broadcast_to, reshape, units_touched, count_sectors, count_passes,
        warp_request, tile, tile_lanes, tile_request, tree, product, running, joined};
})();
