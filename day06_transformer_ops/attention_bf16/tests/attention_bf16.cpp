// Attention of 16-bit numbers: loop and every path against float64, over every element.
#include "common/testing/shared_workspace.hpp"
#include "day06_transformer_ops/attention_bf16/tests/case.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

template <class T>
constexpr double kRounding = std::is_same_v<T, bf16> ? 0x1p-8 : 0x1p-11;

struct Exact {
    Expected out, log_sums;
};

// The definition in double, and how far from it a path may be. In units of 2^-24, of what is added
// up: a product on tensor cores over n numbers is off by 18 ceil(n / 8)
// (day05_matmul/tests/matmul_bf16.cpp says why), one in a loop by n, which is less. A score has 6
// more: 2 where scale and log2(e) are multiplied, 2 where they meet the score, 2 where the maximum
// is subtracted. So a share is off by (18 ceil(D / 8) + 6) P, and by 4 where exp is taken. It moves
// the sum of shares by as much, hence twice. The values' product adds 18 ceil(n / 8) <= 2.25 n +
// 18. For each key the sum is added to, and sum and values may be corrected for a new maximum: 4 n
// and some at the joints of lanes. Each share is rounded to T, and so is the output. f16 ends at
// 2^-24: what is smaller is off by half of that at most, a share of a sum that is at least 1.
template <class T>
Exact exact(const Case<T>& c) {
    const std::int64_t heads = c.q.shape()[0], tokens = c.q.shape()[1], D = c.q.shape()[2],
                       S = c.k.shape()[1], counted = c.counted < 0 ? S : c.counted;
    const double scale =
        c.options.scale != 0 ? c.options.scale : 1 / std::sqrt(static_cast<double>(D));
    // Once for each number: to convert one takes longer than a product.
    const auto wide = [](const Tensor<T>& x) {
        std::vector<double> all(static_cast<std::size_t>(x.size()));
        std::transform(x.data(), x.data() + x.size(), all.begin(),
                       [](T e) { return static_cast<double>(static_cast<float>(e)); });
        return all;
    };
    const std::vector<double> q = wide(c.q), k = wide(c.k), v = wide(c.v);
    const auto at = [D](const std::vector<double>& x, std::int64_t row, std::int64_t d) {
        return x[static_cast<std::size_t>(row * D + d)];
    };
    Exact want{Expected(c.q.shape()), Expected({heads, tokens})};
    for (std::int64_t r = 0; r < heads * tokens; ++r) {
        const std::int64_t h = r / tokens, t = r % tokens;
        const std::int64_t n =
            c.options.causal ? std::max<std::int64_t>(counted - tokens + t + 1, 0) : counted;
        std::vector<double> share(static_cast<std::size_t>(n));
        double m = -INFINITY, sum = 0, P = 0;
        for (std::int64_t s = 0; s < n; ++s) {
            double score = 0, size = 0;
            for (std::int64_t d = 0; d < D; ++d) {
                const double product = scale * at(q, r, d) * at(k, h * S + s, d);
                score += product, size += std::fabs(product);
            }
            share[static_cast<std::size_t>(s)] = score;
            m = std::max(m, score);
            if (std::isfinite(size)) P = std::max(P, size);  // else its share is 0, or all is NaN
        }
        const double base = m == -INFINITY ? 0 : m;  // -infinity minus -infinity is NaN
        for (double& x : share) sum += x = std::exp(x - base);
        const double all = static_cast<double>(n),
                     score_off = 18 * std::ceil(static_cast<double>(D) / 8) + 6;
        want.log_sums.value.data()[r] = base + std::log(sum);
        // Rounded once more as m + log(sum), and m as a multiple of log(2).
        want.log_sums.error.data()[r] =
            std::isinf(m)
                ? 0
                : (score_off * P + 2 * all + 20 + 4 * (std::fabs(m) + std::log(all + 1))) * kU;
        for (std::int64_t d = 0; d < D; ++d) {
            double y = 0, A = 0;
            for (std::int64_t s = 0; s < n; ++s) {
                const double term = share[static_cast<std::size_t>(s)] / sum * at(v, h * S + s, d);
                y += term, A += std::fabs(term);
            }
            const double u = kRounding<T>;
            double bound = (u + (2 * score_off * P + 7 * all + 120) * kU) * A + u * std::fabs(y);
            if (std::is_same_v<T, f16>) bound += (all + 1) * kU;  // |v| <= 1 here
            want.out.value.data()[r * D + d] = y;
            want.out.error.data()[r * D + d] = std::isfinite(y) ? bound : 0;
        }
    }
    return want;
}

// Where the tensors of a case stand: row-major ones if nothing is said.
struct Layouts {
    Layout q, k, v, out;
};

template <class T>
void check_case(const Case<T>& c, const Layouts& given = {}) {
    const auto or_row_major = [](const Layout& layout, const Shape& shape) {
        return layout.rank() > 0 ? layout : row_major(shape);
    };
    const Shape shape = c.q.shape();
    const Layout lq = or_row_major(given.q, shape), lk = or_row_major(given.k, c.k.shape()),
                 lv = or_row_major(given.v, c.v.shape()), lout = or_row_major(given.out, shape);
    CAPTURE(to_string(lq), to_string(lk), to_string(lv), to_string(lout), c.options.causal,
            c.options.scale, c.counted, sizeof(T));
    const Exact want = exact(c);
    const Tensor<std::int64_t> length(Shape{}, {c.counted});
    AttentionOptions options = c.options;
    if (c.counted >= 0) options.length = length.view();
    HostIn<T> hq(c.q, lq), hk(c.k, lk), hv(c.v, lv);
    HostOut<T> loop(lout);
    HostOut<float> loop_sums({shape[0], shape[1]});
    attention_bf16_cpu<T>(hq.view(), hk.view(), hv.view(), options, loop.view(), loop_sums.view());
    CHECK(agrees(loop, want.out));
    CHECK(agrees(loop_sums, want.log_sums));
    DeviceIn<T> q(c.q, lq), k(c.k, lk), v(c.v, lv);
    DeviceIn<std::int64_t> device_length(length);
    if (c.counted >= 0) options.length = device_length.view();
    for (const B path : kAll) {
        CAPTURE(name(path));
        DeviceOut<T> got(lout);
        DeviceOut<float> sums({shape[0], shape[1]});
        const auto refused = [&] {
            check_attention_bf16<T>(q.view(), k.view(), v.view(), options, got.view(), {}, path);
        };
        if (!refusal(refused).empty()) continue;  // which ones it must take has a case of its own
        const std::int64_t bytes = attention_bf16_workspace_bytes<T>(q.view(), k.view(), path);
        SharedWorkspace memory(bytes);
        attention_bf16_cuda<T>(q.view(), k.view(), v.view(), options, got.view(), sums.view(),
                               {.path = path, .workspace = memory.next(bytes)});
        CHECK(memory.kept());
        CHECK(agrees(got, want.out));
        CHECK(agrees(sums, want.log_sums));
    }
    CHECK(q.unchanged());
    CHECK(k.unchanged());
    CHECK(v.unchanged());
}

// --- the loop ------------------------------------------------------------------------------------

TEST_CASE("attention_bf16: the loop, by hand", "[day06][attention_bf16][small]") {
    // Scores log 1, log 3 (a scale makes them of 0 and 1): shares 1/4 and 3/4 of 8 and 16.
    Tensor<bf16> q({1, 1}), k({2, 1}), v({2, 1}), out({1, 1});
    q(0, 0) = bf16(1), k(0, 0) = bf16(0), k(1, 0) = bf16(1), v(0, 0) = bf16(8), v(1, 0) = bf16(16);
    Tensor<float> log_sums({1});
    attention_bf16_cpu<bf16>(q.view(), k.view(), v.view(), {.scale = std::log(3.0f)}, out.view(),
                             log_sums.view());
    CHECK(static_cast<float>(out(0, 0)) == 14);
    CHECK(std::fabs(log_sums(0) - std::log(4.0)) < 1e-6);
    // The first of two tokens sees one key only.
    Tensor<bf16> two({2, 1}), answers({2, 1});
    two(0, 0) = two(1, 0) = bf16(1);
    attention_bf16_cpu<bf16>(two.view(), k.view(), v.view(), {.scale = std::log(3.0f)},
                             answers.view());
    CHECK(static_cast<float>(answers(0, 0)) == 8);
    CHECK(static_cast<float>(answers(1, 0)) == 14);
}

// --- ports ---------------------------------------------------------------------------------------

TEST_CASE("attention_bf16: numbers of tokens, keys and head around fragments and tiles",
          "[day06][attention_bf16][small]") {
    for (const std::int64_t n : {1, 15, 17, 63, 65}) check_case(case_of<bf16>(1, n, n, 64));
    check_case(case_of<bf16>(1, 129, 129, 64));
    check_case(case_of<bf16>(3, 200, 100, 64));  // step 4: a section of two heads, one of one
    // 390: step 4's ring of tiles goes round twice.
    for (const std::int64_t S : {1, 64, 65, 130, 390}) {
        check_case(case_of<bf16>(2, 3, S, 64));
        check_case(case_of<f16>(1, 40, S, 64, {.causal = false}));
    }
    // One key less than a tile has: what fills it must be hidden.
    for (const std::int64_t S : {63, 127})
        check_case(case_of<bf16>(1, 3, S, 64, {.causal = false}));
    for (const std::int64_t D : {8, 56, 72, 128}) check_case(case_of<f16>(1, 5, 70, D));
    check_case(case_of<bf16>(1, 70, 5, 64));  // 65 tokens see nothing
    check_case(case_of<bf16>(1, 5, 0, 64, {.causal = false}));
    check_case(case_of<bf16>(0, 5, 5, 64));
    check_case(case_of<bf16>(2, 0, 5, 64));
    check_case(case_of<bf16>(2, 5, 7, 12));  // no whole quads: the twin's
}

TEST_CASE("attention_bf16: scale, length and a maximum that grows from tile to tile",
          "[day06][attention_bf16][small]") {
    check_case(case_of<bf16>(1, 20, 70, 64, {.causal = false, .scale = 0.3f}));
    Case<bf16> c = case_of<bf16>(1, 20, 140, 64);
    for (const std::int64_t counted : {0, 1, 19, 20, 64, 100, 140}) {
        for (const bool causal : {true, false}) {
            c.counted = counted, c.options.causal = causal;
            check_case(c);
        }
    }
    // Keys of one direction that grow: each tile has the largest score so far, or none.
    for (const bool grow : {true, false}) {
        Case<f16> steep = case_of<f16>(1, 18, 200, 64, {.causal = false});
        for (std::int64_t s = 0; s < 200; ++s) {
            for (std::int64_t d = 0; d < 64; ++d) {
                const auto far = static_cast<float>(grow ? s : 200 - s) / 20;
                steep.k(0, s, d) = f16(far);
                if (s < 18) steep.q(0, s, d) = f16(1);
            }
        }
        check_case(steep);
    }
}

template <class T>
Case<T> jump(float far) {
    Case<T> c = case_of<T>(1, 18, 70, 64, {.causal = false});
    std::fill_n(c.q.data(), c.q.size(), T(1));
    std::fill_n(c.k.data(), 64 * 64, T(0));
    std::fill_n(c.k.data() + 64 * 64, 6 * 64, T(far));
    return c;
}

TEST_CASE("attention_bf16: scores that jump from the first tile to the second",
          "[day06][attention_bf16][small]") {
    // By 8 far. Beside the first tile's maximum, 8 makes shares of 2^11.5, which step 3 keeps; 10
    // makes 2^14.4, of which a lane has too many; 12 makes 2^17.3, more than f16 holds.
    for (const float far : {1.0f, 1.25f, 1.5f}) {
        CAPTURE(far);
        check_case(jump<bf16>(far));
        check_case(jump<f16>(far));
    }
    // One query alone, in either half of a fragment: its warp does the tile again.
    for (const std::int64_t t : {0, 13}) {
        Case<f16> one = jump<f16>(1.5f);
        std::fill_n(one.q.data(), one.q.size(), f16(0));
        std::fill_n(one.q.data() + t * 64, 64, f16(1));
        check_case(one);
    }
}

TEST_CASE("attention_bf16: queries, keys and values are views of one buffer, and heads share keys",
          "[day06][attention_bf16][small]") {
    // qkv (B, T, (H + 2 G) D): H heads of queries, G of keys, G of values.
    const std::int64_t B_ = 2, tokens = 21, H = 4, G = 2, D = 64, width = (H + 2 * G) * D;
    const Tensor<bf16> qkv = seeded<bf16>({B_, tokens, width}, 5, -1, 1);
    Case<bf16> c{Tensor<bf16>({B_ * H, tokens, D}), Tensor<bf16>({B_ * H, tokens, D}),
                 Tensor<bf16>({B_ * H, tokens, D})};
    for (std::int64_t i = 0; i < c.q.size(); ++i) {
        const Index at = unravel(i, {B_, H, tokens, D});
        const std::int64_t group = at[1] / (H / G);
        const auto element = [&](std::int64_t head) { return qkv(at[0], at[2], head * D + at[3]); };
        c.q.data()[i] = element(at[1]);
        c.k.data()[i] = element(H + group);
        c.v.data()[i] = element(H + G + group);
    }
    const Exact heads = exact(c);
    Expected want({B_, tokens, H * D}), sums({B_, H, tokens});  // joined: (B, T, H, D)
    for (std::int64_t i = 0; i < want.value.size(); ++i) {
        const Index at = unravel(i, {B_, tokens, H, D});
        const std::int64_t from = ((at[0] * H + at[2]) * tokens + at[1]) * D + at[3];
        want.value.data()[i] = heads.out.value.data()[from];
        want.error.data()[i] = heads.out.error.data()[from];
    }
    std::copy_n(heads.log_sums.value.data(), sums.value.size(), sums.value.data());
    std::copy_n(heads.log_sums.error.data(), sums.error.size(), sums.error.data());
    DeviceIn<bf16> d(qkv);
    const auto part = [&](std::int64_t first, std::int64_t count) {
        const auto columns = slice(d.view(), 2, first * D, (first + count) * D);
        return permute(reshape(columns, {B_, tokens, count, D}), {0, 2, 1, 3});
    };
    const auto q = grouped(part(0, H), G);
    const auto k = for_groups(part(H, G)), v = for_groups(part(H + G, G));
    for (const B path : kAll) {
        CAPTURE(name(path));
        DeviceOut<bf16> got({B_, tokens, H * D});
        DeviceOut<float> got_sums({B_, H, tokens});
        const auto joined = permute(reshape(got.view(), {B_, tokens, H, D}), {0, 2, 1, 3});
        const std::int64_t bytes = attention_bf16_workspace_bytes<bf16>(q, k, path);
        SharedWorkspace memory(bytes);
        attention_bf16_cuda<bf16>(q, k, v, {}, grouped(joined, G),
                                  reshape(got_sums.view(), {B_, G, H / G, tokens}),
                                  {.path = path, .workspace = memory.next(bytes)});
        CHECK(agrees(got, want));
        CHECK(agrees(got_sums, sums));
    }
}

TEST_CASE("attention_bf16: NaN goes where it is seen, and no farther",
          "[day06][attention_bf16][small]") {
    const std::int64_t tokens = 150, nan_at = 70;
    const float nan = std::nanf("");
    for (const char* which : {"q", "k", "v", "behind the length"}) {
        CAPTURE(which);
        Case<bf16> c = case_of<bf16>(1, tokens, tokens, 64);
        if (which[0] == 'q') c.q(0, nan_at, 3) = bf16(nan);
        if (which[0] == 'k') c.k(0, nan_at, 3) = bf16(nan);
        if (which[0] == 'v') {
            // A hidden value must be a number, so all see this one: the last row of keys that
            // count.
            c.options.causal = false;
            c.v(0, nan_at, 3) = bf16(nan);
        }
        if (which[0] == 'b') {
            c.counted = nan_at;
            for (std::int64_t s = nan_at; s < tokens; ++s) {
                for (std::int64_t i = 0; i < 64; ++i) c.k(0, s, i) = c.v(0, s, i) = bf16(nan);
            }
        }
        check_case(c);
    }
}

TEST_CASE(
    "attention_bf16: scores of -infinity only make NaN, and -infinity of the log of their sum",
    "[day06][attention_bf16][small]") {
    Case<f16> c = case_of<f16>(1, 140, 140, 8);
    std::fill_n(c.q.data(), c.q.size(), f16(1));
    std::fill_n(c.k.data(), 70 * 8, f16(-INFINITY));
    check_case(c);  // the first 70 tokens
    c.counted = 70;
    check_case(c);  // those that see a key
    c.counted = -1, c.options.causal = false;
    check_case(c);  // none
    Case<bf16> all = case_of<bf16>(2, 3, 70, 128, {.causal = false});
    std::fill_n(all.q.data(), all.q.size(), bf16(1));
    std::fill_n(all.k.data(), all.k.size(), bf16(-INFINITY));
    check_case(all);
    // And so do floats.
    const DeviceIn<float> q(Tensor<float>({2, 3}, {1, 1, 1, 1, 1, 1})),
        k(Tensor<float>({1, 3}, {-INFINITY, -INFINITY, -INFINITY})), v(Tensor<float>({1, 3}));
    DeviceOut<float> out({2, 3}, {}, Poison{0x11}), log_sums({2});
    attention_and_log_sums_cuda(q.view(), k.view(), v.view(), {false}, out.view(), log_sums.view());
    CHECK(std::isnan(out.values()(1, 2)));
    CHECK(log_sums.values()(1) == -INFINITY);
}

TEST_CASE("attention_bf16: a length that cannot be: the loop says so, the ports answer NaN",
          "[day06][attention_bf16][small]") {
    const Case<bf16> c = case_of<bf16>(1, 3, 5, 64);
    for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{6}, INT64_MIN, INT64_MAX}) {
        const Tensor<std::int64_t> length(Shape{}, {bad});
        HostOut<bf16> loop(c.q.shape());
        CHECK(refusal([&] {
                  attention_bf16_cpu<bf16>(c.q.view(), c.k.view(), c.v.view(),
                                           {true, 0, length.view()}, loop.view());
              }) == "attention_bf16: length is " + std::to_string(bad) + ", but there are 5 keys");
        CHECK(loop.untouched());
        DeviceIn<bf16> q(c.q), k(c.k), v(c.v);
        DeviceIn<std::int64_t> there(length);
        Expected nothing(c.q.shape()), no_sums({1, 3});
        std::fill_n(nothing.value.data(), nothing.value.size(), std::nan(""));
        std::fill_n(no_sums.value.data(), no_sums.value.size(), std::nan(""));
        for (const B path : kAll) {
            if (path == B::warpgroups) continue;  // takes no length
            CAPTURE(name(path));
            DeviceOut<bf16> got(c.q.shape(), {}, Poison{0x11});
            DeviceOut<float> sums({1, 3}, {}, Poison{0x11});
            const auto bytes = attention_bf16_workspace_bytes<bf16>(q.view(), k.view(), path);
            SharedWorkspace memory(bytes);
            attention_bf16_cuda<bf16>(q.view(), k.view(), v.view(), {true, 0, there.view()},
                                      got.view(), sums.view(),
                                      {.path = path, .workspace = memory.next(bytes)});
            CHECK(agrees(got, nothing));
            CHECK(agrees(sums, no_sums));
        }
    }
}

TEST_CASE("attention_bf16: sums of values in bf16 are refused by the bound",
          "[day06][attention_bf16][small]") {
    // 600 equal scores, and values 1: each adds 1, and in bf16 256 + 1 is 256 again.
    Case<bf16> c = case_of<bf16>(1, 1, 600, 8);
    for (std::int64_t i = 0; i < c.k.size(); ++i) c.k.data()[i] = bf16(0), c.v.data()[i] = bf16(1);
    const Exact want = exact(c);
    bf16 worse(0);
    for (int s = 0; s < 600; ++s) worse = bf16(static_cast<float>(worse) + 1);
    const double off = std::fabs(static_cast<double>(static_cast<float>(worse)) / 600 - 1);
    CHECK(off > 20 * want.out.error.data()[0]);
    check_case(c);
}

// Strided stacks and rows of quads that do not follow each other.
TEST_CASE("attention_bf16: layouts", "[day06][attention_bf16][small]") {
    const Case<f16> c = case_of<f16>(2, 9, 11, 24);
    const Layout gaps_q({2, 9, 24}, {9 * 40, 40, 1}), gaps_k({2, 11, 24}, {32, 64, 1});
    const Layout backwards({2, 11, 24}, {-11 * 24, -24, 1}), turned({2, 9, 24}, {24, 48, 1});
    check_case(c, {gaps_q, gaps_k, backwards, turned});
    check_case(c, {turned, backwards, gaps_k, gaps_q});
    check_case(c, {column_major({2, 9, 24}), {}, {}, {}});  // the twin's
    check_case(c, {{}, {}, column_major({2, 11, 24}), column_major({2, 9, 24})});
    // Heads side by side; in matrices with gaps; and both.
    const Case<bf16> wide = case_of<bf16>(2, 9, 140, 64);
    const Layout beside_q({2, 9, 64}, {64, 136, 1}), beside({2, 140, 64}, {72, 144, 1}),
        apart({2, 140, 64}, {150 * 80, 80, 1}), upside_down({2, 140, 64}, {-140 * 64, 64, 1});
    check_case(wide, {beside_q, apart, beside, beside_q});
    check_case(wide, {{}, beside, apart, {}});
    check_case(wide, {{}, upside_down, {}, {}});
}

TEST_CASE("attention_bf16: one token, or one key, whose step is never taken and may be any",
          "[day06][attention_bf16][small]") {
    const Layout odd({2, 1, 64}, {520, 65, 1});
    const Case<bf16> token = case_of<bf16>(2, 1, 70, 64),
                     key = case_of<bf16>(2, 3, 1, 64, {.causal = false});
    SECTION("q") {
        check_case(token, {odd, {}, {}, {}});
    }
    SECTION("k") {
        check_case(key, {{}, odd, {}, {}});
    }
    SECTION("v") {
        check_case(key, {{}, {}, odd, {}});
    }
    SECTION("out") {
        check_case(token, {{}, {}, {}, odd});
    }
    SECTION("no step refuses them") {
        const DeviceIn<bf16> x(token.q, odd);
        DeviceOut<bf16> out(odd);
        CHECK(choose_attention_bf16<bf16>(x.view(), x.view(), x.view(), out.view(), false, false) ==
              B::guessed_maximum);
    }
}

TEST_CASE("attention_bf16: hundreds of tokens", "[day06][attention_bf16][full]") {
    check_case(case_of<bf16>(2, 260, 260, 64));
    check_case(case_of<f16>(1, 200, 333, 128));
    check_case(case_of<bf16>(1, 257, 257, 128, {.causal = false}));
}

TEST_CASE("attention_bf16: a thousand tokens", "[day06][attention_bf16][huge]") {
    check_case(case_of<bf16>(3, 1000, 1000, 64));
    check_case(case_of<f16>(2, 500, 900, 128));
}

}  // namespace
