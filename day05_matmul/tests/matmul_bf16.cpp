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

}  // namespace
