// Products of 16-bit elements: every path within the bound of a sum in float, around its fragments,
// tiles and stages.
#include <cmath>
#include <optional>

#include "common/testing/operation/cases.hpp"
#include "day05_matmul/matmul.op.hpp"
#include "day05_matmul/steps/matmul_bf16/operands.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

using B = MatmulBf16Path;
// Paths with 16-byte copies; the last two need Hopper.
const std::vector<B> kInVectors = {B::ring, B::fragments_ahead, B::warpgroups, B::persistent,
                                   B::ping_pong};
const std::vector<B> kOfHopper = {B::warpgroups, B::persistent, B::ping_pong};

const Placement kRows = {MatrixOrder::gaps}, kColumns = {MatrixOrder::column_gaps};

// Random numbers, in rows that begin at multiples of 16 bytes whatever their length.
Product product(const Size& s, const Epilogue& then = {}, bool bias = false) {
    return {s.M, s.N, s.K, then, bias ? 1 : 0, kRows, kRows, {}, {}, {}, true};
}
Product in_columns(Product p) {
    p.a = p.b = kColumns;
    return p;
}

template <class T = bf16, class Out = float>
void check_all(const Product& p) {
    CHECK(computes_its_result(matmul_bf16_operation<T, Out>(p)));
}

// By one path. `kept`: the exact results of other calls with these inputs. Computing them takes
// seconds, and the CPU reference takes longer: smaller cases check the reference.
using Kept = std::vector<Expected>;
template <class T = bf16, class Out = float>
void check(B path, const Product& p, Kept* kept = nullptr) {
    Operation op = by_path(matmul_bf16_operation<T, Out>(p), path);
    if (kept != nullptr) {
        op.cpu = {};
        op.exact = [kept, exact = op.exact](const Inputs& inputs, int of) {
            if (kept->empty()) *kept = exact(inputs, of);
            return *kept;
        };
    }
    CHECK(computes_its_result(op));
}

// a and b in rows and in columns, each of the four pairs.
template <class F>
void for_each_order(const F& f) {
    for (const Placement& a : {kRows, kColumns}) {
        for (const Placement& b : {kRows, kColumns}) f(a, b);
    }
}

// The shared memory that the emulator and Hopper allow a block; and the emulator's ring of 128 x
// 192, three stages.
constexpr std::size_t kEmulated = 163 * 1024, kOnHopper = 227 * 1024, kEmulatedRing = 120 * 1024;

// Which tiles do steps 6 and 7 take here?
RingCut cut_here(const Size& s) {
    const int multiprocessors = gpu::multiprocessors();
    return gpu::is_emulated() ? cut_for_hopper(s.M, s.N, multiprocessors, kEmulated, kEmulatedRing)
                              : cut_for_hopper(s.M, s.N, multiprocessors, kOnHopper);
}

// --- the CPU reference ---------------------------------------------------------------------------

TEST_CASE("matmul_bf16_cpu gives the results worked by hand", "[day05][matmul_bf16][small]") {
    const Tensor<float> numbers({2, 3}, {1, 2, 3, 4, 5, 6}), others({3, 2}, {7, 8, 9, 10, 11, 12});
    Tensor<bf16> a({2, 3}), b({3, 2});
    for (int i = 0; i < 6; ++i) {
        a.data()[i] = bf16(numbers.data()[i]), b.data()[i] = bf16(others.data()[i]);
    }
    Tensor<float> out({2, 2});
    const Tensor<float> bias({2}, {100, -1000});
    matmul_bf16_cpu<bf16>(a.view(), b.view(), {}, out.view());
    CHECK((out(0, 0) == 58 && out(0, 1) == 64 && out(1, 0) == 139 && out(1, 1) == 154));
    matmul_bf16_cpu<bf16>(a.view(), b.view(), {.bias = bias.view(), .relu = true}, out.view());
    CHECK((out(0, 0) == 158 && out(0, 1) == 0 && out(1, 0) == 239 && out(1, 1) == 0));
}

TEST_CASE("matmul_bf16: sums are float, and sums in bf16 exceed the bound",
          "[day05][matmul_bf16][small]") {
    // 1 + 256 * 2^-9: in bf16, where 1 + 2^-9 is 1, nothing would ever be added.
    Operation op = matmul_bf16_operation<bf16>({1, 1, 257, {}, 0, {}, {}, {}, {}, {}, true});
    op.operands[0].with([](std::int64_t k) { return k == 0 ? 1 : 0x1p-9; });
    op.operands[1].with(all_equal_to(1));
    const std::vector<float> sum = {1.5f};
    know(op, sum);
    CHECK(computes_its_result(op));
    op.cuda = {};
    op.cpu = [](const Call& c) {
        bf16 worse(0);
        for (std::int64_t k = 0; k < 257; ++k) {
            worse = bf16(static_cast<float>(worse) + static_cast<float>(c.in<bf16>(0)(0, k)));
        }
        c.out<float>(2)(0, 0) = static_cast<float>(worse);
    };
    CHECK_FALSE(computes_its_result(op));
}

// --- every path ----------------------------------------------------------------------------------

TEST_CASE("matmul_bf16: every path is correct with any epilogue", "[day05][matmul_bf16][small]") {
    const Size s{35, 21, 40};
    check_all(product(s));
    check_all(product(s, {.alpha = -2}));
    check_all(product(s, {.beta = 3}));
    check_all(product(s, {}, true));
    check_all(product(s, {.relu = true}));
    check_all(product(s, {.swish = true}));
    check_all(product(s, {.alpha = 0.75f, .beta = -1.5f, .swish = true}, true));
    check_all(product(s, {.alpha = 0.75f, .beta = -1.5f, .relu = true}, true));
    check_all<f16>(product(s, {.alpha = 0.75f, .beta = -1.5f, .relu = true}, true));
}

TEST_CASE("matmul_bf16: outputs of 16 bits are rounded once, by every path that stores them",
          "[day05][matmul_bf16][small]") {
    const Epilogue most = {.alpha = 0.75f, .beta = -1.5f, .relu = true};
    const auto check_size = [&](const Size& s) {
        check_all<bf16, bf16>(product(s));
        check_all<bf16, bf16>(product(s, {.beta = 3, .relu = true}, true));
        check_all<f16, f16>(product(s, most, true));
        check_all<bf16, bf16>(product(s, {.swish = true}));
        Product exact = product(s, {.beta = 1}, true);
        exact.floats = false;  // sums of integers, which have one right rounding
        check_all<bf16, bf16>(exact);
        check_all<f16, f16>(exact);
    };
    check_size({35, 21, 40});
    check_size({130, 136, 72});
    for (const MatrixOrder order : kAllOrders) {
        check_all<bf16, bf16>({19, 16, 21, {.beta = 1}, 0, kRows, kRows, {order}});
        check_all<f16, f16>({19, 16, 21, {}, 0, {order}, kRows, {order, 1}});
    }
    CHECK(spreads_nans_alike(matmul_bf16_operation<bf16, bf16>({128, 128, 16, {.relu = true}, 0})));
}

TEST_CASE("matmul_bf16: a NaN stays a NaN, through ReLU too", "[day05][matmul_bf16][small]") {
    // Tiles that are all edges, and one in the interior.
    CHECK(spreads_nans_alike(
        matmul_bf16_operation<f16>({40, 24, 40, {.alpha = -2, .beta = 3, .relu = true}})));
    CHECK(spreads_nans_alike(matmul_bf16_operation<bf16>({128, 128, 16, {.relu = true}, 0})));
}

TEST_CASE("matmul_bf16: every path is correct in any layout", "[day05][matmul_bf16][small]") {
    for (const MatrixOrder order : kAllOrders) {
        for (const MatrixOrder other :
             {MatrixOrder::gaps, MatrixOrder::column_gaps, MatrixOrder::flipped}) {
            check_all({19, 11, 21, {}, 0, {order}, {other}});
            check_all({19, 11, 21, {}, 0, {other}, {order}});
        }
        check_all({19, 11, 21, {}, 0, kRows, kRows, {order}});
        check_all<f16>({19, 11, 21, {}, 0, {order, 1}, {order, 1}});
    }
    for_each_order([](const Placement& a, const Placement& b) {
        check_all<f16>({9, 3, 70, {}, 0, {a.order, 8}, {b.order, 8}});
    });
}

TEST_CASE("matmul_bf16: tiles are correct without each single alignment guarantee",
          "[day05][matmul_bf16][small]") {
    const auto check_tile = [](const Size& s, const Placement& a, const Placement& b,
                               const Placement& out, int bias = 0) {
        check(B::tile, {s.M, s.N, s.K, {}, bias, a, b, out, {}, {}, true});
    };
    const Size s{136, 144, 72};
    for_each_order([&](const Placement& a, const Placement& b) { check_tile(s, a, b, {}); });
    for (const Size& odd : {Size{137, 144, 72}, {136, 145, 72}, {136, 144, 73}}) {
        check_tile(odd, kRows, kRows, {});
    }
    check_tile(s, {MatrixOrder::gaps, 1}, kRows, {});
    check_tile(s, kRows, {MatrixOrder::gaps, 1}, {});
    check_tile(s, kRows, kRows, {MatrixOrder::row_major, 1});
    for (const MatrixOrder order : {MatrixOrder::odd_gaps, MatrixOrder::every_other}) {
        check_tile(s, {order}, kRows, {});
        check_tile(s, kRows, {order}, {});
        check_tile(s, kRows, kRows, {order});
    }
    check_tile(s, kRows, kRows, {MatrixOrder::column_major}, 1);
}

TEST_CASE("matmul_bf16: every path is correct around a fragment, a tile and the ring",
          "[day05][matmul_bf16][small]") {
    for (const std::int64_t K : {1, 7, 8, 15, 16, 17, 63, 64, 65, 200}) {
        check_all(product({5, 9, K}));
    }
    for (const auto& [M, N] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {1, 1}, {15, 7}, {16, 8}, {17, 9}, {63, 65}, {65, 63}, {127, 129}, {129, 127}}) {
        check_all(product({M, N, 24}));
    }
    check(B::fragments_ahead, product({129, 128, 136}));  // one interior tile
}

// The stride of a dimension of extent 1 is never used and may be any number. But tiles also address
// rows beyond the matrix, and even a copy of 0 bytes must start at a multiple of 16 bytes.
void check_unused_strides(const std::vector<std::int64_t>& extents) {
    const auto check_size = [](const Size& s) {
        for_each_order([&](const Placement& a, const Placement& b) {
            Operation op = matmul_bf16_operation<bf16>({s.M, s.N, s.K, {}, 0, a, b});
            for (Operand& x : op.operands) {
                for (int d = 0; d < 2; ++d) {
                    if (x.shape[d] == 1) x.layout->strides[d] = 13;
                }
            }
            CHECK(computes_its_result(op));
        });
    };
    for (const std::int64_t M : extents) {
        for (const std::int64_t N : extents) {
            for (const std::int64_t K : extents) {
                if (M == 1 || N == 1 || K == 1) check_size({M, N, K});
            }
        }
    }
}
TEST_CASE("matmul_bf16: the stride of a single row or column is ignored",
          "[day05][matmul_bf16][small]") {
    check_unused_strides({1, 3, 32});
}
TEST_CASE("matmul_bf16: the stride of all small rows and columns is ignored",
          "[day05][matmul_bf16][full]") {
    check_unused_strides({1, 2, 3, 7, 8, 9, 16, 32});
}

// --- rings and tiles -----------------------------------------------------------------------------

// A ring wraps around several times. Steps 6 and 7 have four tiles of 128 x 128 where there are
// four SMs, as on the emulator, and else tiles of 64 x 64.
TEST_CASE("matmul_bf16: a ring wraps around over many tiles", "[day05][matmul_bf16][small]") {
    for (const B path : kInVectors) {
        if (path >= B::warpgroups) check(path, product({129, 129, 600}));
        check(path, product({65, 72, 600}));
        check<f16>(path, in_columns(product({65, 72, 600})));
    }
}

// More tiles of outputs than persistent blocks, with more stages than the ring has and with fewer:
// the ring continues from one tile to the next. (On a GPU, which runs many blocks: the same with
// [huge].)
TEST_CASE("matmul_bf16: a persistent kernel computes all tiles", "[day05][matmul_bf16][small]") {
    for (const std::int64_t K : {40, 136, 328}) {
        check(B::persistent, product({700, 130, K}));
        check<f16>(B::persistent, in_columns(product({130, 700, K}, {}, true)));
        // Fifteen tiles of 64 x 64, two blocks on each of four SMs.
        check(B::persistent, product({257, 129, K}, {}, true));
        // Six of 128 x 128.
        check(B::persistent, product({300, 250, K}, {}, true));
    }
    // More than 16 tiles down, and two across.
    check(B::persistent, product({2200, 264, 72}));
}

// In step 8 the consumers take tiles of 128 x 128 in turn, on the four SMs of the emulator: one tile
// (the second consumer has none), one more than each consumer's first, an odd and an even number,
// for fewer and more stages than the ring has, and none; and the ring ends a tile at every stage.
TEST_CASE("matmul_bf16: consumers take turns over the tiles", "[day05][matmul_bf16][small]") {
    for (const std::int64_t K : {0, 40, 136, 200, 264, 328}) {
        CAPTURE(K);
        check(B::ping_pong, product({100, 120, K}));
        check(B::ping_pong, product({640, 128, K}));
        check<f16>(B::ping_pong, in_columns(product({130, 1148, K}, {}, true)));
        check(B::ping_pong, product({700, 252, K}, {.beta = 1}, true));
    }
    check(B::ping_pong, product({2200, 264, 72}));
}

// 128 x 192 outputs, on the four SMs of the emulator: whole tiles, each edge alone, all together in
// each layout, one tile per SM and more; and rows of k's for more stages than the ring has. (A GPU
// cuts these into other tiles; larger ones are tested with [huge].)
TEST_CASE("matmul_bf16: tiles of 128 x 192 are correct", "[day05][matmul_bf16][small]") {
    for (const B path : kOfHopper) {
        for (const Size& s : std::vector<Size>{{256, 384, 256},
                                               {250, 384, 64},
                                               {256, 380, 64},
                                               {256, 384, 72},
                                               {130, 700, 264}}) {
            CAPTURE(s.M, s.N);
            if (gpu::is_emulated()) CHECK(cut_here(s) == RingCut::middle);
            check<f16>(path, product(s, {.alpha = 0.75f, .relu = true}, true));
        }
        for_each_order([&](const Placement& a, const Placement& b) {
            check(path, {250, 380, 200, {}, 0, a, b, {}, {}, {}, true});
        });
    }
}

// Outputs of a whole tile are stored in pairs: each condition of that is violated alone.
TEST_CASE("matmul_bf16: outputs are stored in pairs or singly", "[day05][matmul_bf16][small]") {
    const auto all = [](B path) {
        const auto check_pairs = [&](const Epilogue& then, bool bias = false,
                                     const Placement& out = {}) {
            Product p = product({128, 128, 16}, then, bias);
            p.out = out;
            check(path, p);
        };
        check_pairs({});
        check_pairs({.alpha = -2});
        check_pairs({.relu = true});
        check_pairs({}, true);
        check_pairs({.alpha = 0.75f, .relu = true}, true);
        check_pairs({.swish = true}, true);
        check_pairs({.beta = 3});
        check_pairs({.alpha = 0.75f, .beta = -1.5f, .relu = true}, true);
        check_pairs({.beta = 3}, false, {MatrixOrder::gaps});
        check_pairs({.beta = 3}, false, {MatrixOrder::row_major, 1});
        check_pairs({}, false, {MatrixOrder::gaps});
        check_pairs({}, false,
                    {MatrixOrder::odd_gaps});  // every other row begins between two pairs
        check_pairs({}, false, {MatrixOrder::every_other});   // columns are not contiguous
        check_pairs({}, false, {MatrixOrder::column_major});  // nor are they here
        check_pairs({}, false, {MatrixOrder::row_major, 1});
        check_pairs({}, false, {MatrixOrder::row_major, 2});
        check(path, product({127, 128, 16}));
        check(path, product({128, 127, 16}));
    };
    const Epilogue some = {.alpha = 0.75f, .relu = true};
    all(B::shared_tiles);
    check(B::fragments_ahead, product({128, 128, 64}, some, true));
    for (const B path : kOfHopper) {
        all(path);
        // The same with tiles of 128 x 128, where four are one per SM.
        check(path, product({256, 256, 16}, some, true));
        check(path, product({255, 256, 16}));
        check(path, product({256, 255, 16}));
    }
}

// Step 7 stores whole lines of an interior tile if rows of out begin at vectors.
TEST_CASE("matmul_bf16: outputs are stored in whole lines", "[day05][matmul_bf16][small]") {
    const Epilogue some = {.alpha = 0.75f, .relu = true};
    for (const std::int64_t N : {256, 388, 390}) {  // 390: every other row begins between two
        check(B::persistent, product({256, N, 72}));
        check<f16>(B::persistent, product({140, N, 24}, some, true));
    }
    for (const std::int64_t N : {132, 134}) {  // the same with tiles of 64 x 64
        check<f16>(B::persistent, product({100, N, 24}, some, true));
    }
}

// Step 8 stores by the copy engine: rows of out must be whole pieces of 16 bytes, at multiples of that,
// and sums neither scaled nor the argument of swish. Anything else is rejected.
TEST_CASE("matmul_bf16: outputs are stored by the copy engine", "[day05][matmul_bf16][small]") {
    const Epilogue more = {.beta = 2, .relu = true};
    for (const std::int64_t N : {128, 132, 134, 131, 136, 264}) {
        CAPTURE(N);
        for (const Epilogue& then : {Epilogue{}, Epilogue{.alpha = 0.75f}, more}) {
            for (const bool bias : {false, true}) {
                check(B::ping_pong, product({130, N, 72}, then, bias));
                check<bf16, bf16>(B::ping_pong, product({130, N, 72}, then, bias));
            }
        }
        Product apart = product({130, N, 72}, more, true);
        apart.bias_stride = -3;
        check(B::ping_pong, apart);
        check<f16>(B::ping_pong, product({64, N, 24}, {.swish = true}, true));
        check<f16>(B::ping_pong, product({1, N, 24}));
    }
}

// More tiles down than one group of eight, and more than one group: every tile is computed.
TEST_CASE("matmul_bf16: every one of many tiles is computed", "[day05][matmul_bf16][full]") {
    for (const B path : {B::shared_tiles, B::ring, B::fragments_ahead, B::warpgroups, B::persistent,
                         B::ping_pong}) {
        check(path, product({128 * 9 + 3, 128 * 2 + 1, 16}));
    }
}

// Tiles entirely in the matrix and partial ones, and more of them than the ring has stages.
TEST_CASE("matmul_bf16: whole and partial tiles are correct", "[day05][matmul_bf16][full]") {
    for_each_order([](const Placement& a, const Placement& b) {
        for (const B path : kInVectors) {
            check(path, {140, 150, 267, {}, 0, a, b, {}, {}, {}, true});
            check<f16>(path, {128, 128, 256, {}, 0, a, b, {}, {}, {}, true});
        }
    });
}

// 128 x 256 tiles, on a GPU that has enough SMs; and more of them than the ring has stages.
TEST_CASE("matmul_bf16: the wide ring is correct", "[day05][matmul_bf16][huge]") {
    Kept plain, with_more, middle;
    for_each_order([&](const Placement& a, const Placement& b) {
        for (const B path : kInVectors) {
            check(path, {2050, 3100, 600, {}, 0, a, b, {}, {}, {}, true}, &plain);
        }
        // 128 x 192, in every layout.
        for (const B path : kOfHopper) {
            check(path, {2050, 2100, 400, {}, 0, a, b, {}, {}, {}, true}, &middle);
        }
    });
    for (const B path : kInVectors) {
        check<f16>(path, product({2050, 3100, 600}, {.beta = 3}, true), &with_more);
    }
    // Whole lines of 128 x 256 tiles; 128 x 128, more than one per SM; and 64 x 64, more than two.
    check(B::persistent, product({2050, 3100, 16}, {.alpha = -2, .relu = true}, true));
    check(B::persistent, product({2050, 1900, 72}));
    check(B::persistent, product({300, 5750, 264}, {}, true));
    // Step 8 with more tiles than SMs have consumers.
    for_each_order([&](const Placement& a, const Placement& b) {
        check(B::ping_pong, {2500, 2600, 600, {}, 0, a, b, {}, {}, {}, true});
    });
}

// On a GPU, since the emulator has too few SMs and too short rings: tiles of 128 x 128 and of 128 x
// 192, all whole, each edge alone, and all together in each layout.
TEST_CASE("matmul_bf16: square and middle tiles compute every edge", "[day05][matmul_bf16][huge]") {
    struct Sizes {
        RingCut cut;
        Size whole, some;  // `some` is ragged in M, N and K
    };
    // For an H100 or H200; other GPUs cut other tiles.
    const bool as_measured = runs_hopper() && gpu::multiprocessors() == 132;
    for (const auto& [cut, whole, some] :
         {Sizes{RingCut::square, {1152, 1024, 64}, {1056, 1000, 600}},
          Sizes{RingCut::middle, {1024, 2304, 64}, {1000, 2250, 392}}}) {
        for (const Size& s : {whole, Size{some.M, whole.N, whole.K}, Size{whole.M, some.N, whole.K},
                              Size{whole.M, whole.N, whole.K + 8}}) {
            CAPTURE(s.M, s.N);
            if (as_measured) CHECK(cut_here(s) == cut);
            Kept exact;
            for (const B path : kOfHopper) check(path, product(s), &exact);
        }
        if (as_measured) CHECK(cut_here(some) == cut);
        Kept exact, with_more;
        for (const B path : kOfHopper) {
            for_each_order([&, &s = some](const Placement& a, const Placement& b) {
                check(path, {s.M, s.N, s.K, {}, 0, a, b, {}, {}, {}, true}, &exact);
            });
            check<f16>(path, product(some, {.beta = 3}, true), &with_more);
        }
    }
}

// --- what is rejected, and the choice ------------------------------------------------------------

TEST_CASE("matmul_bf16: a path reports what it needs", "[day05][matmul_bf16][small]") {
    alignas(16) static bf16 memory[2][1024];
    const auto of = [&](int i, const Layout& layout) {
        return View<const bf16>(memory[i], layout);
    };
    const auto needs = [&](B path, const Layout& a, const Layout& b) {
        const Shape out{a.extent(0), b.extent(1)};
        return rejection([&] {
            check_matmul_bf16<bf16>(
                of(0, a), of(1, b), {},
                View<float>{reinterpret_cast<float*>(std::uintptr_t{1} << 40), out}, path);
        });
    };
    const Layout a = row_major({16, 24}), b = row_major({24, 32}), odd({16, 24}, {25, 1});
    CHECK(
        needs(B::ring, odd, b) ==
        "matmul_bf16: the path 'ring' needs a and b whose rows, or columns, are contiguous and "
        "begin at multiples of 16 bytes; a has shape (16, 24), strides (25, 1), b shape (24, 32), "
        "strides (32, 1), out shape (16, 32), strides (32, 1)");
    CHECK(contains(needs(B::persistent, odd, b),
                   runs_hopper()
                       ? "needs a and b whose rows, or columns, are contiguous, begin at "
                         "multiples of 16 bytes and do not overlap; a has"
                       : "needs a GPU of compute capability 9.0 (Hopper), or the emulator"));
    if (runs_hopper()) {
        const View<float> apart(reinterpret_cast<float*>(std::uintptr_t{1} << 40),
                                Layout({16, 32}, {33, 1}));
        CHECK(
            contains(rejection([&] {
                         check_matmul_bf16<bf16>(of(0, a), of(1, b), {}, apart, B::ping_pong);
                     }),
                     "the path 'ping-pong' needs alpha = 1, no swish, and an out whose rows are "
                     "contiguous, begin and end at multiples of 16 bytes and do not overlap; a "));
    }
    const View<bf16> halves(reinterpret_cast<bf16*>(std::uintptr_t{1} << 40), {16, 32});
    CHECK(contains(
        rejection([&] { check_matmul_bf16<bf16>(of(0, a), of(1, b), {}, halves, B::ring); }),
        "the path 'ring' needs an out of floats; a has"));
    const Layout high({kMostRows + 1, 24}, {0, 1}), tall({8 * kMostRows + 1, 24}, {0, 1});
    CHECK(contains(needs(B::one_element, high, b), "needs at most 524280 rows of out"));
    CHECK(contains(needs(B::one_warp, tall, b), "needs at most 4194240 rows of out"));
    CHECK(needs(B::one_element, Layout({kMostRows, 24}, {0, 1}), b) == "");
    // Rows too far apart, or 2^31 rows or columns, are vectors, but TMA supports no tiles of them.
    constexpr std::int64_t kMany = std::int64_t{1} << 31, kFar = std::int64_t{1} << 38;
    for (const auto& [x, path] :
         std::vector<std::pair<Layout, B>>{{a, B::persistent},
                                           {Layout({16, 24}, {kFar - 8, 1}), B::persistent},
                                           {Layout({16, 24}, {kFar, 1}), B::fragments_ahead},
                                           {Layout({kMany - 1, 24}, {24, 1}), B::persistent},
                                           {Layout({kMany, 24}, {24, 1}), B::fragments_ahead},
                                           {Layout({16, kMany - 8}, {kMany, 1}), B::persistent},
                                           {Layout({16, kMany}, {kMany, 1}), B::fragments_ahead}}) {
        CAPTURE(to_string(x));
        const Layout other = row_major({x.extent(1) < 64 ? x.extent(1) : 24, 32});
        const auto best = [](View<const bf16> left, View<const bf16> right) {
            const Layout out = row_major({left.extent(0), right.extent(1)});
            return choose_matmul_bf16<bf16>(left, right, {.alpha = 2}, View<float>{nullptr, out},
                                            true);
        };
        CHECK(best(of(0, x), of(1, other)) == path);
        CHECK(best(of(0, transpose(other)), of(1, transpose(x))) == path);
    }
}

TEST_CASE("matmul_bf16: consumers take turns where that was measured to be faster",
          "[day05][matmul_bf16][small]") {
    struct Row {
        std::int64_t M, N, K;
        bool turns;
    };
    for (const Row& r : std::vector<Row>{{2048, 2048, 1024, true},
                                         {2048, 2048, 8192, true},
                                         {8192, 8192, 8192, true},
                                         {8192, 8192, 8193, false},
                                         {16384, 16384, 1024, true},
                                         {1024, 768, 768, false},
                                         {1024, 768, 3072, false},  // small tiles
                                         {1024, 2304, 768, false},
                                         {1024, 3072, 768, false},  // eight for six
                                         {4096, 768, 768, false},
                                         {4096, 768, 3072, false},
                                         {4096, 2304, 768, true},
                                         {4096, 3072, 768, true},  // 20 for 18, 24
                                         {16384, 768, 3072, true},
                                         {16384, 3072, 768, true},
                                         {16384, 50257, 768, true}}) {
        CAPTURE(r.M, r.N, r.K);
        CHECK(takes_turns(r.M, r.N, r.K, 132) == r.turns);
    }
    // 20 K < 18 (K + 192) as long as K < 1728; and half of the work with small tiles, or just more.
    CHECK(takes_turns(4096, 2304, 1727, 132));
    CHECK(!takes_turns(4096, 2304, 1728, 132));
    CHECK(!takes_turns(1024, 768, 64, 96));  // two for four
    CHECK(takes_turns(1024, 768, 64, 95));   // three for four
}

TEST_CASE("matmul_bf16: which outputs the copy engine can store", "[day05][matmul_bf16][small]") {
    alignas(16) float memory[64] = {};
    const auto lies = [&](const Shape& shape, const Strides& strides, int first = 0) {
        return lies_in_boxes(View<float>(memory + first, Layout(shape, strides)));
    };
    CHECK(lies({4, 8}, {8, 1}));
    CHECK(lies({4, 8}, {12, 1}));
    CHECK(lies({2, 4, 8}, {36, 8, 1}));
    CHECK(!lies({2, 4, 8}, {33, 8, 1}));  // the second matrix
    CHECK(lies({1, 8}, {3, 1}));          // a single row's stride is unused
    CHECK(!lies({2, 8}, {4, 1}));         // rows overlap
    CHECK(!lies({2, 8}, {-8, 1}));
    CHECK(!lies({4, 8}, {9, 1}));   // rows begin between pieces of 16 bytes
    CHECK(!lies({4, 9}, {12, 1}));  // and end there
    CHECK(!lies({4, 8}, {8, 2}));
    CHECK(!lies({4, 8}, {8, 1}, 2));
    CHECK(lies({4, 8}, {8, 1}, 4));
    const std::int64_t many = std::int64_t{1} << 31, far = std::int64_t{1} << 37;
    CHECK(lies({2, many - 4}, {many, 1}));
    CHECK(!lies({2, many}, {many, 1}));
    CHECK(lies({many - 1, 4}, {4, 1}));
    CHECK(!lies({many, 4}, {4, 1}));
    CHECK(lies({2, 4}, {far - 4, 1}));
    CHECK(!lies({2, 4}, {far, 1}));

    // 16 bits: eight in a piece.
    alignas(16) bf16 halves[64] = {};
    const auto lies_16 = [&](const Shape& shape, const Strides& strides, int first = 0) {
        return lies_in_boxes(View<bf16>(halves + first, Layout(shape, strides)));
    };
    CHECK(lies_16({4, 8}, {16, 1}));
    CHECK(!lies_16({4, 12}, {16, 1}));
    CHECK(!lies_16({4, 8}, {12, 1}));
    CHECK(!lies_16({4, 8}, {8, 1}, 4));
    CHECK(lies_16({2, 8}, {2 * far - 8, 1}));
    CHECK(!lies_16({2, 8}, {2 * far, 1}));

    const View<float> out(memory, Layout({4, 8}, {8, 1})), odd(memory, Layout({4, 8}, {9, 1}));
    CHECK(leaves_by_engine({.beta = 3, .relu = true}, out));
    CHECK(!leaves_by_engine({}, odd));
    CHECK(!leaves_by_engine({.alpha = 2}, out));
    CHECK(!leaves_by_engine({.swish = true}, out));
}

TEST_CASE("matmul_bf16: epilogue and outputs take part in the choice of a path",
          "[day05][matmul_bf16][small]") {
    if (!runs_hopper()) return;
    const std::int64_t M = 128 * gpu::multiprocessors();  // one tile of 128 x 128 per SM
    const auto best = [M](const Epilogue& then, std::int64_t pitch) {
        const View<const bf16> a(nullptr, Layout({M, 64}, {64, 1})),
            b(nullptr, Layout({64, 128}, {128, 1}));
        const View<float> out(nullptr, Layout({M, 128}, {pitch, 1}));
        return choose_matmul_bf16<bf16>(a, b, then, out, true);
    };
    CHECK(best({}, 128) == B::ping_pong);
    CHECK(best({}, 130) == B::persistent);
    CHECK(best({.beta = 1}, 128) == B::ping_pong);
    CHECK(best({.alpha = 2}, 128) == B::persistent);
    // Rows of a, and of b, between cache lines.
    const auto with_pitches = [M](std::int64_t of_a, std::int64_t of_b) {
        const View<const bf16> x(nullptr, Layout({M, 64}, {of_a, 1})),
            y(nullptr, Layout({64, 128}, {1, of_b}));
        return choose_matmul_bf16<bf16>(x, y, {}, View<float>(nullptr, Layout({M, 128}, {128, 1})),
                                        true);
    };
    CHECK(with_pitches(128, 64) == B::ping_pong);
    CHECK(with_pitches(72, 64) == B::persistent);
    CHECK(with_pitches(64, 72) == B::persistent);
    // On Hopper only ping_pong stores 16 bits.
    const View<const bf16> a(nullptr, Layout({M, 64}, {64, 1})),
        b(nullptr, Layout({64, 128}, {128, 1}));
    const View<bf16> narrow(nullptr, Layout({M, 128}, {128, 1}));
    CHECK(choose_matmul_bf16<bf16>(a, b, {.beta = 1}, narrow, true) == B::ping_pong);
    CHECK(choose_matmul_bf16<bf16>(a, b, {.alpha = 2}, narrow, true) == B::fragments_ahead);
    CHECK(choose_matmul_bf16<bf16>(a, b, {}, narrow, false) == B::fragments_ahead);
}

TEST_CASE("matmul_bf16: the cut balances the work of the SMs", "[day05][matmul_bf16][small]") {
    const std::size_t most = kOnHopper;
    CHECK(cut_for_ring(4096, 4096, 132, most) == RingCut::wide);
    CHECK(cut_for_ring(4096, 4096, 132, kWideRing - 1) == RingCut::square);
    CHECK(cut_for_ring(128 * 11, 256 * 12, 132, most) == RingCut::wide);
    CHECK(cut_for_ring(128 * 11, 256 * 12, 133, most) == RingCut::square);
    CHECK(cut_for_ring(128 * 10 + 1, 256 * 11 + 1, 132, most) == RingCut::wide);
    CHECK(cut_for_ring(128 * 10, 256 * 11 + 1, 132, most) == RingCut::square);
    CHECK(cut_for_ring(128 * 10 + 1, 256 * 11, 132, most) == RingCut::square);
    // Work of the busiest SM in steps 6 and 7, in tiles of 64 x 64: small for square, middle, wide.
    constexpr auto small = RingCut::small, square = RingCut::square, middle = RingCut::middle,
                   wide = RingCut::wide;
    struct Row {
        std::int64_t M, N;
        RingCut cut, with_less;  // shared memory
    };
    for (const Row& r :
         std::vector<Row>{{1024, 768, small, small},                 // two for four, six, eight
                          {1056, 1024, square, square},              // three for four, six, eight
                          {128 * 11, 128 * 12, square, square},      // four for four, six, eight
                          {128 * 11 + 1, 128 * 12, middle, square},  // five for eight, six, eight
                          {128 * 11, 128 * 12 + 1, middle, square},
                          {1024, 2304, middle, square},
                          {4096, 768, middle, square},
                          {4096, 2304, middle, square},  // 18 for 20, 18, 24
                          {4096, 3072, wide, square},    // 24 each
                          {8192, 2304, wide, square},    // 36 for 36, 36, 40: not a tenth less
                          {2050, 3100, wide, square},    // as the [huge] case needs it
                          {2050, 2100, middle, square},
                          {2050, 1900, square, square},
                          {300, 5750, small, small},  // four for eight
                          {16384, 16384, wide, square}}) {
        CAPTURE(r.M, r.N);
        CHECK(cut_for_hopper(r.M, r.N, 132, most) == r.cut);
        CHECK(cut_for_hopper(r.M, r.N, 132, kMiddleRing) == r.cut);
        CHECK(cut_for_hopper(r.M, r.N, 132, kMiddleRing - 1) == r.with_less);
    }
    // The emulator has a ring for middle tiles, and none for wide ones.
    const std::size_t ring = kEmulatedRing;
    CHECK(cut_for_hopper(256, 384, 4, kEmulated, ring) == middle);  // six for eight
    CHECK(cut_for_hopper(256, 384, 4, ring, ring) == middle);
    CHECK(cut_for_hopper(256, 384, 4, ring - 1, ring) == square);
    CHECK(cut_for_hopper(300, 250, 4, kEmulated, ring) == square);    // eight for twelve
    CHECK(cut_for_hopper(4096, 4096, 4, kEmulated, ring) == square);  // wide ones would fit
    CHECK(cut_for_hopper(1024, 768, 96, most) == small);              // two for four
    CHECK(cut_for_hopper(1024, 768, 95, most) == square);             // three for four
    CHECK(cut_for_hopper(1024, 2304, 144, most) == square);
}

}  // namespace
