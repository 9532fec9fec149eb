// The proof of Day 02. Loops against answers from outside the code, ports against loops, over every
// element and on every kind of layout. Tags: [small] runs everywhere, [full] not under sanitizers,
// [huge] on a GPU only.
#include "common/testing/testing.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/gpu/graph.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/simplify.hpp"
#include "common/tensor/walk_for_tests.hpp"
#include "day02_strides/extents.hpp"
#include "day02_strides/gather.hpp"
#include "day02_strides/layouts.hpp"
#include "day02_strides/model.hpp"
#include "day02_strides/pitched.hpp"
#include "day02_strides/steps/steps.hpp"
#include "day02_strides/sweep.hpp"

using namespace sixdays;
using namespace sixdays::day02_strides;
using namespace sixdays::testing;

namespace {

constexpr std::int64_t kTwo31 = std::int64_t{1} << 31;

// --- layouts -------------------------------------------------------------------------------------

TEST_CASE("one buffer, read both ways", "[day02][layouts][small]") {
    // A layout is an agreement between writer and reader; nothing in the memory tells.
    const Tensor<int> memory({6}, {1, 2, 3, 4, 5, 6});
    const View<const int> rows(memory.data(), row_major({2, 3}));
    const View<const int> columns(memory.data(), column_major({2, 3}));
    CHECK(rows.layout.strides == Strides{3, 1});
    CHECK(columns.layout.strides == Strides{1, 2});
    CHECK(rows(1, 0) == 4);
    CHECK(columns(1, 0) == 2);
    // A transposed matrix is the same memory read the other way.
    const View<const int> transposed(memory.data(), column_major({3, 2}));
    for (std::int64_t m = 0; m < 2; ++m) {
        for (std::int64_t k = 0; k < 3; ++k) CHECK(rows(m, k) == transposed(k, m));
    }
    CHECK(row_major({3, 4}).strides == Strides{4, 1});
    CHECK(column_major({3, 4}).strides == Strides{1, 3});
    // And both rules for rank 4: products to the right, products to the left.
    CHECK(row_major({2, 3, 4, 5}).strides == Strides{60, 20, 5, 1});
    CHECK(column_major({2, 3, 4, 5}).strides == Strides{1, 2, 6, 24});
}

TEST_CASE("dims listed innermost first name the same memory", "[day02][layouts][small]") {
    CHECK(innermost_first({50257, 768}) == Dims{768, 50257});
    CHECK(innermost_first({2, 3, 4}) == Dims{4, 3, 2});
    CHECK(innermost_first({}) == Dims{});
    // (V, C) = (3, 2) stands in the file as 2, 3. Taken for a shape as it stands, with rows of 3,
    // it names the wrong element; turned round first, the right one.
    const Tensor<float> memory({6}, {1, 2, 3, 4, 5, 6});
    const Dims listed = innermost_first({3, 2});
    const View<const float> wrong(memory.data(), row_major(listed));
    const View<const float> right(memory.data(), row_major(innermost_first(listed)));
    CHECK(right(1, 0) == 3);
    CHECK(wrong(1, 0) == 4);
    // Or: the first listed dim is the fast one, so the listed dims are a column-major shape.
    const View<const float> listed_view(memory.data(), column_major(listed));
    for (std::int64_t v = 0; v < 3; ++v) {
        for (std::int64_t c = 0; c < 2; ++c) CHECK(listed_view(c, v) == right(v, c));
    }
}

TEST_CASE("strides in bytes are NumPy's, and come back", "[day02][layouts][small]") {
    // numpy.zeros((2, 3, 4), numpy.float32).strides is (48, 16, 4); transposed (4, 16, 48).
    const Layout x = row_major({2, 3, 4});
    CHECK(byte_strides(x, 4) == Strides{48, 16, 4});
    CHECK(byte_strides(x, 8) == Strides{96, 32, 8});
    CHECK(byte_strides(Layout({3}, {-2}), 2) == Strides{-4});
    CHECK(equivalent(from_byte_strides({4, 3, 2}, {4, 16, 48}, 4), Layout({4, 3, 2}, {1, 4, 12})));
    CHECK(equivalent(from_byte_strides({3}, {-4}, 2), Layout({3}, {-2})));
    CHECK(refusal([] {
              (void)from_byte_strides({2, 3}, {14, 4}, 4);
          }) ==
          "byte strides (14, 4): the stride of dim 0 is 14, no multiple of an element's 4 bytes");
    CHECK_NOTHROW(from_byte_strides({1, 3}, {14, 4}, 4));  // a dim of 1 never uses its stride
    CHECK(refusal([] { (void)from_byte_strides({2, 3}, {4}, 4); }) != "");
    CHECK(refusal([&] { (void)byte_strides(x, 0); }) != "");
    CHECK(refusal([] { (void)from_byte_strides({3}, {4}, -4); }) != "");
    CHECK(refusal([] { (void)byte_strides(Layout({2}, {INT64_MAX / 2}), 4); }) != "");
}

TEST_CASE("row stride, column stride and leading dimension", "[day02][layouts][small]") {
    const auto strides = [](const Layout& l) {
        const MatrixStrides s = matrix_strides(l);
        return Strides{s.row, s.column};
    };
    CHECK(strides(row_major({3, 4})) == Strides{4, 1});
    CHECK(strides(column_major({3, 4})) == Strides{1, 3});
    CHECK(leading_dimension(row_major({3, 4})) == 4);
    CHECK(leading_dimension(column_major({3, 4})) == 3);
    CHECK(leading_dimension(pitched_rows(3, 4, 6)) == 6);
    CHECK(leading_dimension(Layout({4, 3}, {1, 6})) == 6);  // the same memory, transposed
    CHECK(refusal([] {
              (void)leading_dimension(Layout({3, 4}, {8, 2}));
          }) == "shape (3, 4), strides (8, 2) has no leading dimension: neither stride is 1");
    CHECK(refusal([] { (void)matrix_strides(row_major({3})); }) != "");
    CHECK(refusal([] { (void)pitched_rows(3, 4, 3); }) ==
          "a pitch of 3 for rows of 4 elements: the rows would overlap");
}

TEST_CASE("a cache with room for more is walked with the strides of its capacity",
          "[day02][layouts][small]") {
    // (B, NH, capacity, d) = (2, 3, 8, 4), of which 5 positions are filled.
    const Layout filled = cache_filled_to(5, 2, 3, 8, 4);
    CHECK(filled.shape == Shape{2, 3, 5, 4});
    CHECK(filled.strides == Strides{96, 32, 4, 1});  // a head is 8 * 4 apart, not 5 * 4
    CHECK(!is_contiguous(filled));
    CHECK(is_injective(filled));
    CHECK(required_span(filled) == 1 * 96 + 2 * 32 + 4 * 4 + 3 + 1);
    CHECK(is_contiguous(cache_filled_to(8, 2, 3, 8, 4)));
    CHECK(cache_filled_to(0, 2, 3, 8, 4).size() == 0);
    CHECK(refusal([] { (void)cache_filled_to(9, 2, 3, 8, 4); }) ==
          "9 positions of a cache that has room for 8");
    // Gathered, it is the filled positions and nothing else.
    Tensor<float> cache({2, 3, 8, 4});
    for (std::int64_t i = 0; i < cache.size(); ++i) cache.data()[i] = static_cast<float>(i);
    const DeviceIn<float> device(cache);
    Tensor<float> want({2, 3, 5, 4});
    std::int64_t next = 0;
    for (std::int64_t b = 0; b < 2; ++b) {
        for (std::int64_t h = 0; h < 3; ++h) {
            for (std::int64_t t = 0; t < 5; ++t) {
                for (std::int64_t c = 0; c < 4; ++c) want.data()[next++] = cache(b, h, t, c);
            }
        }
    }
    DeviceOut<float> got({2, 3, 5, 4});
    gather_cuda({device.view().data, filled}, got.view());
    CHECK(got.matches(want));
}

TEST_CASE("at() checks every index and says which is wrong", "[day02][layouts][small]") {
    Tensor<float> x({2, 3}, {1, 2, 3, 4, 5, 6});
    CHECK(at(x.view(), {1, 2}) == 6);
    at(x.view(), {1, 2}) = 7;
    CHECK(x(1, 2) == 7);
    CHECK(at(View<const float>(x.data(), column_major({2, 3})), {1, 2}) == 7);
    CHECK(refusal([&] {
              (void)at(x.view(), {1, 3});
          }) == "index (1, 3) of shape (2, 3): index 3 of dim 1 is not in [0, 3)");
    CHECK(refusal([&] {
              (void)at(x.view(), {-1, 0});
          }) == "index (-1, 0) of shape (2, 3): index -1 of dim 0 is not in [0, 2)");
    CHECK(refusal([&] { (void)at(x.view(), {1}); }) ==
          "index (1) of shape (2, 3): ranks 1 and 2 differ");
    CHECK(refusal([&] { (void)at(x.view(), {}); }) != "");
}

TEST_CASE("six layouts: unique, contiguous, and the memory they need", "[day02][layouts][small]") {
    const struct {
        const char* what;
        Layout layout;
        bool injective, contiguous;
        std::int64_t span;
    } rows[] = {
        {"row-major", row_major({3, 4}), true, true, 12},
        {"column-major", column_major({3, 4}), true, false, 12},
        {"pitch 6", pitched_rows(3, 4, 6), true, false, 16},
        {"rows reversed", Layout({3, 4}, {-4, 1}), true, false, 12},
        {"one row, three times", Layout({3, 4}, {0, 1}), false, false, 4},
        {"windows of 4, 2 apart", Layout({3, 4}, {2, 1}), false, false, 8},
    };
    for (const auto& row : rows) {
        CAPTURE(row.what);
        CHECK(is_injective(row.layout) == row.injective);
        CHECK(is_contiguous(row.layout) == row.contiguous);
        CHECK(required_span(row.layout) == row.span);
    }
    // Strides of dims of 1 are never used: any will do.
    CHECK(equivalent(Layout({3}, {1}), Layout({3}, {1})));
    CHECK(equivalent(Layout({1, 3}, {3, 1}), Layout({1, 3}, {777, 1})));
    CHECK(is_contiguous(Layout({1, 3}, {777, 1})));
    // A span of 16 does not fit into 15 elements.
    gpu::Buffer<float> small(15);
    CHECK(refusal([&] { (void)small.view(pitched_rows(3, 4, 6)); }).find("has 15 elements") !=
          std::string::npos);
    // A negative stride reaches below index 0: the base must be the last row.
    CHECK(refusal([&] { (void)small.view(Layout({3, 4}, {-4, 1})); }) != "");
    CHECK_NOTHROW(small.view(Layout({3, 4}, {-4, 1}), 8));
}

// Extents that the compiler knows: checked while compiling.
using Tile = StaticRowMajor<2, 3, 4>;
static_assert(Tile::kRank == 3 && Tile::size() == 24);
static_assert(Tile::stride(0) == 12 && Tile::stride(1) == 4 && Tile::stride(2) == 1);
static_assert(Tile::offset(1, 2, 3) == 23 && Tile::offset(1, 0, 2) == 14);
static_assert(StaticRowMajor<>::size() == 1 && StaticRowMajor<>::offset() == 0);
static_assert(StaticRowMajor<3, 0, 2>::size() == 0 && StaticRowMajor<3, 0, 2>::stride(0) == 2);

TEST_CASE("strides known to the compiler are row_major()'s", "[day02][extents][small]") {
    const Layout layout = Tile::layout();
    CHECK(equivalent(layout, row_major({2, 3, 4})));
    for (std::int64_t number = 0; number < 24; ++number) {
        const Index index = unravel(number, layout.shape);
        CHECK(Tile::offset(index[0], index[1], index[2]) == offset(layout, index));
    }
    CHECK(equivalent(StaticRowMajor<1, 7>::layout(), row_major({1, 7})));
    CHECK(StaticRowMajor<3, 0, 2>::layout().strides == Strides{2, 2, 1});
}

// --- gather --------------------------------------------------------------------------------------

using Gather = void (*)(View<const float>, View<float>, gpu::Stream);
struct Step {
    const char* name;
    Gather gather;
};
// The steps that take any layout of fewer than 2^31 elements.
const Step kLadder[] = {{"gather_unravel", gather_unravel},
                        {"gather_fast_division", gather_fast_division},
                        {"gather_by_rank", gather_by_rank},
                        {"gather_cuda", gather_cuda}};

TEST_CASE("gather, worked by hand", "[day02][gather][small]") {
    const Tensor<float> memory({6}, {1, 2, 3, 4, 5, 6});
    const struct {
        const char* what;
        std::int64_t first;
        Layout layout;
        Tensor<float> answer;
    } cases[] = {
        {"row-major (2, 3)", 0, row_major({2, 3}), {{2, 3}, {1, 2, 3, 4, 5, 6}}},
        {"column-major (2, 3)", 0, column_major({2, 3}), {{2, 3}, {1, 3, 5, 2, 4, 6}}},
        {"column-major (3, 2)", 0, column_major({3, 2}), {{3, 2}, {1, 4, 2, 5, 3, 6}}},
        {"rows reversed", 3, Layout({2, 3}, {-3, 1}), {{2, 3}, {4, 5, 6, 1, 2, 3}}},
        {"all reversed", 5, Layout({6}, {-1}), {{6}, {6, 5, 4, 3, 2, 1}}},
        {"a row, twice", 0, Layout({2, 3}, {0, 1}), {{2, 3}, {1, 2, 3, 1, 2, 3}}},
        {"(2, 2) with a pitch of 3", 1, Layout({2, 2}, {3, 1}), {{2, 2}, {2, 3, 5, 6}}},
        {"every second", 1, Layout({3}, {2}), {{3}, {2, 4, 6}}},
        {"rank 0", 4, Layout(), {Shape{}, {5}}},
    };
    const DeviceIn<float> device(memory);
    for (const auto& c : cases) {
        CAPTURE(c.what);
        HostOut<float> loop(c.layout.shape);
        gather_cpu(View<const float>(memory.data() + c.first, c.layout), loop.view());
        CHECK(loop.matches(c.answer));
        for (const Step& step : kLadder) {
            CAPTURE(step.name);
            DeviceOut<float> got(c.layout.shape);
            step.gather({device.view().data + c.first, c.layout}, got.view(), {});
            CHECK(got.matches(c.answer));
        }
    }
}

// The port equals the loop, the loop the values that were laid out.
void check_gather_port(const Step& step, const Layout& layout, Lead lead_in = {},
                       Lead lead_out = {}) {
    CAPTURE(step.name, to_string(layout), lead_in.elements, lead_out.elements);
    const Tensor<float> values = distinct<float>(layout.shape);
    const HostIn<float> in(values, layout, lead_in);
    HostOut<float> want(layout.shape);
    gather_cpu(in.view(), want.view());
    CHECK(want.matches(values));
    DeviceIn<float> din(values, layout, lead_in);
    DeviceOut<float> got(layout.shape, lead_out);
    step.gather(din.view(), got.view(), {});
    CHECK(got.matches(want));
    CHECK(din.unchanged());
}

TEST_CASE("every permutation, flip and gap of every small shape", "[day02][gather][small]") {
    for (int rank = 0; rank <= 3; ++rank) {
        for (const std::int64_t pad : {0, 1}) {
            walk::for_each_packing(rank, pad, [&](const walk::Packing& packing) {
                walk::for_each_dims(
                    rank, rank == 3 ? 1 : 0, rank == 3 ? 2 : 3, [&](const Dims& shape) {
                        const Layout layout(shape, walk::strides_of(packing, shape));
                        for (const Step& step : kLadder) {
                            check_gather_port(step, layout);
                        }
                    });
            });
        }
    }
}

// Shapes with more elements than a block has, no two extents alike, rank 1 to 8.
std::vector<Layout> larger_layouts() {
    return {
        Layout({2053}, {3}),                                  // rank 1, with gaps
        Layout({4099}, {-1}),                                 // backwards
        column_major({61, 67}),                               // rank 2
        Layout({67, 31}, {40, 1}),                            // a pitch
        Layout({5, 19, 23}, {1, 5 * 23, 5}),                  // rank 3, permuted
        Layout({2, 7, 5, 33}, {7 * 5 * 33, 33, 7 * 33, 1}),   // (B, T, NH, d) as (B, NH, T, d)
        Layout({3, 2, 5, 7, 4}, {1, 3, 6, 30, 210}),          // rank 5, column-major
        Layout({3, 1, 2, 5, 1, 7}, {70, 999, 35, 7, -5, 1}),  // contiguous but for two dims of 1
        column_major({2, 3, 1, 4, 5, 2, 3}),                  // rank 7
        column_major({2, 3, 2, 3, 2, 3, 2, 3}),               // rank 8
        Layout({3, 4, 5, 6}, {1000, -7, 211, -1}),            // flips and gaps
    };
}

TEST_CASE("every step of the ladder equals the loop, on ranks 1 to 8", "[day02][gather][small]") {
    for (const Layout& layout : larger_layouts()) {
        for (const Step& step : kLadder) check_gather_port(step, layout, {1}, {2});
    }
}

TEST_CASE("gather at every address: heads, tails, quads and none", "[day02][gather][small]") {
    for (const std::int64_t n : {0, 1, 3, 4, 5, 31, 33, 1023, 2047, 2048, 2049, 4099}) {
        for (std::int64_t lead = 0; lead < 16; ++lead) {
            check_gather_port(kLadder[3], row_major({n}), {lead / 4}, {lead % 4});
        }
    }
    for (const std::int64_t d : {3, 4, 8, 64}) {  // permuted rows of d
        const Layout layout({2, 3, 5, d}, {15 * d, d, 3 * d, 1});
        for (std::int64_t lead = 0; lead < 4; ++lead) {
            check_gather_port(kLadder[3], layout, {lead}, {0});
            check_gather_port(kLadder[3], layout, {0}, {lead});
        }
    }
}

TEST_CASE("gather reads broadcast dims, whose stride is 0", "[day02][gather][small]") {
    const Tensor<float> x = distinct<float>({40});
    const DeviceIn<float> dx(x);
    for (const Layout& layout :
         {Layout({7, 40}, {0, 1}), Layout({40, 7}, {1, 0}), Layout({3, 5, 8}, {0, 8, 1}),
          Layout({3, 5, 8}, {8, 0, 1}), Layout({11, 13}, {0, 0}), Layout({5, 6}, {1, 1})}) {
        CAPTURE(to_string(layout));
        HostOut<float> want(layout.shape);
        gather_cpu(View<const float>(x.data(), layout), want.view());
        const Index last = unravel(layout.size() - 1, layout.shape);
        CHECK(want.values().data()[layout.size() - 1] ==
              x.data()[last[0] * layout.stride(0) + last[1] * layout.stride(1) +
                       (layout.rank() > 2 ? last[2] * layout.stride(2) : 0)]);
        for (const Step& step : kLadder) {
            CAPTURE(step.name);
            DeviceOut<float> got(layout.shape);
            step.gather({dx.view().data, layout}, got.view(), {});
            CHECK(got.matches(want));
        }
    }
}

TEST_CASE("gather chooses its path by layout and address", "[day02][gather][small]") {
    alignas(16) static float memory[16];
    const auto path = [&](const Layout& layout, int in = 0, int out = 0) {
        return choose_gather({memory + in, layout}, {memory + 8 + out, layout.shape});
    };
    using P = GatherPath;
    CHECK(path(row_major({64, 12})) == P::straight);
    CHECK(path(Layout()) == P::straight);
    CHECK(path(Layout({5, 1, 8}, {8, 77, 1})) == P::straight);  // strides of dims of 1 do not count
    CHECK(path(row_major({64, 12}), 1, 1) == P::straight);      // a head of 3 on both sides
    CHECK(path(row_major({64, 12}), 1, 2) == P::by_rank);
    CHECK(path(Layout({4, 8}, {12, 1})) == P::quads);
    CHECK(path(Layout({4, 8}, {-12, 1})) == P::quads);
    CHECK(path(Layout({4, 8}, {0, 1})) == P::quads);
    CHECK(path(Layout({2, 4, 2, 2}, {8, 16, 2, 1})) == P::quads);  // the last two merge to 4
    CHECK(path(Layout({4, 8}, {13, 1})) == P::by_rank);            // rows at odd addresses
    CHECK(path(Layout({4, 8}, {14, 1})) == P::by_rank);            // or 8 bytes past a multiple
    CHECK(path(Layout({4, 6}, {12, 1})) == P::by_rank);            // half a quad
    CHECK(path(Layout({4, 8}, {12, 1}), 1) == P::by_rank);
    CHECK(path(Layout({4, 8}, {12, 1}), 0, 1) == P::by_rank);
    CHECK(path(column_major({4, 8})) == P::by_rank);
    CHECK(path(Layout({8}, {-1})) == P::by_rank);
    CHECK(path(row_major({3 * kTwo31})) == P::straight);
    CHECK(path(Layout({kTwo31 - 1}, {2})) == P::by_rank);
    CHECK(path(Layout({kTwo31}, {2})) == P::any_size);
    CHECK(path(Layout({3, kTwo31}, {0, 1})) == P::quads);  // 1.6e9 quads
    CHECK(path(Layout({4, kTwo31}, {0, 1})) == P::any_size);
    for (const P p : {P::straight, P::quads, P::by_rank, P::any_size}) CHECK(*name(p) != 0);
}

TEST_CASE("gather takes the path that it chose", "[day02][gather][small]") {
    const auto kernel = [](const Layout& layout, Lead lead) {
        const DeviceIn<float> in(distinct<float>(layout.shape), layout, lead);
        DeviceOut<float> out(layout.shape);
        gather_cuda(in.view(), out.view());
        return std::string(gpu::last_kernel());
    };
    CHECK(kernel(row_major({5, 8}), {0}) == "gather_straight_kernel");
    CHECK(kernel(row_major({5, 8}), {1}) == "gather_walk_kernel<float>");
    CHECK(kernel(Layout({5, 8}, {12, 1}), {0}) == "gather_walk_kernel<float4>");
    CHECK(kernel(column_major({5, 8}), {0}) == "gather_walk_kernel<float>");
}

TEST_CASE("a step that cannot walk a layout says so", "[day02][gather][small]") {
    alignas(16) static float memory[16];
    const View<float> out(memory + 8, Shape{4, 8});
    const View<const float> odd(memory, Layout({4, 8}, {13, 1}));
    CHECK(refusal([&] { (void)walk_of(odd, out, WalkBy::quad); }) ==
          "gather: shape (4, 8), strides (13, 1) cannot be walked by quads of 16 bytes");
    CHECK(refusal([&] {
              (void)walk_of({memory, Layout({kTwo31}, {0})}, {memory + 8, Shape{kTwo31}},
                            WalkBy::element);
          }) == "gather: shape (2147483648), strides (0) cannot be walked by 32-bit numbers");
    Tensor<float> x({4, 8}), y({8, 4});
    CHECK(refusal([&] {
              gather_straight({x.data(), column_major({8, 4})}, y.view());
          }).find("is not one run of memory") != std::string::npos);
}

TEST_CASE("gather refuses in the same words", "[day02][gather][small]") {
    Tensor<float> x({2, 3}), y({3, 2}), run({20});
    const auto both = [](View<const float> in, View<float> out, const char* words) {
        return both_refuse([&] { gather_cpu(in, out); }, [&] { gather_cuda(in, out); }, words);
    };
    CHECK(both(x.view(), y.view(), "gather: in has shape (2, 3), but out has shape (3, 2)"));
    CHECK(both(x.view(), {y.data(), column_major({2, 3})}, "not contiguous"));
    CHECK(both({nullptr, Shape{2, 3}}, {y.data(), Shape{2, 3}}, "in is a null pointer"));
    CHECK(both(x.view(), {nullptr, Shape{2, 3}}, "out is a null pointer"));
    CHECK(both({run.data() + 5, Layout({2, 3}, {-3, 1})}, {run.data(), Shape{2, 3}},
               "in and out overlap without being the same tensor"));
}

TEST_CASE("gather onto itself changes nothing", "[day02][gather][small]") {
    const Tensor<float> x = distinct<float>({5, 7});
    auto host = HostOut<float>::holding(x);
    gather_cpu(host.view(), host.view());
    CHECK(host.values().data()[34] == x.data()[34]);
    auto device = DeviceOut<float>::holding(x);
    gather_cuda(device.view(), device.view());
    CHECK(device.matches(x));
}

// Rows of 5, the second so many elements below the first.
void check_far_apart(std::int64_t apart) {
    const std::int64_t span = apart + 5;
    gpu::Buffer<float> memory(span);
    memory.upload(std::vector<float>{6, 7, 8, 9, 10}.data(), 5, 0);
    memory.upload(std::vector<float>{1, 2, 3, 4, 5}.data(), 5, apart);
    const Layout layout({2, 5}, {-apart, 1});
    const Tensor<float> want({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    for (const Step& step : kLadder) {
        CAPTURE(step.name);
        DeviceOut<float> got({2, 5});
        step.gather(memory.view(layout, apart), got.view(), {});
        CHECK(got.matches(want));
    }
    DeviceOut<float> sums({5});
    sum_columns_cuda(memory.view(layout, apart), sums.view());
    CHECK(sums.matches(Tensor<float>({5}, {7, 9, 11, 13, 15})));
    DeviceOut<float> rows({2, 5});
    pitched_cuda(memory.view(Layout({2, 5}, {apart, 1})), rows.view());
    CHECK(rows.matches(Tensor<float>({2, 5}, {6, 7, 8, 9, 10, 1, 2, 3, 4, 5})));
    ramp_cuda(memory.view(layout, apart));
    CHECK(memory.download(0, 5) == std::vector<float>{5, 6, 7, 8, 9});
    CHECK(memory.download(apart, 5) == std::vector<float>{0, 1, 2, 3, 4});
}

TEST_CASE("few elements more than 2^32 elements apart", "[day02][gather][huge]") {
    const std::int64_t apart = 2 * kTwo31 + 9;
    need_device_memory(4 * (apart + 5));
    check_far_apart(apart);
}

TEST_CASE("a permuted tensor of a thousand heads", "[day02][gather][full]") {
    for (const Step& step : kLadder) {
        check_gather_port(step, Layout({8, 12, 65, 16}, {65 * 12 * 16, 16, 12 * 16, 1}));
        check_gather_port(step, column_major({301, 331}));
    }
}

TEST_CASE("gather reaches past 2^32 elements", "[day02][gather][huge]") {
    // One row, broadcast: 255 and 256 floats, so that both 64-bit numbers and quads are walked.
    need_device_memory(4 * (2 * kTwo31 + 4096));
    for (const std::int64_t K : {std::int64_t{255}, std::int64_t{256}}) {
        const std::int64_t M = 2 * kTwo31 / K + 3, n = M * K;
        const Tensor<float> row = distinct<float>({K});
        const gpu::Buffer<float> in(row);
        gpu::Buffer<float> out(n);
        out.fill_bytes(0xff);
        const View<const float> rows(in.data(), Layout({M, K}, {0, 1}));
        CHECK(choose_gather(rows, out.view({M, K})) ==
              (K == 256 ? GatherPath::quads : GatherPath::any_size));
        gather_cuda(rows, out.view({M, K}));
        for (const std::int64_t at : {std::int64_t{0}, kTwo31 - K, 2 * kTwo31 - K, n - 2 * K}) {
            const std::vector<float> got = out.download(at, 2 * K);
            bool ok = true;
            for (std::int64_t i = 0; i < 2 * K; ++i) {
                ok &= got[static_cast<std::size_t>(i)] == row.data()[(at + i) % K];
            }
            CAPTURE(K, at);
            CHECK(ok);
        }
    }
}

// --- pitched -------------------------------------------------------------------------------------

using Pitched = void (*)(View<const float>, View<float>, gpu::Stream);

Layout pitched_layout(std::int64_t M, std::int64_t K, std::int64_t pitch) {
    return Layout({M, K}, {pitch, 1});
}

void check_pitched_port(Pitched port, const Layout& from, const Layout& to, Lead lead_in = {},
                        Lead lead_out = {}) {
    CAPTURE(to_string(from), to_string(to), lead_in.elements, lead_out.elements);
    const Tensor<float> values = distinct<float>(from.shape);
    const HostIn<float> in(values, from, lead_in);
    HostOut<float> want(to, lead_out);
    pitched_cpu(in.view(), want.view());
    CHECK(want.matches(values));  // and nothing between the rows
    DeviceIn<float> din(values, from, lead_in);
    DeviceOut<float> got(to, lead_out);
    port(din.view(), got.view(), {});
    CHECK(got.matches(want));
    CHECK(din.unchanged());
}

TEST_CASE("pitched, worked by hand", "[day02][pitched][small]") {
    Tensor<float> from({10}, {1, 2, 3, 0, 0, 4, 5, 6, 0, 0});  // (2, 3), pitch 5
    Tensor<float> to({7}, {9, 9, 9, 9, 9, 9, 9});              // (2, 3), pitch 4
    pitched_cpu({from.data(), pitched_layout(2, 3, 5)}, {to.data(), pitched_layout(2, 3, 4)});
    CHECK(equal(to, Tensor<float>({7}, {1, 2, 3, 9, 4, 5, 6})));
    const DeviceIn<float> device(from);
    for (const Pitched port : {pitched_one_element, pitched_cuda}) {
        DeviceOut<float> got(pitched_layout(2, 3, 4));
        port({device.view().data, pitched_layout(2, 3, 5)}, got.view(), {});
        CHECK(got.matches(Tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6})));
    }
}

TEST_CASE("pitched equals its loop, at every width, pitch and address", "[day02][pitched][small]") {
    for (const std::int64_t K : {0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 36, 127, 129}) {
        for (const std::int64_t M : {0, 1, 2, 9, 33, 67}) {
            for (const std::int64_t room : {0, 1, 4}) {
                const std::int64_t even = (K + 3) / 4 * 4 + room;
                check_pitched_port(pitched_cuda, pitched_layout(M, K, K + room),
                                   pitched_layout(M, K, K + 2));
                check_pitched_port(pitched_cuda, pitched_layout(M, K, even),
                                   pitched_layout(M, K, even + 4));
                check_pitched_port(pitched_one_element, pitched_layout(M, K, K + room),
                                   pitched_layout(M, K, K + 2), {1}, {2});
            }
        }
    }
    for (std::int64_t lead = 0; lead < 16; ++lead) {
        check_pitched_port(pitched_cuda, pitched_layout(5, 13, 16), pitched_layout(5, 13, 20),
                           {lead / 4}, {lead % 4});
    }
}

TEST_CASE("pitched equals its loop on tall and on wide matrices", "[day02][pitched][full]") {
    check_pitched_port(pitched_cuda, pitched_layout(20011, 3, 4), pitched_layout(20011, 3, 8));
    check_pitched_port(pitched_cuda, pitched_layout(20011, 3, 3), pitched_layout(20011, 3, 5));
    check_pitched_port(pitched_cuda, pitched_layout(3, 20011, 20012),
                       pitched_layout(3, 20011, 20016));
    check_pitched_port(pitched_cuda, pitched_layout(3, 20011, 20011),
                       pitched_layout(3, 20011, 20012));
    check_pitched_port(pitched_cuda, pitched_layout(1031, 32, 40), pitched_layout(1031, 32, 36));
}

TEST_CASE("pitched takes 16 bytes exactly where every row allows it", "[day02][pitched][small]") {
    alignas(16) static float memory[16];
    const auto path = [&](const Layout& from, const Layout& to, int in = 0, int out = 0) {
        return choose_pitched({memory + in, from}, {memory + 8 + out, to});
    };
    using P = PitchedPath;
    const auto of = pitched_layout;
    CHECK(path(of(9, 5, 8), of(9, 5, 12)) == P::sixteen_bytes);
    CHECK(path(of(9, 5, 8), of(9, 5, 12), 4) == P::sixteen_bytes);
    CHECK(path(of(9, 5, 9), of(9, 5, 12)) == P::single);
    CHECK(path(of(9, 5, 8), of(9, 5, 13)) == P::single);
    CHECK(path(of(9, 5, 8), of(9, 5, 8), 1) == P::single);
    CHECK(path(of(9, 5, 8), of(9, 5, 8), 0, 2) == P::single);
    CHECK(path(of(1, 5, 5), of(1, 5, 7)) == P::sixteen_bytes);  // one row has no pitch
    const auto kernel = [&](const Layout& layout) {
        const DeviceIn<float> in(distinct<float>(layout.shape), layout);
        DeviceOut<float> out(layout);
        pitched_cuda(in.view(), out.view());
        return std::string(gpu::last_kernel());
    };
    CHECK(kernel(of(9, 5, 8)) == "pitched_sixteen_bytes_kernel");
    CHECK(kernel(of(9, 5, 7)) == "pitched_single_kernel");
    CHECK(std::string(name(P::single)) != name(P::sixteen_bytes));
}

TEST_CASE("pitched refuses in the same words", "[day02][pitched][small]") {
    Tensor<float> x({2, 3}), y({2, 3}), run({40});
    const auto both = [](View<const float> in, View<float> out, const char* words) {
        return both_refuse([&] { pitched_cpu(in, out); }, [&] { pitched_cuda(in, out); }, words);
    };
    CHECK(both(x.view(), run.view(), "pitched: in has shape (2, 3), but out has shape (40)"));
    CHECK(both(run.view(), {run.data(), Shape{40}}, "rank 1, but rank 2 is needed"));
    CHECK(both({run.data(), column_major({2, 3})}, y.view(),
               "in has shape (2, 3), strides (1, 2); the elements of a row must be neighbours"));
    CHECK(both({run.data(), Layout({2, 3}, {2, 1})}, y.view(),
               "pitched: in has a pitch of 2, but a row holds 3 elements"));
    CHECK(both(x.view(), {run.data() + 5, Layout({2, 3}, {-4, 1})}, "out has a pitch of -4"));
    CHECK(both(x.view(), {run.data(), Layout({2, 3}, {0, 1})}, "out has a pitch of 0"));
    CHECK(both({nullptr, Shape{2, 3}}, y.view(), "in is a null pointer"));
    CHECK(both(x.view(), {nullptr, Shape{2, 3}}, "out is a null pointer"));
    CHECK(both({run.data(), pitched_layout(2, 3, 5)}, {run.data() + 7, Shape{2, 3}},
               "in and out overlap"));
    const View<float> tall(nullptr, Shape{65535 * 8 + 1, 0});
    CHECK(refusal([&] { pitched_one_element(tall, tall); }).find("524281 rows") !=
          std::string::npos);
    CHECK_NOTHROW(pitched_cuda(tall, tall));
}

TEST_CASE("pitched walks on where a grid ends at 65,535 blocks", "[day02][pitched][full]") {
    // Width 17 makes blocks of 32 x 8 threads, 64 rows each: 65,535 of them and five rows more.
    const std::int64_t M = 65535 * 64 + 5, K = 17;
    if (!gpu::is_emulated()) need_device_memory(2 * 4 * M * K);
    gpu::Buffer<float> in(M * K), out(M * K);
    const Tensor<float> last = distinct<float>({5, K});
    in.upload(last.data(), 5 * K, (M - 5) * K);
    in.upload(std::vector<float>(64 * K, 7.0f).data(), 64 * K);
    const auto launch = [&] { pitched_cuda(in.view({M, K}), out.view({M, K})); };
    // Block (0, 0) has the first 64 rows, and the last five. A GPU runs them all.
    if (!gpu::run_only_blocks(0, 1, launch)) launch();
    const std::vector<float> got = out.download((M - 5) * K, 5 * K);
    CHECK(std::memcmp(got.data(), last.data(), got.size() * sizeof(float)) == 0);
}

// --- sweep ---------------------------------------------------------------------------------------

// Every way to lay out a matrix (J, T) that this day knows.
std::vector<Layout> matrix_layouts(std::int64_t J, std::int64_t T) {
    return {
        row_major({J, T}),
        column_major({J, T}),
        Layout({J, T}, {T + 5, 1}),          // a pitch
        Layout({J, T}, {3 * T + 1, 3}),      // every third column
        Layout({J, T}, {1, J + 2}),          // rows of a pitched row-major (T, J)
        Layout({J, T}, {-(T + 2), 1}),       // rows from the last to the first
        Layout({J, T}, {T, -1}),             // each row backwards
        Layout({J, T}, {-2, -(2 * J + 1)}),  // both, transposed, with gaps
    };
}

void check_sum_columns_port(const Layout& layout) {
    CAPTURE(to_string(layout));
    const Tensor<float> values = seeded<float>(layout.shape, 5, -1, 1);  // the order shows in bits
    const HostIn<float> in(values, layout);
    HostOut<float> want({layout.extent(1)}), plain({layout.extent(1)});
    sum_columns_cpu(in.view(), want.view());
    sum_columns_cpu(values.view(), plain.view());  // the same matrix, row-major
    CHECK(want.matches(plain));
    DeviceIn<float> din(values, layout, Lead{1});
    DeviceOut<float> got({layout.extent(1)}, Lead{3});
    sum_columns_cuda(din.view(), got.view());
    CHECK(got.matches(want));
    CHECK(din.unchanged());
}

void check_ramp_port(const Layout& layout) {
    CAPTURE(to_string(layout));
    HostOut<float> want(layout);
    ramp_cpu(want.view());
    Tensor<float> counted(layout.shape);
    for (std::int64_t i = 0; i < counted.size(); ++i) counted.data()[i] = static_cast<float>(i);
    CHECK(want.matches(counted));
    DeviceOut<float> got(layout, Lead{1});
    ramp_cuda(got.view());
    CHECK(got.matches(want));
}

TEST_CASE("sums of columns and of rows, by hand", "[day02][sweep][small]") {
    const Tensor<float> x({2, 3}, {1, 2, 3, 4, 5, 6});
    HostOut<float> columns({3}), rows({2});
    sum_columns_cpu(x.view(), columns.view());
    CHECK(columns.matches(Tensor<float>({3}, {5, 7, 9})));
    // The rows of x are the columns of the same memory read with strides (1, 3).
    sum_columns_cpu(View<const float>(x.data(), Layout({3, 2}, {1, 3})), rows.view());
    CHECK(rows.matches(Tensor<float>({2}, {6, 15})));
    // Every second element of 1..6.
    HostOut<float> odd({3});
    sum_columns_cpu(View<const float>(x.data(), Layout({1, 3}, {6, 2})), odd.view());
    CHECK(odd.matches(Tensor<float>({3}, {1, 3, 5})));
}

TEST_CASE("sums are added in the order of j: (2^24 + 1) + 1 is not 2^24 + (1 + 1)",
          "[day02][sweep][small]") {
    const Tensor<float> in({3, 1}, {16777216, 1, 1});
    HostOut<float> want(Shape{1});
    sum_columns_cpu(in.view(), want.view());
    CHECK(want.matches(Tensor<float>(Shape{1}, {16777216})));
    const DeviceIn<float> din(in);
    DeviceOut<float> got(Shape{1});
    sum_columns_cuda(din.view(), got.view());
    CHECK(got.matches(want));
}

TEST_CASE("sum_columns and ramp equal their loops, in every layout", "[day02][sweep][small]") {
    // One below, at and above a warp, a block, and eight elements in flight.
    for (const std::int64_t J : {0, 1, 2, 7, 8, 9, 17}) {
        for (const std::int64_t T : {0, 1, 3, 31, 33, 255, 257}) {
            for (const Layout& layout : matrix_layouts(J, T)) {
                check_sum_columns_port(layout);
                check_ramp_port(layout);
            }
        }
    }
}

TEST_CASE("sum_columns reads a broadcast row and a broadcast element", "[day02][sweep][small]") {
    const Tensor<float> x({5}, {1, 2, 3, 4, 5});
    const DeviceIn<float> dx(x);
    for (const Strides& strides : {Strides{0, 1}, Strides{1, 0}, Strides{0, 0}}) {
        CAPTURE(to_string(strides));
        const Layout layout({5, 5}, strides);
        HostOut<float> want({5});
        sum_columns_cpu(View<const float>(x.data(), layout), want.view());
        DeviceOut<float> got({5});
        sum_columns_cuda(View<const float>(dx.view().data, layout), got.view());
        CHECK(got.matches(want));
        CHECK(want.values()(1) == (strides[0] == 0 ? (strides[1] == 0 ? 5 : 10) : 15));
    }
}

TEST_CASE("sum_columns and ramp on larger matrices", "[day02][sweep][full]") {
    for (const Layout& layout : matrix_layouts(101, 4099)) {
        check_sum_columns_port(layout);
        check_ramp_port(layout);
    }
}

TEST_CASE("pitched reaches past 2^32 elements", "[day02][pitched][huge]") {
    const std::int64_t K = 260, M = 2 * kTwo31 / K + 3;
    need_device_memory(2 * 4 * M * (K + 4));
    gpu::Buffer<float> in(M * (K + 1)), out(M * (K + 4));
    const Tensor<float> row = distinct<float>({K});
    const std::int64_t middle = kTwo31 / (K + 4) + 1;  // about where 32-bit offsets turn negative
    for (const std::int64_t in_pitch : {K, K + 1}) {   // 16 bytes a load, and single elements
        in.fill_bytes(0x3f);
        for (const std::int64_t m : {std::int64_t{0}, middle, M - 1}) {
            in.upload(row.data(), K, m * in_pitch);
        }
        out.fill_bytes(0xff);
        pitched_cuda(in.view(pitched_layout(M, K, in_pitch)),
                     out.view(pitched_layout(M, K, K + 4)));
        for (const std::int64_t m : {std::int64_t{0}, middle, M - 1}) {
            const std::vector<float> got = out.download(m * (K + 4), K + 4);
            CAPTURE(in_pitch, m);
            CHECK(std::memcmp(got.data(), row.data(), static_cast<std::size_t>(4 * K)) == 0);
            CHECK(got[static_cast<std::size_t>(K)] != got[static_cast<std::size_t>(K)]);  // NaN
        }
    }
}

TEST_CASE("sum_columns and ramp refuse in the same words", "[day02][sweep][small]") {
    Tensor<float> x({2, 3}), sums({3}), run({20});
    const auto sum = [](View<const float> in, View<float> out, const char* words) {
        return both_refuse([&] { sum_columns_cpu(in, out); }, [&] { sum_columns_cuda(in, out); },
                           words);
    };
    CHECK(sum(sums.view(), sums.view(), "sum_columns: in has shape (3) of rank 1, but rank 2"));
    CHECK(sum(x.view(), x.view(), "sum_columns: out has shape (2, 3) of rank 2, but rank 1"));
    CHECK(sum(x.view(), run.view(), "sum_columns: out has 20 elements, but in has 3 columns"));
    CHECK(sum(x.view(), {run.data(), Layout({3}, {2})}, "not contiguous"));
    CHECK(sum({nullptr, Shape{2, 3}}, sums.view(), "in is a null pointer"));
    CHECK(sum(x.view(), {nullptr, Shape{3}}, "out is a null pointer"));
    CHECK(sum({run.data(), Shape{2, 3}}, {run.data() + 5, Shape{3}}, "in and out overlap"));
    const auto ramp = [](View<float> out, const char* words) {
        return both_refuse([&] { ramp_cpu(out); }, [&] { ramp_cuda(out); }, words);
    };
    CHECK(ramp(sums.view(), "ramp: out has shape (3) of rank 1, but rank 2"));
    CHECK(ramp({run.data(), Layout({2, 3}, {0, 1})}, "where two indices may share one place"));
    CHECK(ramp({run.data(), Layout({3, 3}, {2, 1})}, "writers of it would race"));
    CHECK(ramp({nullptr, Shape{2, 3}}, "ramp: out is a null pointer"));
}

// --- what the warps touch, and the model ---------------------------------------------------------

TEST_CASE("units of memory that a stride touches, counted by hand", "[day02][model][small]") {
    const auto touched = [](std::int64_t count, std::int64_t stride, std::int64_t unit,
                            std::int64_t lowest = 0) {
        return count_units(Layout({count}, {stride}), unit, lowest).touched;
    };
    CHECK(touched(32, 1, 32) == 4);  // 128 bytes
    CHECK(touched(32, 1, 32, 1) == 5);
    CHECK(touched(32, 2, 32) == 8);
    CHECK(touched(32, 3, 32) == 12);  // the last begins at byte 372, in sector 11
    CHECK(touched(32, 7, 32) == 28);  // at byte 868, in sector 27
    CHECK(touched(32, 8, 32) == 32);
    CHECK(touched(32, 129, 32) == 32);
    CHECK(touched(32, -3, 32) == 12);
    CHECK(touched(32, 0, 32) == 1);
    CHECK(touched(32, 8, 64) == 16);
    CHECK(touched(32, 16, 64) == 32);
    CHECK(touched(0, 1, 32) == 0);
    CHECK(count_units(row_major({4, 8}), 32).whole == 4);
    CHECK(count_units(row_major({4, 8}), 32, 1).whole == 3);
    CHECK(count_units(Layout({32}, {2}), 32).whole == 0);
    // 3 rows of 6 floats, 10 apart: bytes 0-23, 40-63, 80-103: sectors 0, 1, 2 and 3, none whole.
    CHECK(count_units(Layout({3, 6}, {10, 1}), 32).touched == 4);
    CHECK(count_units(Layout({3, 6}, {10, 1}), 32).whole == 0);
    CHECK(count_units(Layout({3, 6}, {10, 1}), 4).whole == 18);
    CHECK(refusal([] { (void)count_units({}, 48); }) ==
          "count_units: a unit of 48 bytes; it must be a power of two from 4 on");
    CHECK(refusal([] { (void)count_units({}, 32, -1); }) != "");
    CHECK(refusal([] { (void)count_units(Layout({4096, 4096}, {5000, 1}), 32); }) != "");
    CHECK(refusal([] { (void)sectors_asked_for(row_major({4})); }) != "");
    CHECK(sectors_asked_for(Layout({3, 1}, {8, INT64_MIN})) == 3);  // that stride is never walked
}

TEST_CASE("the closed formula counts what a list of all bytes counts", "[day02][model][small]") {
    for (const std::int64_t unit : {4, 8, 32, 64}) {
        for (std::int64_t count = 1; count <= 20; ++count) {
            for (std::int64_t stride = -20; stride <= 20; ++stride) {
                for (std::int64_t lowest = 0; lowest < 9; ++lowest) {
                    std::vector<int> used(2000, 0);  // elements of each unit that the walk touches
                    std::int64_t first = lowest - (stride < 0 ? (count - 1) * stride : 0);
                    std::vector<bool> seen(2000, false);
                    for (std::int64_t i = 0; i < count; ++i, first += stride) {
                        if (seen[static_cast<std::size_t>(first)]) continue;
                        seen[static_cast<std::size_t>(first)] = true;
                        ++used[static_cast<std::size_t>(first * 4 / unit)];
                    }
                    std::int64_t touched = 0, whole = 0;
                    for (const int elements : used) {
                        touched += elements > 0;
                        whole += elements == unit / 4;
                    }
                    const Units units = count_units(Layout({count}, {stride}), unit, lowest);
                    CAPTURE(unit, count, stride, lowest);
                    REQUIRE(units.touched == touched);
                    REQUIRE(units.whole == whole);
                }
            }
        }
    }
}

bool close_to_each_other(double a, double b) {
    return std::abs(a - b) <= 1e-9 * b;
}

TEST_CASE("bytes that a stride moves, and the share that was asked for", "[day02][model][small]") {
    const std::int64_t J = 4096, T = std::int64_t{1} << 18;  // 2^30 floats, no enumeration
    const auto share = [&](std::int64_t s, std::int64_t unit) {
        const Layout layout({J / s, T}, {T * s, s});
        return useful_share(layout, moved_by_reading(layout, {unit}));
    };
    CHECK(share(1, 32) == 1);
    CHECK(share(2, 32) == 0.5);
    CHECK(share(8, 32) == 0.125);
    CHECK(share(64, 32) == 0.125);
    CHECK(share(8, 64) == 0.125);
    CHECK(share(16, 64) == 0.0625);
    CHECK(share(33, 64) == 0.0625);
    const Layout every_second({J / 2, T}, {T * 2, 2});
    const bench::Work written = moved_by_writing(every_second, {64, 32, true});
    CHECK(written.bytes_written == 4294967296.0);  // 2^32: all sectors of 2^30 floats
    CHECK(written.bytes_read == written.bytes_written);
    CHECK(moved_by_writing(row_major({J, T}), {64, 32, true}).bytes_read == 0);
}

TEST_CASE("seconds by the model, worked out by hand", "[day02][model][small]") {
    const bench::Limits limits{"a GPU of round numbers", 4e12, 5e12, 4e12, 1e12};
    const std::int64_t T = std::int64_t{1} << 18;
    const auto every = [&](std::int64_t s) { return Layout({1024 / s, T}, {T * s, s}); };
    // 2^28 floats are 2^30 bytes. At 5 bytes a ps: 2^30 / 5e12 s, whatever is visited.
    const double all = 1073741824 / 5e12;
    CHECK(close_to_each_other(seconds_to_read(every(1), limits), all));
    CHECK(close_to_each_other(seconds_to_read(every(8), limits), all));
    CHECK(close_to_each_other(seconds_to_read(every(16), limits), all));
    // From stride 16 on 64 bytes a float. At 64 a visit a float as well: 128 bytes at 1.25 * R, and
    // a 64th of the floats: 2^22 * 128 / 6.25e12.
    CHECK(close_to_each_other(seconds_to_read(every(64), limits), 4194304.0 * 128 / 6.25e12));
    CHECK(close_to_each_other(seconds_to_read(every(128), limits), 2097152.0 * 128 / 6.25e12));
    // At 32 a visit for two floats: 2^23 * (64 + 32).
    CHECK(close_to_each_other(seconds_to_read(every(32), limits), 8388608.0 * 96 / 6.25e12));
    // Written whole: 2^30 bytes at W. Every second float: all sectors come and go, at C.
    CHECK(close_to_each_other(seconds_to_write(every(1), limits), 1073741824 / 4e12));
    CHECK(close_to_each_other(seconds_to_write(every(2), limits), 2147483648.0 / 4e12));
}

TEST_CASE("the emulator counts the sectors that the model says, at every stride",
          "[day02][sweep][model][small]") {
    const std::int64_t J = 4, T = 256;
    gpu::Buffer<float> memory(J * T * 129), sums(T);
    memory.fill_bytes(0x3f);
    for (const std::int64_t s :
         {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 32, 33, 64, 65, 128, 129}) {
        CAPTURE(s);
        const Layout layout({J, T}, {T * s, s});
        const std::int64_t model = sectors_asked_for(layout);
        const auto read =
            gpu::touched([&] { sum_columns_cuda(memory.view(layout), sums.view({T})); });
        const auto wrote = gpu::touched([&] { ramp_cuda(memory.view(layout)); });
        CHECK(read.has_value() == gpu::is_emulated());
        if (!read || !wrote) continue;
        CHECK(read->requests == J * T / 32 + T / 32);
        CHECK(read->sectors == model + T * 4 / 32);
        CHECK(wrote->requests == J * T / 32);
        CHECK(wrote->sectors == model);
        CHECK(model == count_units(layout, 32).touched);  // warps share no sector
    }
}

TEST_CASE("sums of rows: does adding 1 to threadIdx.x add 1 to the address?",
          "[day02][sweep][small]") {
    // 64 rows of 32. Column-major: neighbours in t are neighbours in memory, 4 sectors a request.
    // Row-major: they are a row apart, and each of a warp's 32 lanes needs a sector of its own.
    const std::int64_t rows = 64, columns = 32;
    const DeviceIn<float> memory(distinct<float>({rows * columns}));
    DeviceOut<float> sums({rows});
    const struct {
        const char* name;
        Layout transposed;  // (columns, rows): sum_columns adds along dim 0
        std::int64_t sectors;
    } cases[] = {{"column-major", Layout({columns, rows}, {rows, 1}), 4},
                 {"row-major", Layout({columns, rows}, {1, columns}), 32}};
    for (const auto& c : cases) {
        CAPTURE(c.name);
        const View<const float> in(memory.view().data, c.transposed);
        const auto touched = gpu::touched([&] { sum_columns_cuda(in, sums.view()); });
        CHECK(sectors_asked_for(c.transposed) == columns * 2 * c.sectors);
        if (touched) CHECK(touched->sectors == columns * 2 * c.sectors + 2 * 4);
    }
    CHECK_NOTHROW(gpu::synchronize());
}

TEST_CASE("gather and pitched: each warp asks once for many neighbours", "[day02][small]") {
    // By hand. 1,024 floats are 128 sectors, read and written: 32 requests each for single floats,
    // 8 each for quads. A transposed (32, 32) has 32 lanes in 32 sectors when read. Rows that
    // begin at no multiple of 32 bytes touch a fifth sector.
    const DeviceIn<float> memory(distinct<float>({4096}));
    DeviceOut<float> out({2048});
    const auto gather = [&](Gather port, const Layout& layout) {
        return [&, port, layout] {
            port({memory.view().data, layout}, {out.view().data, layout.shape}, {});
        };
    };
    const auto pitched = [&](Pitched port, std::int64_t pitch) {
        return [&, port, pitch] {
            port({memory.view().data, pitched_layout(32, 32, pitch)},
                 {out.view().data, Shape{32, 32}}, {});
        };
    };
    const Layout permuted({4, 4, 64}, {64, 256, 1});
    const struct {
        const char* name;
        std::function<void()> launch;
        std::int64_t requests, sectors;
    } ports[] = {
        {"unravel", gather(gather_unravel, permuted), 2 * 32, 2 * 128},
        {"fast_division", gather(gather_fast_division, permuted), 2 * 32, 2 * 128},
        {"by_rank, one full block", gather(gather_by_rank, Layout({32, 64}, {128, 1})), 2 * 64,
         2 * 256},
        {"quads, one full block", gather(gather_quads, Layout({32, 64}, {128, 1})), 2 * 16,
         2 * 256},
        {"straight", gather(gather_cuda, row_major({1024})), 2 * 8, 2 * 128},
        {"transposed", gather(gather_unravel, column_major({32, 32})), 2 * 32, 32 * 32 + 128},
        {"pitched, one element", pitched(pitched_one_element, 40), 2 * 32, 2 * 128},
        {"pitched, single", pitched(pitched_cuda, 41), 2 * 32, 4 * 4 + 28 * 5 + 128},
        {"pitched, 16 bytes", pitched(pitched_cuda, 40), 2 * 8, 2 * 128},
    };
    for (const auto& port : ports) {
        CAPTURE(port.name);
        const auto touched = gpu::touched(port.launch);
        CHECK(touched.has_value() == gpu::is_emulated());  // a GPU does not tell
        if (!touched) continue;
        CHECK(touched->requests == port.requests);
        CHECK(touched->accesses == 32 * port.requests);
        CHECK(touched->sectors == port.sectors);
    }
}

// --- in a graph ----------------------------------------------------------------------------------

TEST_CASE("every launcher only launches, and on the stream that it is given", "[day02][small]") {
    const Layout layout({5, 7, 8}, {8, 48, 1});  // permuted and pitched rows of 8
    const Tensor<float> values = distinct<float>(layout.shape), matrix = distinct<float>({9, 33});
    const DeviceIn<float> in(values, layout), flat(values),
        pitched(matrix, pitched_layout(9, 33, 36));
    const auto check = [&](const Tensor<float>& want, const auto& launch) {
        DeviceOut<float> got(want.shape());
        if (gpu::is_emulated()) {  // which has no graphs: it runs at once
            launch(got.view(), nullptr);
        } else {
            gpu::Graph graph([&](gpu::Stream stream) { launch(got.view(), stream); });
            CHECK(got.untouched());
            graph.launch();
        }
        CHECK(got.matches(want));
    };
    for (const Step& step : kLadder) {
        check(values, [&](auto out, auto stream) { step.gather(in.view(), out, stream); });
    }
    check(values, [&](auto out, auto stream) { gather_quads(in.view(), out, stream); });
    check(values, [&](auto out, auto stream) { gather_straight(flat.view(), out, stream); });
    check(matrix, [&](auto out, auto stream) { pitched_cuda(pitched.view(), out, stream); });
    check(matrix, [&](auto out, auto stream) { pitched_one_element(pitched.view(), out, stream); });
    Tensor<float> sums({33}), counted({9, 33});
    sum_columns_cpu(matrix.view(), sums.view());
    ramp_cpu(counted.view());
    check(sums, [&](auto out, auto stream) { sum_columns_cuda(pitched.view(), out, stream); });
    check(counted, [&](auto out, auto stream) { ramp_cuda(out, stream); });
}

TEST_CASE("0 elements need no memory and no launch", "[day02][small]") {
    const View<float> nothing(nullptr, Shape{3, 0}), none(nullptr, Shape{0});
    for (const Step& step : kLadder) step.gather(nothing, nothing, {});
    gather_straight(nothing, nothing);
    gather_cpu(nothing, nothing);
    pitched_cuda(nothing, nothing);
    pitched_cpu(nothing, nothing);
    sum_columns_cuda(nothing, none);
    ramp_cuda(nothing);
    CHECK_NOTHROW(gpu::synchronize());  // a launch with an empty grid would have thrown by now
}

}  // namespace
