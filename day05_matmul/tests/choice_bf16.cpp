// Products of 16-bit elements: what each path needs, and the choice among paths and tiles.
#include "common/testing/operation/cases.hpp"
#include "day05_matmul/matmul.op.hpp"
#include "day05_matmul/steps/matmul_bf16/operands.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

using B = MatmulBf16Path;

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
