// Particular calls of attention of 16-bit numbers: sizes around fragments and tiles, near misses,
// NaNs and infinities.
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16.op.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

template <class T = bf16>
void check(const Attending& a) {
    CHECK(computes_its_result(attention_bf16_operation<T>(a)));
}

TEST_CASE("attention_bf16: a result worked by hand", "[day06][attention_bf16][small]") {
    // Scores log 1, log 3 (0 and 1, scaled): weights 1/4 and 3/4 of the values 8 and 16.
    Tensor<bf16> q({1, 1}), k({2, 1}), v({2, 1}), out({1, 1});
    q(0, 0) = bf16(1), k(0, 0) = bf16(0), k(1, 0) = bf16(1), v(0, 0) = bf16(8), v(1, 0) = bf16(16);
    Tensor<float> log_sums({1});
    attention_bf16_cpu<bf16>(q.view(), k.view(), v.view(), {.scale = std::log(3.0f)}, out.view(),
                             log_sums.view());
    CHECK(static_cast<float>(out(0, 0)) == 14);
    CHECK(std::fabs(log_sums(0) - std::log(4.0)) < 1e-6);
    // The first of two tokens sees only one key.
    Tensor<bf16> two({2, 1}), answers({2, 1});
    two(0, 0) = two(1, 0) = bf16(1);
    attention_bf16_cpu<bf16>(two.view(), k.view(), v.view(), {.scale = std::log(3.0f)},
                             answers.view());
    CHECK(static_cast<float>(answers(0, 0)) == 8);
    CHECK(static_cast<float>(answers(1, 0)) == 14);
}

// --- sizes ---------------------------------------------------------------------------------------

TEST_CASE("attention_bf16: accepts tokens, keys and head widths around fragments and tiles",
          "[day06][attention_bf16][small]") {
    for (const std::int64_t n : {1, 15, 17, 63, 65, 129}) check({{1}, n, n, 64});
    check({{3}, 200, 100, 64});  // step 4: a section of two heads, then one of one
    // 390: step 4 goes around its ring of tiles twice.
    for (const std::int64_t S : {1, 64, 65, 130, 390}) {
        check({{2}, 3, S, 64});
        check<f16>({{1}, 40, S, 64, false});
    }
    // One key less than a tile: the padding must be masked.
    for (const std::int64_t S : {63, 127}) check({{1}, 3, S, 64, false});
    for (const std::int64_t D : {8, 56, 72, 128}) check<f16>({{1}, 5, 70, D});
    check({{1}, 70, 5, 64});  // 65 tokens see no key
    check({{1}, 5, 0, 64, false});
    check({{2}, 5, 7, 12});  // no whole vectors: only the twin supports it
    check({{1}, 2, 3, 136});
}

TEST_CASE("attention_bf16: scale, length, and a maximum that grows from tile to tile",
          "[day06][attention_bf16][small]") {
    check({{1}, 20, 70, 64, false, 0.3f});
    for (const std::int64_t counted : {0, 1, 19, 20, 64, 100, 140}) {
        for (const bool causal : {true, false}) check({{1}, 20, 140, 64, causal, 0, counted});
    }
    // Growing parallel keys: every tile raises the maximum. Shrinking: only the first one sets it.
    for (const bool grow : {true, false}) {
        Operation steep = attention_bf16_operation<f16>({{1}, 18, 200, 64, false});
        steep.operands[0].with(all_equal_to(1));
        steep.operands[1].with(
            [=](std::int64_t i) { return double(grow ? i / 64 : 200 - i / 64) / 20; });
        CHECK(computes_its_result(steep));
    }
}

// The keys of the second tile are `far`. @param query  the only nonzero one; -1: all are
template <class T>
void check_jump(double far, std::int64_t query = -1) {
    CAPTURE(far, query, sizeof(T));
    Operation op = attention_bf16_operation<T>({{1}, 18, 70, 64, false});
    op.operands[0].with([=](std::int64_t i) { return query < 0 || i / 64 == query ? 1.0 : 0.0; });
    op.operands[1].with([=](std::int64_t i) { return i < 64 * 64 ? 0.0 : far; });
    CHECK(computes_its_result(op));
}

TEST_CASE("attention_bf16: scores that jump from the first tile to the second",
          "[day06][attention_bf16][small]") {
    // By 8 far. Relative to the first tile's maximum, 8 gives weights of 2^11.5, which step 3
    // keeps. 10 gives 2^14.4, too much summed over a lane; 12 gives 2^17.3, more than f16 can
    // hold.
    for (const double far : {1.0, 1.25, 1.5}) {
        check_jump<bf16>(far);
        check_jump<f16>(far);
    }
    // A single query, in either half of a fragment, makes its warp repeat the tile.
    for (const std::int64_t t : {0, 13}) check_jump<f16>(1.5, t);
}

TEST_CASE("attention_bf16: queries, keys and values are views of one buffer, and heads share keys",
          "[day06][attention_bf16][small]") {
    // qkv (B, T, (H + 2 G) D): H heads of queries, G of keys, G of values; out (B, T, H D).
    const std::int64_t B = 2, T = 21, G = 2, per = 2, H = G * per, D = 64, width = (H + 2 * G) * D;
    Operation op =
        attention_bf16_operation<bf16>({{B, G, per}, T, T, D, true, 0, -1, Shape{B, G, 1}});
    op.operands[0].placed(Layout({B, G, per, T, D}, {T * width, per * D, D, width, 1}));
    for (const std::size_t i : {1, 2}) {
        op.operands[i].placed(Layout({B, G, 1, T, D}, {T * width, D, 0, width, 1}));
    }
    op.operands[3].placed(Layout({B, G, per, T, D}, {T * H * D, per * D, D, H * D, 1}));
    CHECK(computes_its_result(op));
}

TEST_CASE("attention_bf16: NaN reaches exactly the queries that see it",
          "[day06][attention_bf16][small]") {
    const std::int64_t tokens = 150, nan_at = 70 * 64 + 3;
    for (const std::size_t which : {0, 1, 2}) {
        // A masked value must be finite, so all tokens see this one.
        Operation op = attention_bf16_operation<bf16>({{1}, tokens, tokens, 64, which != 2});
        op.operands[which].with([=, values = op.operands[which].values](std::int64_t i) {
            return i == nan_at ? double(NAN) : values(i);
        });
        CHECK(computes_its_result(op));
    }
    Operation op = attention_bf16_operation<bf16>({{1}, tokens, tokens, 64, true, 0, 70});
    for (const std::size_t which : {1, 2}) {  // beyond the length
        op.operands[which].with([=, values = op.operands[which].values](std::int64_t i) {
            return i >= 70 * 64 ? double(NAN) : values(i);
        });
    }
    CHECK(computes_its_result(op));
}

TEST_CASE("attention_bf16: if all scores are -infinity, out is NaN and log_sums is -infinity",
          "[day06][attention_bf16][small]") {
    const auto check_infinite = [](Operation op, std::int64_t infinite) {
        op.operands[0].with(all_equal_to(1));
        op.operands[1].with([=, values = op.operands[1].values](std::int64_t i) {
            return i < infinite ? -double(INFINITY) : values(i);
        });
        CHECK(computes_its_result(op));
    };
    const std::int64_t half = 70 * 8;
    check_infinite(attention_bf16_operation<f16>({{1}, 140, 140, 8}), half);  // the first 70 tokens
    check_infinite(attention_bf16_operation<f16>({{1}, 140, 140, 8, true, 0, 70}), half);
    check_infinite(attention_bf16_operation<f16>({{1}, 140, 140, 8, false}), half);  // none
    check_infinite(attention_bf16_operation<bf16>({{2}, 3, 70, 128, false}), 2 * 70 * 128);
    check_infinite(attention_operation({{}, 2, 1, 3, false}, true), 3);  // the same for float
}

TEST_CASE(
    "attention_bf16: an invalid length: the CPU reference reports it, the CUDA version gives NaN",
    "[day06][attention_bf16][small]") {
    for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{6}, INT64_MIN, INT64_MAX}) {
        const Tensor<std::int64_t> length(Shape{}, {bad});
        const Tensor<bf16> q({1, 3, 64}), k({1, 5, 64});
        HostOut<bf16> loop({1, 3, 64});
        CHECK(rejection([&] {
                  attention_bf16_cpu<bf16>(q.view(), k.view(), k.view(), {true, 0, length.view()},
                                           loop.view());
              }) == "attention_bf16: length is " + std::to_string(bad) + ", but there are 5 keys");
        CHECK(loop.untouched());
        const DeviceIn<std::int64_t> there(length);
        Operation op = attention_bf16_operation<bf16>({{1}, 3, 5, 64});
        op.path(AttentionBf16Path::warpgroups).accepts = [](const Call&) { return false; };
        op.cpu = {};
        op.cuda = [&](const Call& c) {
            attention_bf16_cuda<bf16>(c.in<bf16>(0), c.in<bf16>(1), c.in<bf16>(2),
                                      {true, 0, there.view()}, c.out<bf16>(3), c.out<float>(4),
                                      c.how<AttentionBf16Path>());
        };
        op.exact = [](const Inputs&, int) {
            std::vector<Expected> nothing = {Expected({1, 3, 64}), Expected({1, 3})};
            for (Expected& x : nothing) std::fill_n(x.value.data(), x.value.size(), double(NAN));
            return nothing;
        };
        CHECK(computes_its_result(op));
    }
}

TEST_CASE("attention_bf16: the error bound rejects sums of values in bf16",
          "[day06][attention_bf16][small]") {
    // 600 equal scores and values of 1: each adds 1, but in bf16 256 + 1 rounds to 256.
    const auto equal_scores = [](bool log_sums) {
        Operation op = attention_bf16_operation<bf16>({{1}, 1, 600, 8}, log_sums);
        op.operands[1].with(all_equal_to(0));
        op.operands[2].with(all_equal_to(1));
        return op;
    };
    CHECK(computes_its_result(equal_scores(true)));
    Operation op = equal_scores(false);
    bf16 worse(0);
    for (int s = 0; s < 600; ++s) worse = bf16(static_cast<float>(worse) + 1);
    op.cuda = {};
    op.cpu = [worse](const Call& c) {
        for (std::int64_t i = 0; i < 8; ++i) {
            c.out<bf16>(3)(0, 0, i) = bf16(static_cast<float>(worse) / 600);
        }
    };
    CHECK_FALSE(computes_its_result(op));
}

// Strided stacks, and rows of vectors that are not evenly spaced.
TEST_CASE("attention_bf16: accepts strided layouts", "[day06][attention_bf16][small]") {
    const auto check_at = [](Operation op, const std::vector<Layout>& layouts) {
        for (std::size_t i = 0; i < 4; ++i) {
            if (layouts[i].rank() > 0) op.operands[i].placed(layouts[i]);
        }
        CHECK(computes_its_result(op));
    };
    const Operation op = attention_bf16_operation<f16>({{2}, 9, 11, 24});
    const Layout gaps_q({2, 9, 24}, {9 * 40, 40, 1}), gaps_k({2, 11, 24}, {32, 64, 1});
    const Layout backwards({2, 11, 24}, {-11 * 24, -24, 1}), turned({2, 9, 24}, {24, 48, 1});
    check_at(op, {gaps_q, gaps_k, backwards, turned});
    check_at(op, {turned, backwards, gaps_k, gaps_q});
    // Heads side by side, in matrices with gaps, and both.
    const Operation wide = attention_bf16_operation<bf16>({{2}, 9, 140, 64});
    const Layout beside_q({2, 9, 64}, {64, 136, 1}), beside({2, 140, 64}, {72, 144, 1}),
        apart({2, 140, 64}, {150 * 80, 80, 1}), upside_down({2, 140, 64}, {-140 * 64, 64, 1});
    check_at(wide, {beside_q, apart, beside, beside_q});
    check_at(wide, {{}, beside, apart, {}});
    check_at(wide, {{}, upside_down, {}, {}});
    // One token or one key: its stride is never used.
    const Layout odd({2, 1, 64}, {520, 65, 1});
    const Operation token = attention_bf16_operation<bf16>({{2}, 1, 70, 64}),
                    key = attention_bf16_operation<bf16>({{2}, 3, 1, 64, false});
    check_at(token, {odd, {}, {}, {}});
    check_at(key, {{}, odd, {}, {}});
    check_at(key, {{}, {}, odd, {}});
    check_at(token, {{}, {}, {}, odd});
}

TEST_CASE("attention_bf16: hundreds of tokens", "[day06][attention_bf16][full]") {
    check({{2}, 260, 260, 64});
    check<f16>({{1}, 200, 333, 128});
    check({{1}, 257, 257, 128, false});
}

TEST_CASE("attention_bf16: a thousand tokens", "[day06][attention_bf16][huge]") {
    check({{3}, 1000, 1000, 64});
    check<f16>({{2}, 500, 900, 128});
}

}  // namespace
