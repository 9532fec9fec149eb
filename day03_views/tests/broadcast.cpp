// The proof of the set broadcast: loops against answers from outside the code, every path against
// the loops, over every element.
#include "common/testing/testing.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/broadcast.hpp"
#include "day03_views/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;
using namespace sixdays::testing;

namespace {

// add_broadcast over inputs and an output of these layouts: the loop must give what it gives for
// row-major inputs, and the port what the loop gives.
void check_add(const Tensor<float>& a, const Layout& la, const Tensor<float>& b, const Layout& lb,
               const Layout& out, Lead lead = {}) {
    CAPTURE(to_string(la), to_string(lb), to_string(out), lead.elements);
    HostOut<float> want(out);
    add_broadcast_cpu(a.view(), b.view(), want.view());
    HostIn<float> ha(a, la), hb(b, lb);
    HostOut<float> strided(out);
    add_broadcast_cpu(ha.view(), hb.view(), strided.view());
    CHECK(strided.matches(want));
    DeviceIn<float> da(a, la, lead), db(b, lb, lead);
    DeviceOut<float> got(out, lead);
    add_broadcast_cuda(da.view(), db.view(), got.view());
    CHECK(got.matches(want));
    for (const auto path : {AddBroadcastPath::one_element, AddBroadcastPath::any_layout}) {
        CAPTURE(name(path));
        DeviceOut<float> by_path(out, lead);
        add_broadcast_cuda(da.view(), db.view(), by_path.view(), {.path = path});
        CHECK(by_path.matches(want));
    }
    if (gpu::has_tile()) {
        DeviceOut<float> by_tile(out, lead);
        const auto tile = [&] {
            add_broadcast_cuda(da.view(), db.view(), by_tile.view(),
                               {.path = AddBroadcastPath::tile});
        };
        const AddViews seen = simplified(da.view(), db.view(), by_tile.view());
        if (takes_tiles(seen.a.layout) && takes_tiles(seen.b.layout) &&
            takes_tiles(seen.out.layout)) {
            tile();
            CHECK(by_tile.matches(want));
            if (want.values().size() > 0) CHECK(last_kernel() == "add_broadcast_tile");
        } else {
            CHECK(refusal(tile).find("add_broadcast: the path 'tile' needs") == 0);
        }
    }
    CHECK(da.unchanged());
    CHECK(db.unchanged());
}
void check_add(const Shape& a, const Shape& b, const Layout& out, Lead lead = {}) {
    check_add(distinct<float>(a), row_major(a), distinct<float>(b, 7), row_major(b), out, lead);
}

// --- add_broadcast -------------------------------------------------------------------------------

TEST_CASE("a bias is added to rows, to columns, to everything: worked by hand",
          "[day03][add_broadcast][small]") {
    const Tensor<float> a({2, 3}, {1, 2, 3, 4, 5, 6});
    const auto both = [](const Tensor<float>& x, const Tensor<float>& y, const Tensor<float>& sum) {
        HostOut<float> want(sum.shape());
        add_broadcast_cpu(x.view(), y.view(), want.view());
        CHECK(want.matches(sum));
        DeviceIn<float> dx(x), dy(y);
        for (const auto& path : chosen_and_tile<AddBroadcastPath>()) {
            DeviceOut<float> got(sum.shape());
            add_broadcast_cuda(dx.view(), dy.view(), got.view(), {.path = path});
            CHECK(got.matches(sum));
        }
    };
    const Tensor<float> row(Shape{3}, {10, 20, 30}), column({2, 1}, {100, 200});
    const Tensor<float> all(Shape{}, {0.5f});
    both(a, row, Tensor<float>({2, 3}, {11, 22, 33, 14, 25, 36}));
    both(row, a, Tensor<float>({2, 3}, {11, 22, 33, 14, 25, 36}));
    both(a, column, Tensor<float>({2, 3}, {101, 102, 103, 204, 205, 206}));
    both(a, all, Tensor<float>({2, 3}, {1.5f, 2.5f, 3.5f, 4.5f, 5.5f, 6.5f}));
    both(column, row, Tensor<float>({2, 3}, {110, 120, 130, 210, 220, 230}));
    both(row, all, Tensor<float>({2, 3}, {10.5f, 20.5f, 30.5f, 10.5f, 20.5f, 30.5f}));
    both(all, all, Tensor<float>(Shape{}, {1}));
}

TEST_CASE("two shapes that are broadcast to each other: NumPy's examples",
          "[day03][add_broadcast][small]") {
    // Neither has the shape of the sum: each repeats where the other does not.
    const struct {
        Shape a, b, sum;
    } cases[] = {
        {{3, 1}, {4}, {3, 4}},          {{8, 1, 6, 1}, {7, 1, 5}, {8, 7, 6, 5}},
        {{2, 1, 3}, {4, 1}, {2, 4, 3}}, {{15, 1, 5}, {3, 1}, {15, 3, 5}},
        {{5, 4}, {1}, {5, 4}},          {{1}, {1, 1, 1}, {1, 1, 1}},
        {{0, 1}, {4}, {0, 4}},          {{1, 5}, {3, 1}, {3, 5}},
        {{4, 2, 1}, {2, 6}, {4, 2, 6}}, {{4}, {1, 2, 1}, {1, 2, 4}},
    };
    for (const auto& c : cases) {
        CAPTURE(to_string(c.a), to_string(c.b));
        CHECK(broadcast_shapes(c.a, c.b) == c.sum);
        check_add(c.a, c.b, row_major(c.sum));
        check_add(c.b, c.a, column_major(c.sum));
    }
    // (3, 1) of 0, 10, 20 and (4) of 0, 1, 2, 3: an addition table.
    DeviceIn<float> tens(Tensor<float>({3, 1}, {0, 10, 20})),
        ones(Tensor<float>({4}, {0, 1, 2, 3}));
    DeviceOut<float> table({3, 4});
    add_broadcast_cuda(tens.view(), ones.view(), table.view());
    CHECK(table.matches(Tensor<float>({3, 4}, {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23})));
    CHECK(refusal([] { (void)broadcast_shapes({2, 1}, {8, 4, 3}); }) != "");
    CHECK(contains(refusal([] { (void)broadcast_shapes({4, 2}, {5, 2}); }), "(4, 2)"));
}

TEST_CASE("every broadcast of small shapes adds the elements that belong together",
          "[day03][add_broadcast][small]") {
    std::int64_t cases = 0;
    packings::for_each_shape(3, 3, [&](const Shape& shape) {
        for (unsigned ones = 0; ones < 1u << shape.rank; ++ones) {
            for (int dropped = 0; dropped <= shape.rank; ++dropped) {
                Shape small = Dims::filled(shape.rank - dropped, 1);
                for (int d = dropped; d < shape.rank; ++d) {
                    if ((ones >> d & 1) == 0) small[d - dropped] = shape[d];
                }
                if (dropped > 0 && (ones & ((1u << dropped) - 1)) != 0) continue;
                CAPTURE(to_string(shape), to_string(small));
                const Tensor<float> a = distinct<float>(shape), b = distinct<float>(small, 101);
                // Said without strides: which element of b an index of out means.
                Tensor<float> sum(shape);
                for (const Index& i : packings::indices_of(shape)) {
                    Index in_b = small;
                    for (int d = 0; d < small.rank; ++d) {
                        in_b[d] = small[d] == 1 ? 0 : i[dropped + d];
                    }
                    const std::int64_t k = ravel(i, shape);
                    sum.data()[k] = a.data()[k] + b.data()[ravel(in_b, small)];
                }
                HostOut<float> want(shape);
                add_broadcast_cpu(a.view(), b.view(), want.view());
                CHECK(want.matches(sum));
                DeviceIn<float> da(a), db(b);
                for (const auto& path : chosen_and_tile<AddBroadcastPath>()) {
                    DeviceOut<float> got(shape);
                    add_broadcast_cuda(db.view(), da.view(), got.view(), {.path = path});
                    CHECK(got.matches(sum));
                }
                ++cases;
            }
        }
    });
    CHECK(cases > 800);
}

TEST_CASE("add_broadcast takes every order and direction of dims, pitched too",
          "[day03][add_broadcast][small]") {
    const Shape shape{2, 3, 5};
    const Tensor<float> a = distinct<float>(shape), b = distinct<float>({3, 1}, 101);
    for_each_layout(shape, [&](const Layout& layout) {
        check_add(a, row_major(shape), b, row_major({3, 1}), layout);
        check_add(a, layout, b, Layout({3, 1}, {-2, 9}), row_major(shape));
    });
    const Shape quads{3, 4, 8};
    const Tensor<float> c = distinct<float>(quads), d = distinct<float>(Shape{8}, 101);
    for_each_layout(
        quads, [&](const Layout& layout) { check_add(c, layout, d, row_major(Shape{8}), layout); });
}

TEST_CASE("add_broadcast takes the sizes around its blocks, by both paths",
          "[day03][add_broadcast][small]") {
    for (const std::int64_t n :
         {1, 3, 4, 5, 255, 256, 257, 1020, 1021, 1023, 1024, 1025, 4096, 4099, 8196}) {
        for (const std::int64_t lead : {0, 1}) {
            check_add({n}, {n}, row_major({n}), {lead});
            check_add({3, n}, {n}, row_major({3, n}), {lead});
            check_add({3, n}, {3, 1}, row_major({3, n}), {lead});
            check_add({n, 3}, {}, row_major({n, 3}), {lead});
        }
    }
    check_add({1027, 8}, {8}, row_major({1027, 8}));
    check_add({1027, 8}, {1027, 1}, row_major({1027, 8}));
    check_add({2, 3, 16, 16}, {2, 1, 1, 16}, row_major({2, 3, 16, 16}));  // a mask for all heads
    check_add({2, 1, 16, 16}, {3, 1, 16}, row_major({2, 3, 16, 16}));     // both repeat
    check_add({2, 1, 2, 1, 2, 1, 2, 4}, {3, 1, 3, 1, 3, 1, 4}, row_major({2, 3, 2, 3, 2, 3, 2, 4}));
    check_add({2, 1, 2, 1, 2, 1, 2, 5}, {3, 1, 3, 1, 3, 1, 5}, row_major({2, 3, 2, 3, 2, 3, 2, 5}));
    check_add({0, 4}, {4}, row_major({0, 4}));
    check_add({1, 4}, {4}, row_major({0, 4}));
}

TEST_CASE("add_broadcast in tiles: more of them than one along every dim",
          "[day03][add_broadcast][small]") {
    const Shape four{2, 3, 35, 260};  // tiles of 16 x 128; no two dims merge
    for (const std::int64_t lead : {0, 1}) {
        check_add({2, 1, 35, 260}, {3, 1, 260}, row_major(four), {lead});
        check_add({3, 35, 260}, {2, 1, 35, 1}, pitched(four, 264), {lead});
        check_add({35, 260}, {260}, pitched({35, 260}, 263), {lead});
    }
}

TEST_CASE("add_broadcast in tiles: each condition is false alone",
          "[day03][add_broadcast][small]") {
    alignas(16) static float memory[3][4096];
    const auto refused = [&](const Layout& a, const Layout& b, const Layout& out) {
        return refusal([&] {
            check_add_broadcast({memory[0] + 2048, a}, {memory[1] + 2048, b},
                                {memory[2] + 2048, out}, AddBroadcastPath::tile);
        });
    };
    const Layout plain = row_major({4, 8}), four = Layout({2, 3, 4, 5}, {400, 100, 12, 2});
    CHECK(refused(plain, plain, plain) == "");
    CHECK(refused(four, four, four) == "");
    CHECK(refused(Layout({1, 8}, {-8, 1}), plain, plain) == "");
    const std::string words =
        "add_broadcast: the path 'tile' needs, after simplifying, 4 dims at most with no negative "
        "stride, for CUDA Tile C++ takes strides for sizes; here one has shape ";
    const Layout up({4, 8}, {-9, 1}), left({4, 8}, {9, -1});
    for (const Layout& odd : {up, left}) {
        const std::string that = words + "(4, 8), strides " + to_string(odd.strides);
        CHECK(refused(odd, plain, plain) == that);
        CHECK(refused(plain, odd, plain) == that);
        CHECK(refused(plain, plain, odd) == that);
    }
    const Layout five = row_major({2, 3, 2, 3, 2});
    for (const Layout& bias : {row_major({2, 1, 2, 1, 2}), row_major({1, 3, 1, 3, 1})}) {
        CHECK(contains(refused(five, bias, five), words + "(2, 3, 2, 3, 2)"));
        CHECK(contains(refused(bias, five, five), words + "(2, 3, 2, 3, 2)"));
    }
}

TEST_CASE("add_broadcast equals its loop on a million elements", "[day03][add_broadcast][full]") {
    check_add({1024, 1028}, {1028}, row_major({1024, 1028}));
    check_add({1021, 1031}, {1031}, row_major({1021, 1031}));
    check_add({64, 4, 4096}, {4, 1}, row_major({64, 4, 4096}));
}

TEST_CASE("add_broadcast takes 16 bytes at once exactly where every row allows it",
          "[day03][add_broadcast][small]") {
    alignas(16) static float memory[4][4096];
    const auto path = [&](const Layout& a, const Layout& b, const Layout& out, int lead_a = 0,
                          int lead_b = 0, int lead_out = 0) {
        return choose_add_broadcast({memory[0] + 1024 + lead_a, a}, {memory[1] + 1024 + lead_b, b},
                                    {memory[2] + 1024 + lead_out, out});
    };
    const Layout matrix = row_major({8, 12});
    const auto quads = AddBroadcastPath::quads, any = AddBroadcastPath::any_layout;
    CHECK(path(matrix, matrix, matrix) == quads);
    CHECK(path(matrix, row_major(Shape{12}), matrix) == quads);
    CHECK(path(matrix, row_major({8, 1}), matrix) == quads);
    CHECK(path(matrix, Layout(), matrix) == quads);
    CHECK(path(matrix, row_major({8, 1}), matrix, 0, 1) == quads);  // one place needs no alignment
    CHECK(path(matrix, row_major(Shape{12}), matrix, 0, 1) == any);
    CHECK(path(matrix, matrix, matrix, 1, 0, 0) == any);
    CHECK(path(matrix, matrix, matrix, 0, 0, 2) == any);
    CHECK(path(matrix, matrix, matrix, 1, 1, 1) == any);  // alike, but not at a multiple of 16
    CHECK(path(matrix, row_major(Shape{12}), Layout({8, 12}, {16, 1})) == quads);
    CHECK(path(matrix, row_major(Shape{12}), Layout({8, 12}, {14, 1})) == any);
    CHECK(path(matrix, row_major(Shape{12}), Layout({8, 12}, {-16, 1})) == quads);
    CHECK(path(matrix, matrix, Layout({8, 12}, {16, -1})) == any);
    CHECK(path(matrix, Layout({8, 12}, {24, 2}), matrix) == any);
    // 7 x 12 and 3 x 28 walk the same memory; with rows of 7 there are no quads but in one run.
    CHECK(path(row_major({8, 7}), row_major({8, 7}), row_major({8, 7})) == quads);
    CHECK(path(row_major({8, 7}), row_major(Shape{7}), row_major({8, 7})) == any);
    // Columns along memory in both: the order of dims is no matter.
    CHECK(path(column_major({12, 8}), row_major({12, 1}), column_major({12, 8})) == quads);
    CHECK(path(row_major({12, 8}), row_major({12, 1}), column_major({12, 8})) == any);
    CHECK(path(Layout(), Layout(), Layout()) == any);

    const Tensor<float> a = distinct<float>({8, 12}), b = distinct<float>(Shape{12}, 7);
    DeviceIn<float> da(a), db(b), db1(b, Lead{1});
    DeviceOut<float> got({8, 12});
    add_broadcast_cuda(da.view(), db.view(), got.view());
    CHECK(last_kernel() == "add_quads_kernel");
    add_broadcast_cuda(da.view(), db1.view(), got.view());
    CHECK(last_kernel() == "add_walk_kernel");
    add_broadcast_cuda(da.view(), db.view(), got.view(), {.path = AddBroadcastPath::one_element});
    CHECK(last_kernel() == "add_broadcast_kernel");
    DeviceOut<float> untouched({8, 12});
    CHECK(refusal([&] {
              add_broadcast_cuda(da.view(), db1.view(), untouched.view(),
                                 {.path = AddBroadcastPath::quads});
          }) ==
          "add_broadcast: the path 'quads' needs rows of whole quads that begin at multiples of 16 "
          "bytes; a has shape (8, 12), strides (12, 1), b shape (12), strides (1), out shape (8, "
          "12), strides (12, 1)");
    CHECK(untouched.untouched());
}

TEST_CASE("add_broadcast works in place, and refuses what would be overwritten too early",
          "[day03][add_broadcast][small]") {
    const Tensor<float> a = distinct<float>({5, 8}), b = distinct<float>(Shape{8}, 101);
    HostOut<float> want({5, 8});
    add_broadcast_cpu(a.view(), b.view(), want.view());
    HostOut<float> here = HostOut<float>::holding(a);
    add_broadcast_cpu(here.view(), b.view(), here.view());
    CHECK(here.matches(want));
    DeviceIn<float> db(b);
    for (const auto& path : chosen_and_tile<AddBroadcastPath>()) {
        DeviceOut<float> there = DeviceOut<float>::holding(a);
        add_broadcast_cuda(there.view(), db.view(), there.view(), {.path = path});
        CHECK(there.matches(want));
    }

    const auto refused = [&](const auto& call, const char* words) {
        HostOut<float> h = HostOut<float>::holding(a);
        DeviceOut<float> d = DeviceOut<float>::holding(a);
        CHECK(both_refuse(
            [&] { call(h.view(), [](auto x, auto y, auto z) { add_broadcast_cpu(x, y, z); }); },
            [&] { call(d.view(), [](auto x, auto y, auto z) { add_broadcast_cuda(x, y, z); }); },
            words));
        const auto by_path = [](auto x, auto y, auto z) {
            check_add_broadcast(x, y, z, AddBroadcastPath::one_element);
        };
        CHECK(contains(refusal([&] { call(d.view(), by_path); }), words));
        CHECK(h.untouched());
        CHECK(d.untouched());
    };
    const char* early = "overlap without being the same tensor";
    refused([](View<float> v, auto add) { add(v, row(v, 0), v); }, early);  // its own first row
    refused([](View<float> v, auto add) { add(v, columns(v, 3, 4), v); }, early);
    refused([](View<float> v, auto add) { add(v, flip(v, 0), v); }, early);
    refused(
        [](View<float> v, auto add) {
            const View<float> square = columns(v, 0, 5);
            add(square, transpose(square), square);  // A += A^T
        },
        early);
    refused(
        [](View<float> v, auto add) {
            const View<float> all = broadcast_to(row(v, 0), {3, 8});
            add(v, v, all);
        },
        "where two indices may share one place; writers of it would race");
    refused([](View<float> v, auto add) { add(rows(v, 0, 2), rows(v, 2, 4), rows(v, 0, 3)); },
            "add_broadcast: a: broadcast of shape (2, 8) to (3, 8): dim 0 has extent 2, not 3");
    refused([](View<float> v, auto add) { add(v, View<float>(nullptr, Shape{8}), v); },
            "add_broadcast: b is a null pointer, but its shape (8) has 8 elements");
    refused([](View<float> v, auto add) { add(v, v, View<float>(nullptr, v.layout)); },
            "add_broadcast: out is a null pointer");
}

TEST_CASE("adding a bias wastes no sector", "[day03][add_broadcast][small]") {
    DeviceIn<float> a(distinct<float>({16, 512})), b(distinct<float>(Shape{512}, 7));
    DeviceOut<float> out({16, 512});
    const auto touched = gpu::touched([&] { add_broadcast_cuda(a.view(), b.view(), out.view()); });
    CHECK(touched.has_value() == gpu::is_emulated());
    if (!touched) return;
    // 16 * 512 floats three times, 4 floats a lane: 64 warps, each with one request a tensor.
    CHECK(touched->requests == 3 * 16 * 512 / 4 / 32);
    CHECK(touched->sectors == 3 * 16 * 512 / 8);
    CHECK(touched->sectors == touched->fewest_sectors);
}

// --- where ---------------------------------------------------------------------------------------

TEST_CASE("where chooses, and what is not chosen leaves no trace", "[day03][where][small]") {
    const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
    const Tensor<std::uint8_t> mask({2, 3}, {1, 0, 2, 0, 255, 0});
    const Tensor<float> a({2, 3}, {1, nan, 3, inf, 5, nan}), b(Shape{3}, {nan, 20, 30});
    const Tensor<float> answer({2, 3}, {1, 20, 3, nan, 5, 30});
    HostOut<float> want({2, 3}, {}, Poison{0x55});
    where_cpu(mask.view(), a.view(), b.view(), want.view());
    CHECK(want.matches(answer));
    DeviceIn<std::uint8_t> dm(mask);
    DeviceIn<float> da(a), db(b);
    DeviceOut<float> got({2, 3}, {}, Poison{0x55});
    const WherePath chosen = choose_where(dm.view(), da.view(), db.view(), got.view());
    CHECK(std::string(name(chosen)) == "any layout");
    where_cuda(dm.view(), da.view(), db.view(), got.view());
    CHECK(got.matches(answer));
    CHECK(last_kernel() == "where_walk_kernel");
    DeviceOut<float> twin({2, 3}, {}, Poison{0x55});
    where_cuda(dm.view(), da.view(), db.view(), twin.view(), {.path = WherePath::one_element});
    CHECK(twin.matches(answer));
    CHECK(last_kernel() == "where_kernel");
}

void check_where_port(const Tensor<std::uint8_t>& mask, const Shape& a_shape, const Shape& b_shape,
                      const Layout& out) {
    CAPTURE(to_string(mask.shape()), to_string(a_shape), to_string(b_shape), to_string(out));
    const Tensor<float> a = distinct<float>(a_shape), b = distinct<float>(b_shape, 101);
    HostOut<float> want(out);
    where_cpu(mask.view(), a.view(), b.view(), want.view());
    // A second formula: multiply by 0 or 1, and add. Distinct whole numbers stay exact.
    Tensor<float> second(out.shape);
    const auto m = broadcast_to(mask.view(), out.shape);
    const auto va = broadcast_to(a.view(), out.shape), vb = broadcast_to(b.view(), out.shape);
    for (const Index& i : packings::indices_of(out.shape)) {
        const float one = m(i) != 0 ? 1.0f : 0.0f;
        second.view()(i) = one * va(i) + (1 - one) * vb(i);
    }
    CHECK(want.matches(second));
    DeviceIn<std::uint8_t> dm(mask);
    DeviceIn<float> da(a), db(b);
    DeviceOut<float> got(out);
    where_cuda(dm.view(), da.view(), db.view(), got.view());
    CHECK(got.matches(want));
    DeviceOut<float> twin(out);
    where_cuda(dm.view(), da.view(), db.view(), twin.view(), {.path = WherePath::one_element});
    CHECK(twin.matches(want));
    CHECK(dm.unchanged());
    CHECK(da.unchanged());
    CHECK(db.unchanged());
}

TEST_CASE("where takes any layout and broadcasts all three", "[day03][where][small]") {
    const auto mask = [](const Shape& shape) {
        return seeded_integers<std::uint8_t>(shape, 5, 0, 1);
    };
    for_each_layout({2, 3, 4}, [&](const Layout& out) {
        check_where_port(mask({3, 1}), {2, 3, 4}, Shape{4}, out);
        check_where_port(mask({2, 3, 4}), {2, 1, 1}, {}, out);
    });
    for (const std::int64_t n : {0, 1, 31, 255, 256, 257, 1031}) {
        check_where_port(mask({3, n}), {3, n}, {3, 1}, row_major({3, n}));
        check_where_port(mask({n}), {5, 1}, {1, n}, row_major({5, n}));
    }
    check_where_port(mask({2, 1, 2, 1, 2, 1, 2, 3}), {3, 1, 3, 1, 3, 1, 3}, {},
                     row_major({2, 3, 2, 3, 2, 3, 2, 3}));
}

TEST_CASE("where refuses what add_broadcast does", "[day03][where][small]") {
    const Tensor<std::uint8_t> mask({2, 3});
    const Tensor<float> a({2, 3}), b({2, 4});
    DeviceIn<std::uint8_t> dm(mask);
    DeviceIn<float> da(a), db(b);
    HostOut<float> h({2, 3});
    DeviceOut<float> d({2, 3});
    CHECK(both_refuse([&] { where_cpu(mask.view(), a.view(), b.view(), h.view()); },
                      [&] { where_cuda(dm.view(), da.view(), db.view(), d.view()); },
                      "where: b: broadcast of shape (2, 4) to (2, 3)"));
    const View<std::uint8_t> bytes_h(reinterpret_cast<std::uint8_t*>(h.view().data), Shape{2, 3});
    const View<std::uint8_t> bytes_d(reinterpret_cast<std::uint8_t*>(d.view().data), Shape{2, 3});
    CHECK(both_refuse([&] { where_cpu(bytes_h, a.view(), a.view(), h.view()); },
                      [&] { where_cuda(bytes_d, da.view(), da.view(), d.view()); },
                      "where: mask and out overlap"));
    const Layout twice({2, 3}, {1, 1});
    CHECK(both_refuse(
        [&] {
            where_cpu(mask.view(), a.view(), a.view(), {h.view().data, twice});
        },
        [&] {
            where_cuda(dm.view(), da.view(), da.view(), {d.view().data, twice});
        },
        "writers of it would race"));
    CHECK(h.untouched());
    CHECK(d.untouched());
}

// --- concat --------------------------------------------------------------------------------------

void check_concat_both(const std::vector<Tensor<float>>& pieces, int dim, const Layout& out,
                       const Tensor<float>& answer, std::int64_t lead = 0) {
    CAPTURE(dim, to_string(out));
    std::vector<View<const float>> host, device;
    std::vector<DeviceIn<float>> inputs;
    for (const Tensor<float>& piece : pieces) {
        host.push_back(piece.view());
        inputs.emplace_back(piece, column_major(piece.shape()), Lead{lead});
    }
    for (const auto& input : inputs) device.push_back(input.view());
    HostOut<float> want(out);
    concat_cpu(host, dim, want.view());
    CHECK(want.matches(answer));
    DeviceOut<float> got(out, Lead{lead});
    concat_cuda(device, dim, got.view());
    CHECK(got.matches(answer));
    for (const auto& input : inputs) CHECK(input.unchanged());
}

TEST_CASE("pieces stand one behind the other, along rows and along columns",
          "[day03][concat][small]") {
    const Tensor<float> a({2, 2}, {1, 2, 3, 4}), b({1, 2}, {5, 6}), c({2, 1}, {7, 8});
    const Tensor<float> none({0, 2}), empty({2, 0});
    check_concat_both({a, b}, 0, row_major({3, 2}), Tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
    check_concat_both({b, none, a}, -2, row_major({3, 2}),
                      Tensor<float>({3, 2}, {5, 6, 1, 2, 3, 4}));
    check_concat_both({a, c}, 1, row_major({2, 3}), Tensor<float>({2, 3}, {1, 2, 7, 3, 4, 8}));
    check_concat_both({c, empty, a}, -1, column_major({2, 3}),
                      Tensor<float>({2, 3}, {7, 1, 2, 8, 3, 4}));
    check_concat_both({none, none}, 0, row_major({0, 2}), none);
}

TEST_CASE("concat puts pieces of any layout into an output of any layout",
          "[day03][concat][small]") {
    for (int dim = 0; dim < 3; ++dim) {
        Shape first{2, 3, 4}, second{2, 3, 4}, whole{2, 3, 4};
        first[dim] = 3;
        second[dim] = 2;
        whole[dim] = 5;
        const Tensor<float> a = distinct<float>(first), b = distinct<float>(second, 101);
        Tensor<float> answer(whole);
        for (const Index& i : packings::indices_of(whole)) {
            Index in_b = i;
            in_b[dim] -= 3;
            answer.view()(i) = i[dim] < 3 ? a.view()(i) : b.view()(in_b);
        }
        for_each_layout(whole, [&](const Layout& out) {
            check_concat_both({a, b}, dim, out, answer, 1);
        });
    }
    const Tensor<float> a = distinct<float>({33, 1025});
    check_concat_both({a}, 0, row_major({33, 1025}), a);
}

TEST_CASE("concat refuses pieces that do not fit, and pieces of the output",
          "[day03][concat][small]") {
    const Tensor<float> a({2, 2}), b({1, 3}), v(Shape{2});
    DeviceIn<float> da(a), db(b), dv(v);
    HostOut<float> h({3, 2});
    DeviceOut<float> d({3, 2});
    const auto refused = [&](const std::vector<View<const float>>& host,
                             const std::vector<View<const float>>& device, int dim,
                             const char* words) {
        CHECK(both_refuse([&] { concat_cpu(host, dim, h.view()); },
                          [&] { concat_cuda(device, dim, d.view()); }, words));
    };
    refused({a.view(), b.view()}, {da.view(), db.view()}, 0,
            "concat along dim 0: piece 1 has shape (1, 3), out has (3, 2); all other extents must "
            "be equal");
    refused({a.view(), a.view()}, {da.view(), da.view()}, 0,
            "concat along dim 0: the pieces have 4 indices together, out has 3");
    refused({a.view()}, {da.view()}, 0, "the pieces have 2 indices together, out has 3");
    refused({a.view(), v.view()}, {da.view(), dv.view()}, 0, "piece 1 has shape (2) of rank 1");
    refused({}, {}, 0, "concat: there are no pieces");
    const View<const float> endless(a.data(), Layout({INT64_MAX / 2, 2}, {0, 0}));
    refused({endless, endless, endless}, {endless, endless, endless}, 0,
            "more indices together than 64 bits count");
    refused({a.view()}, {da.view()}, 2, "concat: dim 2 asked for");
    refused({rows(h.view(), 1, 3), rows(h.view(), 0, 1)},
            {rows(d.view(), 1, 3), rows(d.view(), 0, 1)}, 0, "concat: piece 0 overlaps out");
    refused({a.view(), rows(h.view(), 2, 3)}, {da.view(), rows(d.view(), 2, 3)}, 0,
            "concat: piece 1 overlaps out");
    refused({a.view(), {nullptr, Shape{1, 2}}}, {da.view(), {nullptr, Shape{1, 2}}}, 0,
            "concat: piece 1 is a null pointer");
    const auto odd = [](const View<const float>& x) {
        return View<const float>(
            reinterpret_cast<const float*>(reinterpret_cast<const char*>(x.data) + 2), Shape{1, 2});
    };
    refused({a.view(), odd(a.view())}, {da.view(), odd(da.view())}, 0,
            "concat: piece 1 begins 2 bytes past a multiple of 4, but has elements of that many "
            "bytes");
    CHECK(both_refuse(
        [&] {
            const auto* p = reinterpret_cast<char*>(h.view().data) + 1;
            concat_cpu({a.view()}, 0,
                       {reinterpret_cast<float*>(const_cast<char*>(p)), Shape{2, 2}});
        },
        [&] {
            const auto* p = reinterpret_cast<char*>(d.view().data) + 1;
            concat_cuda({da.view()}, 0,
                        {reinterpret_cast<float*>(const_cast<char*>(p)), Shape{2, 2}});
        },
        "concat: out begins 1 bytes past a multiple of 4"));
    CHECK(h.untouched());
    CHECK(d.untouched());
}

}  // namespace
