// Tests of the set broadcast: independently derived answers, and every path against the exact
// result, over every element.
#include "common/testing/testing.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/broadcast.op.hpp"
#include "day03_views/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;
using namespace sixdays::testing;

namespace {

// Every path that supports it, against the exact sum.
void check_add(const Place& a, const Place& b, const Place& out) {
    CHECK(computes_its_result(add_operation(a, b, out)));
}
void check_add(const Shape& a, const Shape& b, const Layout& out, std::int64_t lead = 0) {
    check_add(Place(row_major(a), lead), Place(row_major(b), lead), Place(out, lead));
}

// --- add_broadcast -------------------------------------------------------------------------------

TEST_CASE("a bias is added to every row, to every column or to every element",
          "[day03][add_broadcast][small]") {
    const Tensor<float> a({2, 3}, {1, 2, 3, 4, 5, 6});
    const auto both = [](const Tensor<float>& x, const Tensor<float>& y, const Tensor<float>& sum) {
        Operation op =
            add_operation(row_major(x.shape()), row_major(y.shape()), row_major(sum.shape()));
        op.operands[0].with(taken_from(x));
        op.operands[1].with(taken_from(y));
        know(op, std::vector<float>(sum.data(), sum.data() + sum.size()));
        CHECK(computes_its_result(op));
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

TEST_CASE("two shapes broadcast to each other give NumPy's results",
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
    CHECK(rejection([] { (void)broadcast_shapes({2, 1}, {8, 4, 3}); }) != "");
    CHECK(contains(rejection([] { (void)broadcast_shapes({4, 2}, {5, 2}); }), "(4, 2)"));
}

TEST_CASE("every broadcast of small shapes adds the corresponding elements",
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
                check_add(small, shape, row_major(shape));
                ++cases;
            }
        }
    });
    CHECK(cases > 800);
}

TEST_CASE("add_broadcast is correct at sizes around its blocks", "[day03][add_broadcast][small]") {
    for (const std::int64_t n : {1, 3, 4, 5, 255, 256, 257, 1020, 1023, 1025, 4099}) {
        for (const std::int64_t lead : {0, 1}) {
            check_add({n}, {n}, row_major({n}), lead);
            check_add({3, n}, {n}, row_major({3, n}), lead);
            check_add({3, n}, {3, 1}, row_major({3, n}), lead);
            check_add({n, 3}, {}, row_major({n, 3}), lead);
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
    const Shape four{2, 3, 35, 260};  // in tiles of 16 x 128; no two dimensions merge
    for (const std::int64_t lead : {0, 1}) {
        check_add({2, 1, 35, 260}, {3, 1, 260}, row_major(four), lead);
        check_add({3, 35, 260}, {2, 1, 35, 1}, pitched(four, 264), lead);
        check_add({35, 260}, {260}, pitched({35, 260}, 263), lead);
    }
}

TEST_CASE("add_broadcast is vectorized exactly where every row allows it",
          "[day03][add_broadcast][small]") {
    const Layout rows = pitched({9, 32}, 36);
    std::vector<Place> odd = {Place(rows, 1), Place(rows, 2)};
    for (const Layout& layout :
         {rows, pitched({9, 32}, 40), row_major({9, 32}), pitched({9, 32}, 37),
          pitched({9, 32}, 38), column_major({9, 32}), Layout({9, 32}, {64, 2}),
          Layout({9, 32}, {-36, 1}), Layout({9, 32}, {36, -1})}) {
        odd.push_back(Place(layout));
    }
    for (const Place& x : odd) {
        check_add(x, rows, rows);
        check_add(rows, x, rows);
        check_add(rows, rows, x);
    }
    check_add(Place(rows, 1), Place(rows, 1), Place(rows, 1));  // equal modulo 16, but not 0
    check_add(pitched({9, 30}, 36), pitched({9, 30}, 36), pitched({9, 30}, 36));
    // An operand repeated along a row may be at any address.
    for (const Place& bias :
         {Place(row_major({9, 1})), Place(row_major({9, 1}), 1), Place(Layout({9, 1}, {3, 1})),
          Place(row_major({32})), Place(row_major({32}), 1), Place(Layout(), 1)}) {
        check_add(bias, rows, rows);
        check_add(rows, bias, rows);
    }
    // 8 x 7 and 2 x 28 are the same memory; with rows of 7, float4 is possible only as one run.
    check_add({8, 7}, {8, 7}, row_major({8, 7}));
    check_add({8, 7}, {7}, row_major({8, 7}));
    // Contiguous columns in all three: the order of dimensions does not matter.
    check_add(column_major({12, 8}), row_major({12, 1}), column_major({12, 8}));
    check_add(row_major({12, 8}), row_major({12, 1}), column_major({12, 8}));
    // Five dimensions are too many for a tile kernel.
    check_add({2, 3, 2, 3, 2}, {2, 1, 2, 1, 2}, row_major({2, 3, 2, 3, 2}));

    const Place matrix(row_major({8, 12}));
    alignas(16) static float memory[3][100];
    const auto rejected = [&](const Layout& a, AddBroadcastPath path) {
        return rejection([&] {
            check_add_broadcast({memory[0] + 96, a}, {memory[1] + 1, Shape{12}},
                                {memory[2], Shape{8, 12}}, path);
        });
    };
    CHECK(rejected(Layout({8, 12}, {0, 1}), AddBroadcastPath::vectorized) ==
          "add_broadcast: the path 'vectorized' needs rows of whole vectors that begin at "
          "multiples of 16 "
          "bytes; a has shape (8, 12), strides (0, 1), b shape (12), strides (1), out shape (8, "
          "12), strides (12, 1)");
    CHECK(rejected(Layout({8, 12}, {-12, 1}), AddBroadcastPath::tile) ==
          "add_broadcast: the path 'tile' needs, after simplifying, at most 4 dimensions with no "
          "negative stride, for CUDA Tile C++ takes strides for sizes; here one has shape (8, 12), "
          "strides (-12, 1)");
}

TEST_CASE("add_broadcast is correct on a million elements", "[day03][add_broadcast][full]") {
    check_add({1024, 1028}, {1028}, row_major({1024, 1028}));
    check_add({255, 1031}, {1031}, row_major({255, 1031}));
    check_add({16, 4, 4096}, {4, 1}, row_major({16, 4, 4096}));
}

TEST_CASE("add_broadcast rejects an input that it would overwrite too early",
          "[day03][add_broadcast][small]") {
    const auto rejected = [](const auto& call, const char* words) {
        Tensor<float> x({5, 8});
        CHECK(both_reject([&] { call(x.view(), [](auto... v) { add_broadcast_cpu(v...); }); },
                          [&] { call(x.view(), [](auto... v) { add_broadcast_cuda(v...); }); },
                          words));
    };
    const char* early = "overlap without being the same tensor";
    rejected([](View<float> v, auto add) { add(v, row(v, 0), v); }, early);  // its own first row
    rejected([](View<float> v, auto add) { add(v, flip(v, 0), v); }, early);
    rejected(
        [](View<float> v, auto add) {
            const View<float> square = columns(v, 0, 5);
            add(square, transpose(square), square);  // A += A^T
        },
        early);
    rejected([](View<float> v, auto add) { add(rows(v, 0, 2), rows(v, 2, 4), rows(v, 0, 3)); },
             "add_broadcast: a: broadcast of shape (2, 8) to (3, 8): dim 0 has extent 2, not 3");
}

TEST_CASE("adding a bias wastes no sector", "[day03][add_broadcast][small]") {
    DeviceIn<float> a(distinct<float>({16, 512})), b(distinct<float>(Shape{512}, 7));
    DeviceOut<float> out({16, 512});
    const auto touched = gpu::touched([&] { add_broadcast_cuda(a.view(), b.view(), out.view()); });
    CHECK(touched.has_value() == gpu::is_emulated());
    if (!touched) return;
    // 16 * 512 floats three times, 4 floats per lane: 64 warps, each with one request per tensor.
    CHECK(touched->requests == 3 * 16 * 512 / 4 / 32);
    CHECK(touched->sectors == 3 * 16 * 512 / 8);
    CHECK(touched->sectors == touched->fewest_sectors);
}

// --- where ---------------------------------------------------------------------------------------

TEST_CASE("where ignores the value that is not chosen, even a NaN", "[day03][where][small]") {
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

TEST_CASE("where broadcasts the mask and both values", "[day03][where][small]") {
    const auto check = [](const Shape& mask, const Shape& a, const Shape& b, const Shape& out) {
        CHECK(computes_its_result(
            where_operation(row_major(mask), row_major(a), row_major(b), row_major(out))));
    };
    for (const std::int64_t n : {0, 1, 31, 255, 256, 257, 1031}) {
        check({3, n}, {3, n}, {3, 1}, {3, n});
        check({n}, {5, 1}, {1, n}, {5, n});
    }
    check({2, 3, 4}, {2, 1, 1}, {}, {2, 3, 4});
    check({2, 1, 2, 1, 2, 1, 2, 3}, {3, 1, 3, 1, 3, 1, 3}, {}, {2, 3, 2, 3, 2, 3, 2, 3});
    const Tensor<std::uint8_t> mask({2, 3});
    Tensor<float> a({2, 3}), b({2, 4});
    CHECK(both_reject([&] { where_cpu(mask.view(), a.view(), b.view(), a.view()); },
                      [&] { where_cuda(mask.view(), a.view(), b.view(), a.view()); },
                      "where: b: broadcast of shape (2, 4) to (2, 3)"));
}

// --- concat --------------------------------------------------------------------------------------

TEST_CASE("concat joins pieces along rows and along columns", "[day03][concat][small]") {
    const auto check = [](const std::vector<Tensor<float>>& pieces, int dim, const Layout& out,
                          const Tensor<float>& answer) {
        std::vector<Place> places;
        for (const auto& piece : pieces) places.push_back(column_major(piece.shape()));
        Operation op = concat_operation(places, dim, out);
        for (std::size_t i = 0; i < pieces.size(); ++i) op.operands[i].with(taken_from(pieces[i]));
        know(op, std::vector<float>(answer.data(), answer.data() + answer.size()));
        CHECK(computes_its_result(op));
    };
    const Tensor<float> a({2, 2}, {1, 2, 3, 4}), b({1, 2}, {5, 6}), c({2, 1}, {7, 8});
    const Tensor<float> none({0, 2}), empty({2, 0});
    check({a, b}, 0, row_major({3, 2}), Tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
    check({b, none, a}, -2, row_major({3, 2}), Tensor<float>({3, 2}, {5, 6, 1, 2, 3, 4}));
    check({a, c}, 1, row_major({2, 3}), Tensor<float>({2, 3}, {1, 2, 7, 3, 4, 8}));
    check({c, empty, a}, -1, column_major({2, 3}), Tensor<float>({2, 3}, {7, 1, 2, 8, 3, 4}));
    check({none, none}, 0, row_major({0, 2}), none);
    const Layout large = row_major({33, 1025});
    CHECK(computes_its_result(concat_operation({large}, 0, large)));
}

TEST_CASE("concat rejects pieces whose shapes do not match, and pieces that overlap out",
          "[day03][concat][small]") {
    Tensor<float> a({2, 2}), b({1, 3}), v(Shape{2}), out({3, 2});
    const auto rejected = [&](const std::vector<View<const float>>& pieces, int dim,
                              const char* words) {
        CHECK(both_reject([&] { concat_cpu(pieces, dim, out.view()); },
                          [&] { concat_cuda(pieces, dim, out.view()); }, words));
    };
    rejected({a.view(), b.view()}, 0,
             "concat along dim 0: piece 1 has shape (1, 3), out has (3, 2); all other extents must "
             "be equal");
    rejected({a.view(), a.view()}, 0,
             "concat along dim 0: the extents of the pieces add up to 4, but out has 3");
    rejected({a.view()}, 0, "the extents of the pieces add up to 2, but out has 3");
    rejected({a.view(), v.view()}, 0, "piece 1 has shape (2) of rank 1");
    rejected({}, 0, "concat: there are no pieces");
    const View<const float> endless(a.data(), Layout({INT64_MAX / 2, 2}, {0, 0}));
    rejected({endless, endless, endless}, 0, "add up to more than 64 bits hold");
    rejected({a.view()}, 2, "concat: dim 2 asked for");
    rejected({a.view(), rows(out.view(), 2, 3)}, 0, "concat: piece 1 overlaps out");
    const auto odd = [](float* x, const Shape& shape) {
        return View<float>(reinterpret_cast<float*>(reinterpret_cast<char*>(x) + 2), shape);
    };
    rejected({a.view(), odd(b.data(), {1, 2})}, 0,
             "concat: piece 1 begins 2 bytes past a multiple of 4, but has elements of that many "
             "bytes");
    const View<float> to = odd(out.data(), {2, 2});
    CHECK(both_reject([&] { concat_cpu({a.view()}, 0, to); },
                      [&] { concat_cuda({a.view()}, 0, to); },
                      "concat: out begins 2 bytes past a multiple of 4"));
}

}  // namespace
