// Views of views: against NumPy, and on all small cases against a formula that maps each index of
// the view to its index in the source.
#include <numeric>

#include "common/tensor/packings.hpp"
#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::packings;
using sixdays::testing::rejection;

namespace {

struct GoldenTransform {
    const char* op;
    Shape shape;  // of the argument
    Strides strides;
    Dims arguments;
    bool is_view;
    Shape view_shape;
    Strides view_strides;
    std::int64_t first;
};
struct GoldenBroadcast {
    Shape a, b;
    bool together;
    Shape common;
};
#include "common/tensor/tests/golden_transform.inc"

Cut apply(const std::string& op, const Layout& in, const Dims& x) {
    const auto dim = [&](int i) { return static_cast<int>(x[i]); };
    if (op == "slice") return slice(in, dim(0), x[1], x[2], x[3]);
    if (op == "select") return select(in, dim(0), x[1]);
    if (op == "flip") return flip(in, dim(0));
    if (op == "tile") return tile(in, {2, 2, 3}, x);
    if (op == "squeeze") return {squeeze(in, dim(0)), 0};
    if (op == "squeeze_all") return {squeeze(in), 0};
    if (op == "unsqueeze") return {unsqueeze(in, dim(0)), 0};
    if (op == "windows") return {windows(in, dim(0), x[1], x[2]), 0};
    if (op == "permute") return {permute(in, x), 0};
    if (op == "transpose") return {transpose(in, dim(0), dim(1)), 0};
    if (op == "transpose_last") return {transpose(in), 0};
    if (op == "broadcast_to") return {broadcast_to(in, x), 0};
    if (op == "reshape") return {reshape(in, x), 0};
    FAIL("no such operation: " << op);
    return {};
}

template <class Goldens>
void check_goldens(const Goldens& goldens) {
    for (const GoldenTransform& golden : goldens) {
        const Layout in(golden.shape, golden.strides);
        CAPTURE(golden.op, to_string(in), to_string(golden.arguments));
        if (!golden.is_view) {
            CHECK(rejection([&] { (void)apply(golden.op, in, golden.arguments); }) != "");
            continue;
        }
        const Cut got = apply(golden.op, in, golden.arguments);
        CHECK(got.layout.shape == golden.view_shape);
        CHECK(got.first == golden.first);
        if (got.layout.size() > 0) {
            const Layout want(golden.view_shape, golden.view_strides);
            CHECK((equivalent(got.layout, want) ? "" : to_string(got.layout)) == "");
        }
    }
}

// Strides that no wrong formula matches by chance: their sums are all different up to extents of 4.
Layout spread(const Shape& shape) {
    const std::int64_t steps[] = {-1009, 101, -11, 3};
    Strides strides = Dims::filled(shape.rank, 0);
    for (int d = 0; d < shape.rank; ++d) strides[d] = steps[d];
    return Layout(shape, strides);
}

// Does each index of the view have the offset of source_of(index) in `in`? An empty view must have
// a first offset of 0.
template <class SourceOf>
bool shows(const Cut& view, const Layout& in, const SourceOf& source_of) {
    for (const Index& index : indices_of(view.layout.shape)) {
        const Index source = source_of(index);
        for (int d = 0; d < in.rank(); ++d) {
            if (source[d] < 0 || source[d] >= in.extent(d)) return false;
        }
        if (view.first + offset(view.layout, index) != offset(in, source)) return false;
    }
    return view.layout.size() > 0 || view.first == 0;
}

Index with(Index index, int d, std::int64_t i) {
    index[d] = i;
    return index;
}
Index with_dim(const Index& index, int dim, std::int64_t i) {
    Index longer = Dims::filled(index.rank + 1, i);
    for (int d = 0; d < index.rank; ++d) longer[d < dim ? d : d + 1] = index[d];
    return longer;
}
Index without_dim(const Index& index, int dim) {
    Index shorter = Dims::filled(index.rank - 1, 0);
    for (int d = 0; d < index.rank; ++d) {
        if (d != dim) shorter[d < dim ? d : d - 1] = index[d];
    }
    return shorter;
}

// Brute force: can `in`, in row-major order, have the new shape with one stride per dimension? Each
// stride is the first step along its dimension; with these strides every offset must match.
bool one_stride_a_dim(const Layout& in, const Shape& shape) {
    const std::vector<std::int64_t> source = Enumerated(in).in_order;
    if (source.empty()) return true;
    const std::vector<Index> indices = indices_of(shape);
    Strides strides = Dims::filled(shape.rank, 0);
    for (std::size_t k = 1; k < indices.size(); ++k) {
        int moved = 0, dims = 0;
        for (int d = 0; d < shape.rank; ++d) {
            if (indices[k][d] == 0) continue;
            moved = d;
            dims += static_cast<int>(indices[k][d]);
        }
        if (dims == 1) strides[moved] = source[k] - source[0];
    }
    for (std::size_t k = 0; k < indices.size(); ++k) {
        std::int64_t sum = source[0];
        for (int d = 0; d < shape.rank; ++d) sum += indices[k][d] * strides[d];
        if (sum != source[k]) return false;
    }
    return true;
}

void check_reshapes(Cases& cases, const Layout& in, const std::vector<Shape>& shapes) {
    for (const Shape& shape : shapes) {
        if (size(shape) != in.size()) continue;
        const bool is_view = one_stride_a_dim(in, shape);
        const auto words = [&] { return to_string(in) + " to " + to_string(shape); };
        cases.expect(reshape_would_copy(in, shape) != is_view, words);
        if (!is_view) continue;
        const Layout out = reshape(in, shape);
        cases.expect(out.shape == shape, words);
        cases.expect(Enumerated(out).in_order == Enumerated(in).in_order, words);
        cases.expect(out.size() == 0 || equivalent(reshape(out, in.shape), in), words);
    }
}

}  // namespace

// --- NumPy ---------------------------------------------------------------------------------------

TEST_CASE("slices, flips, permutations, tiles and windows equal NumPy's", "[tensor][small]") {
    check_goldens(golden_transforms);
}

TEST_CASE("broadcasting follows NumPy's rules", "[tensor][small]") {
    check_goldens(golden_broadcast_views);
    for (const GoldenBroadcast& golden : golden_broadcasts) {
        CAPTURE(to_string(golden.a), to_string(golden.b));
        if (golden.together) {
            CHECK(broadcast_shapes(golden.a, golden.b) == golden.common);
            CHECK(broadcast_shapes(golden.b, golden.a) == golden.common);
            CHECK(broadcast_shapes(golden.a, golden.common, golden.b) == golden.common);
        } else {
            CHECK(rejection([&] { (void)broadcast_shapes(golden.a, golden.b); }) != "");
            CHECK(rejection([&] { (void)broadcast_shapes(golden.b, golden.a); }) != "");
        }
    }
}

TEST_CASE("a reshape is a view exactly where NumPy needs no copy", "[tensor][small]") {
    check_goldens(golden_reshapes);
}

// --- every small case, against an independent formula --------------------------------------------

TEST_CASE("every slice selects the elements given by its bounds and step", "[tensor][small]") {
    Cases cases;
    for_each_shape(4, 4, [&](const Shape& shape) {
        const Layout in = spread(shape);
        for (int d = 0; d < shape.rank; ++d) {
            for (std::int64_t begin = 0; begin <= shape[d]; ++begin) {
                for (std::int64_t end = begin; end <= shape[d]; ++end) {
                    for (std::int64_t step = 1; step <= (shape.rank < 4 ? 5 : 2); ++step) {
                        const Cut view = slice(in, d, begin, end, step);
                        std::int64_t count = 0;
                        for (std::int64_t i = begin; i < end; i += step) ++count;
                        cases.expect(view.layout.shape == with(shape, d, count), in);
                        cases.expect(
                            shows(view, in,
                                  [&](const Index& i) { return with(i, d, begin + i[d] * step); }),
                            in);
                    }
                }
            }
        }
    });
    CHECK(cases.failure() == "");
    // 35 pairs of bounds over the extents 0 to 4; per rank, each dimension and the others' extents.
    CHECK(cases.count() == 2 * 35 * (5 * (1 + 2 * 5 + 3 * 25) + 2 * 4 * 125));
}

TEST_CASE("select, flip, squeeze and unsqueeze map each index to its source", "[tensor][small]") {
    Cases cases;
    for_each_shape(4, 4, [&](const Shape& shape) {
        const Layout in = spread(shape);
        const auto same = [](const Index& i) { return i; };
        for (int d = 0; d < shape.rank; ++d) {
            for (std::int64_t i = 0; i < shape[d]; ++i) {
                const auto at = [&](const Index& rest) { return with_dim(rest, d, i); };
                cases.expect(shows(select(in, d, i), in, at), in);
                cases.expect(select(in, d, i).layout.shape == without_dim(shape, d), in);
            }
            const Cut back = flip(in, d);
            cases.expect(
                shows(back, in, [&](const Index& i) { return with(i, d, shape[d] - 1 - i[d]); }),
                in);
            const Cut twice = flip(back.layout, d);
            cases.expect(back.layout.shape == shape && twice.layout.strides == in.strides &&
                             back.first + twice.first == 0,
                         in);
            if (shape[d] == 1) {
                const auto put_back = [&](const Index& rest) { return with_dim(rest, d, 0); };
                cases.expect(shows({squeeze(in, d)}, in, put_back), in);
                cases.expect(
                    squeeze(unsqueeze(squeeze(in, d), d), d).strides == squeeze(in, d).strides, in);
            }
        }
        for (int d = 0; d <= shape.rank; ++d) {
            const Layout longer = unsqueeze(in, d);
            cases.expect(longer.shape == with_dim(shape, d, 1), in);
            const auto drop = [&](const Index& i) { return without_dim(i, d); };
            cases.expect(shows({longer}, in, drop), in);
            cases.expect(equivalent(squeeze(longer, d), in), in);
            cases.expect(equivalent(unsqueeze(in, d - shape.rank - 1), longer), in);
        }
        const Layout all = squeeze(in);
        for (int d = 0; d < all.rank(); ++d) cases.expect(all.extent(d) != 1, in);
        cases.expect(shape.rank > 0 || shows({all}, in, same), in);
        cases.expect(all.size() == in.size(), in);
    });
    CHECK(cases.failure() == "");
    // Per rank r: 36 for each dimension of each extent, 4 r + 6 for each shape.
    CHECK(cases.count() == 6 + (36 + 10 * 5) + (36 * 2 * 5 + 14 * 25) + (36 * 3 * 25 + 18 * 125) +
                               (36 * 4 * 125 + 22 * 625));
}

TEST_CASE("permute moves dimension order[d] to d, and the inverse order undoes it",
          "[tensor][small]") {
    Cases cases;
    for_each_shape(4, 4, [&](const Shape& shape) {
        const Layout in = spread(shape);
        std::vector<int> order(static_cast<std::size_t>(shape.rank));
        std::iota(order.begin(), order.end(), 0);
        do {
            Dims forth = shape, back = shape;
            for (int d = 0; d < shape.rank; ++d) {
                forth[d] = order[static_cast<std::size_t>(d)];
                back.value[forth[d]] = d;
            }
            const auto source_of = [&](const Index& index) {
                Index source = index;
                for (int d = 0; d < shape.rank; ++d) source.value[forth[d]] = index[d];
                return source;
            };
            cases.expect(shows({permute(in, forth)}, in, source_of), in);
            cases.expect(equivalent(permute(permute(in, forth), back), in), in);
        } while (std::next_permutation(order.begin(), order.end()));
        for (int a = 0; a < shape.rank; ++a) {
            for (int b = 0; b < shape.rank; ++b) {
                const Layout once = transpose(in, a, b);
                const auto swapped = [&](const Index& i) {
                    return with(with(i, a, i[b]), b, i[a]);
                };
                cases.expect(shows({once}, in, swapped), in);
                cases.expect(once.extent(a) == in.extent(b) && once.extent(b) == in.extent(a), in);
                cases.expect(equivalent(transpose(once, a, b), in), in);
            }
        }
    });
    CHECK(cases.failure() == "");
    CHECK(cases.count() ==
          2 * (1 + 5 + 2 * 25 + 6 * 125 + 24 * 625) + 3 * (5 + 4 * 25 + 9 * 125 + 16 * 625));
}

TEST_CASE("tiles partition a tensor: every element is in exactly one", "[tensor][small]") {
    Cases cases;
    for_each_shape(3, 4, [&](const Shape& shape) {
        const Layout in = spread(shape);
        for_each_dims(shape.rank, 1, 5, [&](const Shape& tile_shape) {
            std::vector<std::int64_t> seen;
            for (const Index& index : indices_of(tiles_per_dim(shape, tile_shape))) {
                const Cut part = tile(in, tile_shape, index);
                const auto source_of = [&](Index i) {
                    for (int d = 0; d < i.rank; ++d) i[d] += index[d] * tile_shape[d];
                    return i;
                };
                cases.expect(shows(part, in, source_of), in);
                cases.expect(part.layout.size() > 0, in);  // no tile is empty
                for (const auto there : Enumerated(part.layout).in_order) {
                    seen.push_back(part.first + there);
                }
            }
            std::sort(seen.begin(), seen.end());
            cases.expect(seen == Enumerated(in).sorted, in);
        });
    });
    CHECK(cases.failure() == "");
    // 25 pairs of extent and tile per dimension, with 29 tiles; one case per pair and two per tile.
    CHECK(cases.count() == 1 + 25 + 25 * 25 + 25 * 25 * 25 + 2 * (1 + 29 + 29 * 29 + 29 * 29 * 29));
}

TEST_CASE("windows are injective unless they overlap", "[tensor][small]") {
    Cases cases;
    for_each_shape(3, 5, [&](const Shape& shape) {
        const Layout in = spread(shape);
        for (int d = 0; d < shape.rank; ++d) {
            for (std::int64_t length = 1; length <= shape[d]; ++length) {
                for (std::int64_t step = 1; step <= 6; ++step) {
                    const Layout view = windows(in, d, length, step);
                    std::int64_t count = 0;
                    for (std::int64_t i = 0; i + length <= shape[d]; i += step) ++count;
                    Shape want = with_dim(shape, shape.rank, length);
                    want[d] = count;
                    cases.expect(view.shape == want, in);
                    const auto source_of = [&](const Index& i) {
                        const std::int64_t element = i[d] * step + i[shape.rank];
                        return with(without_dim(i, shape.rank), d, element);
                    };
                    cases.expect(shows({view}, in, source_of), in);
                    const bool overlapping = step < length && count > 1 && view.size() > 0;
                    cases.expect(is_injective(view) == !overlapping, in);
                }
            }
        }
    });
    CHECK(cases.failure() == "");
    CHECK(cases.count() == 3 * 15 * 6 * (1 + 2 * 6 + 3 * 36));
}

TEST_CASE("a broadcast repeats dimensions of extent 1 and keeps the others", "[tensor][small]") {
    Cases cases;
    std::int64_t rejected = 0;
    for_each_shape(3, 3, [&](const Shape& shape) {
        const Layout in = spread(shape);
        for_each_shape(3, 3, [&](const Shape& to) {
            const int added = to.rank - shape.rank;
            bool fits = added >= 0;
            for (int d = 0; fits && d < shape.rank; ++d) {
                fits = shape[d] == 1 || shape[d] == to[added + d];
            }
            const auto words = [&] { return to_string(shape) + " to " + to_string(to); };
            if (!fits) {
                ++rejected;
                cases.expect(rejection([&] { (void)broadcast_to(in, to); }) != "", words);
                return;
            }
            const auto source_of = [&](const Index& index) {
                Index source = shape;
                for (int d = 0; d < shape.rank; ++d) {
                    source[d] = shape[d] == 1 ? 0 : index[added + d];
                }
                return source;
            };
            const Layout out = broadcast_to(in, to);
            cases.expect(out.shape == to && shows({out}, in, source_of), words);
            cases.expect(broadcast_shapes(shape, to) == to, words);
            cases.expect(broadcast_shapes(to, shape) == to, words);
            // Elements that are repeated must not be written.
            cases.expect(is_injective(out) == (out.size() == 0 || out.size() == in.size()), words);
        });
    });
    CHECK(cases.failure() == "");
    CHECK(rejected > 1000);
    CHECK(cases.count() == rejected + 4 * (85 * 85 - rejected));
}

TEST_CASE("a reshape is a view if each new dimension has one stride", "[tensor][small]") {
    std::vector<Shape> shapes;
    for_each_shape(3, 4, [&](const Shape& shape) { shapes.push_back(shape); });
    for (const Shape& extra : {Shape{8}, Shape{12}, Shape{16}, Shape{6, 2}, Shape{2, 8},
                               Shape{2, 3, 2, 2}, Shape{1, 6, 1, 4, 1}, Shape{9}, Shape{27}}) {
        shapes.push_back(extra);
    }
    Cases cases;
    for_each_shape(3, 3, [&](const Shape& shape) {
        for (const std::int64_t pad : {0, 1}) {
            for_each_packing(shape.rank, pad, [&](const Packing& packing) {
                Layout in(shape, strides_of(packing, shape));
                check_reshapes(cases, in, shapes);
                if (shape.rank == 0 || packing.order[0] != 0) return;
                for (int d = 0; d < shape.rank; ++d) {  // broadcast along d
                    in = Layout(shape, strides_of(packing, shape));
                    in.strides[d] = 0;
                    check_reshapes(cases, in, shapes);
                }
            });
        }
    });
    CHECK(cases.failure() == "");
    CHECK(cases.count() > 100000);
}

TEST_CASE("reshape handles zero and negative strides", "[tensor][small]") {
    std::vector<Shape> shapes;
    for_each_shape(3, 6, [&](const Shape& shape) { shapes.push_back(shape); });
    Cases cases;
    for_each_dims(2, 1, 4, [&](const Shape& shape) {
        for_each_dims(2, -4, 6, [&](const Strides& strides) {
            check_reshapes(cases, Layout(shape, strides), shapes);
        });
    });
    CHECK(cases.failure() == "");
    CHECK(cases.count() > 50000);
}
