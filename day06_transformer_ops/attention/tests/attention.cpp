// The proof of the set attention: loop and every path against float64, over every element.
#include "day06_transformer_ops/attention/attention.hpp"

#include <memory>

#include "common/testing/shared_workspace.hpp"
#include "day06_transformer_ops/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

struct GoldenAttention {
    std::int64_t T, S, D;
    bool causal;
    std::int64_t counted;
    std::vector<double> out;
};
#include "day06_transformer_ops/attention/tests/golden_attention.inc"

constexpr AttentionPath kPaths[] = {AttentionPath::four_passes,  AttentionPath::fused,
                                    AttentionPath::split_keys,   AttentionPath::tiles,
                                    AttentionPath::split_blocks, AttentionPath::wide_heads};

// Can this path take these views at all? Which ones it must take has a case of its own.
bool takes(AttentionPath path, View<const float> q, View<const float> k, View<const float> v,
           View<float> out) {
    return refusal([&] { check_attention(q, k, v, {}, out, path); }).empty();
}

// By one path, with the workspace that it asks for; twice if there is one: the second call finds what
// the first left.
void attend(AttentionPath path, View<const float> q, View<const float> k, View<const float> v,
            const AttentionOptions& options, View<float> out) {
    const std::int64_t bytes = attention_workspace_bytes(q, k, v, path);
    SharedWorkspace memory(bytes);
    for (int call = 0; call < (bytes > 0 ? 2 : 1); ++call) {
        attention_cuda(q, k, v, options, out, {.path = path, .workspace = memory.next(bytes)});
        CHECK(memory.kept());
    }
}

// Whole quarters in no order: golden_attention.py's few().
Tensor<float> few(const Shape& shape, std::int64_t factor, std::int64_t period) {
    return few_values_of(shape, factor, period);
}

struct Case {
    Tensor<float> q, k, v;  // (..., T, D), (..., S, D), (..., S, D), of equal stacks
    bool causal = true;
    double scale = 0;           // 0: 1 / sqrt(D)
    std::int64_t counted = -1;  // -1: S
};

Case case_of(const Shape& stack, std::int64_t T, std::int64_t S, std::int64_t D) {
    const auto shape = [&](std::int64_t rows) {
        Shape all = stack;
        all[all.rank++] = rows;
        all[all.rank++] = D;
        return all;
    };
    return {few(shape(T), 5, 13), few(shape(S), 7, 11), few(shape(S), 3, 17)};
}

// The definition in double, and attention.hpp's bound. A score is off by D + 2 units of scale |q| . |k|,
// 2 where log2(e) is multiplied in, and 2 where the maximum is subtracted; that moves its share and the
// sum. For each key the sum and the output are corrected and added to, a rounding each: 4 n. 40 are
// exp, the product and the division, and the joints of warps and blocks.
Wanted wanted(const Case& c) {
    Wanted want(c.q.shape());
    const int r = c.q.shape().rank;
    const std::int64_t T = c.q.shape()[r - 2], D = c.q.shape()[r - 1], S = c.k.shape()[r - 2];
    const std::int64_t counted = c.counted < 0 ? S : c.counted,
                       stack = c.q.size() / std::max<std::int64_t>(T * D, 1);
    const double scale = c.scale != 0 ? c.scale : 1 / std::sqrt(static_cast<double>(D));
    for (std::int64_t h = 0; h < stack; ++h) {
        const auto at = [D](const Tensor<float>& x, std::int64_t first, std::int64_t row,
                            std::int64_t d) {
            return static_cast<double>(x.data()[(first + row) * D + d]);
        };
        for (std::int64_t t = 0; t < T; ++t) {
            const std::int64_t n =
                c.causal ? std::max<std::int64_t>(counted - T + t + 1, 0) : counted;
            std::vector<double> score(static_cast<std::size_t>(n), 0.0);
            double m = -INFINITY, sum = 0, off = 0;
            for (std::int64_t s = 0; s < n; ++s) {
                double size = 0;
                for (std::int64_t d = 0; d < D; ++d) {
                    const double product = at(c.q, h * T, t, d) * at(c.k, h * S, s, d);
                    score[static_cast<std::size_t>(s)] += scale * product;
                    size += std::fabs(scale * product);
                }
                m = std::max(m, score[static_cast<std::size_t>(s)]);
                off = std::max(off, (static_cast<double>(D) + 6) * size);
            }
            for (double& x : score) {
                x = std::exp(x - m);
                sum += x;
            }
            for (std::int64_t d = 0; d < D; ++d) {
                double y = 0, size = 0;
                for (std::int64_t s = 0; s < n; ++s) {
                    const double term =
                        score[static_cast<std::size_t>(s)] / sum * at(c.v, h * S, s, d);
                    y += term;
                    size += std::fabs(term);
                }
                want.value.data()[(h * T + t) * D + d] = y;
                want.bound.data()[(h * T + t) * D + d] =
                    std::isfinite(y) ? size * (2 * off + 4 * static_cast<double>(n) + 40) * kU : 0;
            }
        }
    }
    return want;
}

// What a test hands to attention: layouts of the four tensors, row-major ones if they are empty.
struct Layouts {
    Layout q, k, v, out;
    Lead lead_q = {}, lead_k = {}, lead_v = {}, lead_out = {};
};

void check_case(const Case& c, const Layouts& given = {}, bool tiles = true) {
    const auto or_row_major = [](const Layout& layout, const Tensor<float>& x) {
        return layout.rank() > 0 ? layout : row_major(x.shape());
    };
    const Layout lq = or_row_major(given.q, c.q), lk = or_row_major(given.k, c.k),
                 lv = or_row_major(given.v, c.v), lout = or_row_major(given.out, c.q);
    CAPTURE(to_string(lq), to_string(lk), to_string(lv), to_string(lout), c.causal, c.counted);
    const Wanted want = wanted(c);
    const Tensor<std::int64_t> length(Shape{}, {c.counted});
    AttentionOptions options{c.causal, static_cast<float>(c.scale)};
    if (c.counted >= 0) options.length = length.view();
    HostIn<float> hq(c.q, lq), hk(c.k, lk), hv(c.v, lv);
    HostOut<float> loop(lout);
    attention_cpu(hq.view(), hk.view(), hv.view(), options, loop.view());
    CHECK(agrees(loop, want));
    DeviceIn<float> q(c.q, lq, given.lead_q), k(c.k, lk, given.lead_k), v(c.v, lv, given.lead_v);
    DeviceIn<std::int64_t> device_length(length);
    if (c.counted >= 0) options.length = device_length.view();
    for (const AttentionPath path : kPaths) {
        CAPTURE(name(path));
        DeviceOut<float> got(lout, given.lead_out);
        if (!takes(path, q.view(), k.view(), v.view(), got.view())) continue;
        if (path == AttentionPath::tiles && !tiles) continue;
        attend(path, q.view(), k.view(), v.view(), options, got.view());
        CHECK(agrees(got, want));
    }
    CHECK(q.unchanged());
    CHECK(k.unchanged());
    CHECK(v.unchanged());
}

TEST_CASE("attention is what NumPy says, causal or not, with as many keys as count",
          "[day06][attention][small]") {
    for (const GoldenAttention& g : golden_attention) {
        CAPTURE(g.T, g.S, g.D, g.causal, g.counted);
        Case c = case_of({}, g.T, g.S, g.D);
        c.causal = g.causal;
        c.counted = g.counted;
        const Wanted want = wanted(c);
        double far = 0;
        for (std::int64_t k = 0; k < g.T * g.D; ++k) {
            far =
                std::max(far, std::fabs(want.value.data()[k] - g.out[static_cast<std::size_t>(k)]));
        }
        CHECK(far <= 1e-11);  // the reference of this file is NumPy's
        check_case(c);
    }
}

TEST_CASE("attention takes the numbers of tokens and keys around its tiles",
          "[day06][attention][small]") {
    for (const std::int64_t T : {1, 7, 8, 9, 17}) check_case(case_of({2}, T, T, 16));
    for (const std::int64_t S : {31, 32, 33, 64, 65, 257, 300}) check_case(case_of({}, 2, S, 8));
    for (const std::int64_t T : {63, 64, 65, 129}) check_case(case_of({}, T, T, 4));
    for (const std::int64_t D : {1, 31, 32, 33, 64, 127, 128}) check_case(case_of({2}, 3, 5, D));
    check_case(case_of({2}, 3, 5, 129));  // the twin's and the last step's
    check_case(case_of({2}, 6, 40, 257));
    check_case(case_of({2, 3}, 10, 40, 12));
    check_case(case_of({2, 0}, 3, 3, 4));
    check_case(case_of({2}, 0, 3, 4));
    Case c = case_of({2}, 12, 40, 8);
    c.causal = false;
    c.scale = 0.7;
    check_case(c);
    c.counted = 5;
    check_case(c);
    c.causal = true;  // 7 tokens see nothing
    check_case(c);
}

TEST_CASE("a card with little shared memory gets the kernel that does with it",
          "[day06][attention][small]") {
    const auto path = [](std::int64_t D, std::size_t shared) {
        const Case c = case_of({}, 64, 64, D);
        return choose_attention(c.q.view(), c.k.view(), c.v.view(), shared);
    };
    // For 64 queries, 64 keys, 64 values and 64 x 64 shares: rows of 68 and 72 numbers, or 132 and 80.
    const std::size_t narrow = 4 * (3 * 64 * 68 + 64 * 72), wide = 4 * (3 * 64 * 132 + 64 * 80);
    CHECK(path(64, narrow) == AttentionPath::tiles);
    CHECK(path(64, narrow - 1) == AttentionPath::fused);
    CHECK(path(65, wide) == AttentionPath::tiles);
    CHECK(path(128, wide - 1) == AttentionPath::fused);
}

TEST_CASE("attention of many heads, in blocks of 128 queries", "[day06][attention][small]") {
    const Case c = case_of({24}, 129, 129, 64);  // 3,096 queries: enough for 4 multiprocessors
    DeviceIn<float> q(c.q), k(c.k), v(c.v);
    DeviceOut<float> got(c.q.shape());
    attend(AttentionPath::tiles, q.view(), k.view(), v.view(), {}, got.view());
    CHECK(agrees(got, wanted(c)));
}

TEST_CASE("one key of a wider tensor, whose step no quad fits", "[day06][attention][small]") {
    const Layout one({1, 8}, {9, 1});
    Case c = case_of({}, 65, 1, 8);
    c.causal = false;
    check_case(c, {{}, one, one, {}});
}

TEST_CASE("attention over hundreds of tokens", "[day06][attention][full]") {
    check_case(case_of({2}, 260, 260, 64));
    check_case(case_of({2}, 1, 1023, 64));
}

TEST_CASE("attention over a thousand tokens", "[day06][attention][huge]") {
    check_case(case_of({3}, 1000, 1000, 64));
    check_case(case_of({800}, 129, 129, 64));  // enough queries for 132 multiprocessors
    check_case(case_of({400}, 129, 129, 128));
}

TEST_CASE("queries, keys and values are views of one buffer, and the output has its heads joined",
          "[day06][attention][small]") {
    const std::int64_t B = 2, T = 5, H = 3, D = 4, C = H * D;
    const Tensor<float> qkv = few({B, T, 3 * C}, 7, 31);
    // What the views should hold, by another formula.
    Case c = case_of({B, H}, T, T, D);
    for (std::int64_t i = 0; i < c.q.size(); ++i) {
        const Index at = unravel(i, {B, H, T, D});
        const auto element = [&](std::int64_t third) {
            return qkv(at[0], at[2], third * C + at[1] * D + at[3]);
        };
        c.q.data()[i] = element(0);
        c.k.data()[i] = element(1);
        c.v.data()[i] = element(2);
    }
    const Heads host = heads_of(qkv.view(), H);
    CHECK(equal(host.q, c.q));
    CHECK(equal(host.k, c.k));
    CHECK(equal(host.v, c.v));
    CHECK(host.k.strides() == Strides{3 * T * C, D, 3 * C, 1});
    CHECK(host.v.data - qkv.data() == 2 * C);
    const Wanted heads = wanted(c);
    Wanted want({B, T, C});  // joined: (B, T, H, D)
    for (std::int64_t i = 0; i < want.value.size(); ++i) {
        const Index at = unravel(i, {B, T, H, D});
        const Index from = {at[0], at[2], at[1], at[3]};
        want.value.data()[i] = heads.value.view()(from);
        want.bound.data()[i] = heads.bound.view()(from);
    }
    DeviceIn<float> d(qkv);
    const Heads device = heads_of(d.view(), H);
    for (const AttentionPath path : kPaths) {
        CAPTURE(name(path));
        DeviceOut<float> got({B, T, C});
        attend(path, device.q, device.k, device.v, {}, split_heads(got.view(), H));
        CHECK(agrees(got, want));
    }
}

TEST_CASE("heads of a group share keys and values by a stride of 0", "[day06][attention][small]") {
    const std::int64_t B = 2, G = 2, per = 3, T = 4, S = 6, D = 8, H = G * per;
    const Tensor<float> q = few({B, H, T, D}, 5, 13), k = few({B, G, S, D}, 7, 11),
                        v = few({B, G, S, D}, 3, 17);
    Case c = {q, Tensor<float>({B, H, S, D}), Tensor<float>({B, H, S, D})};
    for (std::int64_t i = 0; i < c.k.size(); ++i) {
        const Index at = unravel(i, {B, H, S, D});
        c.k.data()[i] = k(at[0], at[1] / per, at[2], at[3]);
        c.v.data()[i] = v(at[0], at[1] / per, at[2], at[3]);
    }
    const Wanted want = wanted(c);
    HostOut<float> loop({B, H, T, D});
    attention_cpu(grouped(q.view(), G), for_groups(k.view()), for_groups(v.view()), {},
                  grouped(loop.view(), G));
    CHECK(agrees(loop, want));
    DeviceIn<float> dq(q), dk(k), dv(v);
    for (const AttentionPath path : kPaths) {
        CAPTURE(name(path));
        DeviceOut<float> got({B, H, T, D});
        attend(path, grouped(dq.view(), G), for_groups(dk.view()), for_groups(dv.view()), {},
               grouped(got.view(), G));
        CHECK(agrees(got, want));
    }
    CHECK(
        contains(refusal([&] { (void)grouped(q.view(), 4); }),
                 "grouped: a shape (2, 6, 4, 8) has no dim 1 of heads that 4 groups could share"));
}

TEST_CASE("attention takes every order and direction of dims", "[day06][attention][small]") {
    const Case c = case_of({2}, 3, 4, 5);
    int number = 0;  // a block of 'tiles' is large, and slow on the emulator: every seventh layout
    const auto check = [&](const Layouts& layouts) { check_case(c, layouts, ++number % 7 == 0); };
    for_each_layout({2, 3, 5}, [&](const Layout& layout) { check({layout, {}, {}, layout}); });
    for_each_layout({2, 4, 5}, [&](const Layout& layout) { check({{}, layout, {}, {}}); });
    for_each_layout({2, 4, 5}, [&](const Layout& layout) { check({{}, {}, layout, {}}); });
}

TEST_CASE("a token alone gets its own value; token 0 of many sees itself only",
          "[day06][attention][small]") {
    const Case one = case_of({3}, 1, 1, 8), many = case_of({3}, 6, 6, 8);
    for (const AttentionPath path : kPaths) {
        CAPTURE(name(path));
        for (const Case* c : {&one, &many}) {
            DeviceIn<float> q(c->q), k(c->k), v(c->v);
            DeviceOut<float> got(c->q.shape());
            attend(path, q.view(), k.view(), v.view(), {}, got.view());
            const Tensor<float> y = got.values();
            for (std::int64_t h = 0; h < 3; ++h) {
                for (std::int64_t d = 0; d < 8; ++d) CHECK(y(h, 0, d) == c->v(h, 0, d));
            }
        }
    }
}

TEST_CASE("token by token against a cache gives what all tokens at once give",
          "[day06][attention][small]") {
    const std::int64_t H = 2, T = 7, capacity = 10, D = 8;
    const Case all = case_of({H}, T, T, D);
    const Wanted want = wanted(all);
    Tensor<float> k({H, capacity, D}), v({H, capacity, D});
    for (std::int64_t i = 0; i < k.size(); ++i) k.data()[i] = v.data()[i] = NAN;  // not filled yet
    Tensor<std::int64_t> length(Shape{}, {0});
    for (std::int64_t t = 0; t < T; ++t) {
        Tensor<float> q({H, 1, D});
        Wanted now({H, 1, D});
        for (std::int64_t i = 0; i < H * D; ++i) {
            q.data()[i] = all.q(i / D, t, i % D);
            k(i / D, t, i % D) = all.k(i / D, t, i % D);
            v(i / D, t, i % D) = all.v(i / D, t, i % D);
            now.value.data()[i] = want.value(i / D, t, i % D);
            now.bound.data()[i] = want.bound(i / D, t, i % D);
        }
        length() = t + 1;
        DeviceIn<float> dq(q), dk(k), dv(v);
        DeviceIn<std::int64_t> dl(length);
        HostOut<float> loop({H, 1, D});
        attention_cpu(q.view(), k.view(), v.view(), {true, 0, length.view()}, loop.view());
        CHECK(agrees(loop, now));
        for (const AttentionPath path : kPaths) {
            CAPTURE(t, name(path));
            DeviceOut<float> got({H, 1, D});
            attend(path, dq.view(), dk.view(), dv.view(), {true, 0, dl.view()}, got.view());
            CHECK(agrees(got, now));
        }
    }
}

TEST_CASE("a NaN in what a token sees reaches it, whatever its share; one ahead does not",
          "[day06][attention][small]") {
    Case c = case_of({}, 40, 40, 4);
    for (std::int64_t d = 0; d < 4; ++d) c.k(3, d) = c.q(3, d) = 0;
    c.v(20, 1) = NAN;  // tokens 20 and later
    c.k(35, 2) = NAN;  // tokens 35 and later, all of their elements
    for (std::int64_t d = 0; d < 4; ++d)
        c.k(5, d) = -1e4f * c.q(30, d);  // a share of 0 for token 30
    c.v(5, 0) = NAN;
    const Wanted want = wanted(c);
    CHECK(std::isnan(want.value(20, 1)));
    CHECK_FALSE(std::isnan(want.value(19, 1)));
    CHECK(std::isnan(want.value(30, 0)));
    CHECK_FALSE(std::isnan(want.value(4, 0)));
    check_case(c);
    Case longer = case_of({}, 128, 128, 4);  // a whole tile on the diagonal
    longer.v(100, 1) = NAN;
    check_case(longer);
}

TEST_CASE("scores of 10,000 overflow nothing", "[day06][attention][small]") {
    Case c = case_of({}, 3, 50, 4);
    c.scale = 4000;
    check_case(c);
}

TEST_CASE("larger scores come in later tiles, or in earlier ones", "[day06][attention][small]") {
    for (const bool rising : {true, false}) {
        Case c = case_of({}, 3, 100, 4);
        for (std::int64_t s = 0; s < 100; ++s) {
            for (std::int64_t d = 0; d < 4; ++d) {
                c.k(s, d) = static_cast<float>(rising ? s : 100 - s) * 0.25f;
            }
        }
        c.scale = 0.125;
        check_case(c);
        c.scale = 40;  // an earlier maximum that was forgotten would make exp overflow
        check_case(c);
    }
}

TEST_CASE("q, k, v or out alone may be no rows of quads", "[day06][attention][small]") {
    Case c = case_of({}, 2, 2, 8);
    c.causal = false;
    for (const Standing<float>& one : standings<float>()) {
        for (int operand = 0; operand < 4; ++operand) {
            CAPTURE(one.what, operand);
            Layouts given;
            Layout* const layouts[] = {&given.q, &given.k, &given.v, &given.out};
            Lead* const leads[] = {&given.lead_q, &given.lead_k, &given.lead_v, &given.lead_out};
            *layouts[operand] = one.layout;
            *leads[operand] = one.lead;
            check_case(c, given, operand < 3 && !one.quads);  // 'tiles' is slow on the emulator
            DeviceIn<float> q(c.q), other(c.k, one.layout, one.lead), k(c.k);
            DeviceOut<float> got(c.q.shape());
            const AttentionPath want =
                one.quads ? AttentionPath::split_blocks : AttentionPath::split_keys;
            if (operand == 0) {
                CHECK(choose_attention(other.view(), k.view(), k.view()) ==
                      AttentionPath::split_blocks);
            } else if (operand == 1) {
                CHECK(choose_attention(q.view(), other.view(), k.view()) == want);
                CHECK(takes(AttentionPath::split_blocks, q.view(), other.view(), k.view(),
                            got.view()) == one.quads);
            } else if (operand == 2) {
                CHECK(choose_attention(q.view(), k.view(), other.view()) == want);
                CHECK(takes(AttentionPath::split_blocks, q.view(), k.view(), other.view(),
                            got.view()) == one.quads);
            }
        }
    }
}

TEST_CASE("attention's path changes at each number of queries and width where it should",
          "[day06][attention][small]") {
    const auto path = [](std::int64_t T, std::int64_t D, std::int64_t S = 9) {
        return choose_attention({nullptr, Shape{2, T, D}}, {nullptr, Shape{2, S, D}},
                                {nullptr, Shape{2, S, D}});
    };
    CHECK(path(1, 8) == AttentionPath::split_blocks);
    CHECK(path(4, 8) == AttentionPath::split_blocks);
    CHECK(path(5, 8) == AttentionPath::fused);
    CHECK(path(63, 8) == AttentionPath::fused);
    CHECK(path(64, 8) == AttentionPath::tiles);
    CHECK(path(4, 7) == AttentionPath::split_keys);  // no whole quads
    CHECK(path(4, 128) == AttentionPath::split_blocks);
    CHECK(path(64, 128) == AttentionPath::tiles);
    for (const std::int64_t T : {1, 5, 64}) CHECK(path(T, 129) == AttentionPath::wide_heads);
    const auto kernel = [&](std::int64_t T, std::int64_t S, std::int64_t D) {
        const Case x = case_of({2}, T, S, D);
        DeviceIn<float> q(x.q), k(x.k), v(x.v);
        DeviceOut<float> got(x.q.shape());
        attention_cuda(q.view(), k.view(), v.view(), {}, got.view());
        CHECK(agrees(got, wanted(x)));
        return last_kernel();
    };
    CHECK(kernel(5, 5, 8) == "attention_fused_kernel");
    CHECK(kernel(64, 64, 8) == "attention_tiles_kernel");
    CHECK(kernel(4, 9, 8) == "attention_split_blocks_kernel");
    CHECK(kernel(4, 9, 7) == "attention_split_keys_kernel");
    CHECK(kernel(2, 3, 129) == "attention_wide_heads_kernel");
}

TEST_CASE("a path that cannot take these heads is refused, and nothing is written",
          "[day06][attention][small]") {
    const Case c = case_of({2}, 5, 5, 8), wide = case_of({}, 2, 3, 129);
    DeviceIn<float> q(c.q), k(c.k), v(c.v), wq(wide.q), wk(wide.k), wv(wide.v);
    DeviceOut<float> untouched(c.q.shape()), wide_out(wide.q.shape());
    CHECK(refusal([&] {
              attention_cuda(q.view(), k.view(), v.view(), {}, untouched.view(),
                             {.path = AttentionPath::four_passes});
          }) ==
          "attention: a workspace of 0 bytes at a null pointer was given, but 16584 are needed");
    CHECK(contains(
        refusal([&] {
            attention_cuda(slice(q.view(), 2, 0, 6), slice(k.view(), 2, 0, 6),
                           slice(v.view(), 2, 0, 6), {}, slice(untouched.view(), 2, 0, 6),
                           {.path = AttentionPath::split_blocks});
        }),
        "attention: the path 'split blocks' needs keys and values of whole quads along memory"));
    for (const AttentionPath path : {AttentionPath::fused, AttentionPath::split_keys,
                                     AttentionPath::tiles, AttentionPath::split_blocks}) {
        CHECK(refusal([&] {
                  attention_cuda(wq.view(), wk.view(), wv.view(), {}, wide_out.view(),
                                 {.path = path});
              }) ==
              std::string("attention: a head of 129 numbers; 128 is the most that the path '") +
                  name(path) + "' takes. 'wide heads' takes any");
    }
    CHECK(untouched.untouched());
    CHECK(wide_out.untouched());
}

TEST_CASE("attention says how much workspace each path can use", "[day06][attention][small]") {
    const auto bytes = [](std::int64_t queries, std::int64_t S, std::optional<AttentionPath> path,
                          std::int64_t T = 1, std::int64_t D = 8) {
        return attention_workspace_bytes({nullptr, Shape{queries, T, D}},
                                         {nullptr, Shape{queries, S, D}},
                                         {nullptr, Shape{queries, S, D}}, path);
    };
    const std::int64_t counters = gpu::Carver::kCounterBytes;
    const auto split = AttentionPath::split_blocks;
    CHECK(bytes(10, 5, AttentionPath::four_passes) == counters + 4 * 10 * 5);
    CHECK(bytes(10, 0, AttentionPath::four_passes) == 0);
    for (const auto path : {AttentionPath::fused, AttentionPath::split_keys, AttentionPath::tiles,
                            AttentionPath::wide_heads}) {
        CHECK(bytes(10, 500, path) == 0);
    }
    CHECK(bytes(2, 64, split) == 0);  // 64 keys of a part, at least
    CHECK(bytes(2, 65, split) == counters + 4 * 2 * 2 * 10);
    CHECK(bytes(2, 128, split) == counters + 4 * 2 * 2 * 10);
    CHECK(bytes(2, 129, split) == counters + 4 * 2 * 3 * 10);
    CHECK(bytes(2, 64 * 300, split) == counters + 4 * 2 * 256 * 10);  // 512 blocks, at most
    CHECK(bytes(256, 6400, split) == counters + 4 * 256 * 2 * 10);
    CHECK(bytes(257, 6400, split) == 0);  // so no workspace has too few counters
    CHECK(bytes(2, 200, {}) == bytes(2, 200, split));
    CHECK(bytes(2, 200, {}, 5) == 0);
    CHECK(bytes(2, 200, {}, 1, 7) == 0);
    CHECK(contains(refusal([] {
                       (void)attention_workspace_bytes(
                           {nullptr, Shape{2, 3}}, {nullptr, Shape{5, 4}}, {nullptr, Shape{5, 4}});
                   }),
                   "attention: q has shape (2, 3), but k (5, 4)"));
}

TEST_CASE("without a key every token gets 0, by every path, and no key needs an address",
          "[day06][attention][small]") {
    for (const std::int64_t D : {8, 7, 130}) {
        const Tensor<float> q = few({2, 3, D}, 5, 13), zeros({2, 3, D});
        const View<const float> none(nullptr, Shape{2, 0, D});
        HostOut<float> loop({2, 3, D});
        attention_cpu(q.view(), none, none, {}, loop.view());
        CHECK(loop.matches(zeros));
        DeviceIn<float> d(q);
        for (const AttentionPath path : kPaths) {
            CAPTURE(D, name(path));
            DeviceOut<float> got({2, 3, D});
            if (!takes(path, d.view(), none, none, got.view())) continue;
            attend(path, d.view(), none, none, {}, got.view());
            CHECK(got.matches(zeros));
        }
        DeviceOut<float> chosen({2, 3, D});
        attention_cuda(d.view(), none, none, {}, chosen.view());
        CHECK(chosen.matches(zeros));
    }
}

TEST_CASE("what is almost attention is refused", "[day06][attention][small]") {
    const std::int64_t T = 4, S = 60, D = 8;
    const Case c = {seeded<float>({T, D}, 1, -1, 1), seeded<float>({S, D}, 2, -1, 1),
                    seeded<float>({S, D}, 3, -1, 1)};
    const Wanted want = wanted(c);
    const auto accepted = [&](const Case& other) {
        const Wanted almost = wanted(other);
        Tensor<float> y({T, D});
        for (std::int64_t i = 0; i < T * D; ++i) {
            y.data()[i] = static_cast<float>(almost.value.data()[i]);
        }
        return bool(agrees(HostOut<float>::holding(y), want));
    };
    // The first `digits` bits behind the point of every number.
    const auto rounded = [](Tensor<float> x, int digits) {
        for (std::int64_t i = 0; i < x.size(); ++i) {
            const int e = x.data()[i] == 0 ? 0 : std::ilogb(x.data()[i]);
            x.data()[i] =
                std::ldexp(std::nearbyint(std::ldexp(x.data()[i], digits - e)), e - digits);
        }
        return x;
    };
    CHECK(accepted(c));
    Case other = c;
    other.causal = false;  // the first three see one, two or three keys too many
    CHECK_FALSE(accepted(other));
    other = c;
    other.scale = 1.0005 / std::sqrt(static_cast<double>(D));
    CHECK_FALSE(accepted(other));
    other = c;
    other.counted = S - 1;
    CHECK_FALSE(accepted(other));
    for (const int digits : {10, 7}) {  // TF32, bf16
        other = c;
        other.k = rounded(c.k, digits);
        CHECK_FALSE(accepted(other));
        other = c;
        other.v = rounded(c.v, digits);
        CHECK_FALSE(accepted(other));
    }
}

TEST_CASE("many blocks share a query's keys, and each call leaves their counters at 0",
          "[day06][attention][small]") {
    const Case c = case_of({2}, 1, 200, 8);
    DeviceIn<float> q(c.q), k(c.k), v(c.v);
    const std::int64_t bytes = attention_workspace_bytes(q.view(), k.view(), v.view());
    CHECK(bytes ==
          gpu::Carver::kCounterBytes + 4 * 2 * 4 * 10);  // of 2 queries 4 parts, 8 + 2 floats each
    gpu::Buffer<std::byte> memory(bytes);
    memory.fill_bytes(0);
    for (int call = 0; call < 3; ++call) {
        DeviceOut<float> got(c.q.shape());
        attention_cuda(q.view(), k.view(), v.view(), {}, got.view(), {.workspace = memory});
        CHECK(last_kernel() == "attention_split_blocks_kernel");
        CHECK(agrees(got, wanted(c)));
        const std::vector<std::byte> left = memory.download();
        for (std::int64_t i = 0; i < gpu::Carver::kCounterBytes; ++i) {
            CHECK(left[static_cast<std::size_t>(i)] == std::byte{0});
        }
    }
}

TEST_CASE("a length that cannot be: the loop says so, the ports answer NaN",
          "[day06][attention][small]") {
    const Case c = case_of({2}, 2, 5, 8);
    for (const std::int64_t bad : {-1, 6}) {
        const Tensor<std::int64_t> length(Shape{}, {bad});
        HostOut<float> h(c.q.shape());
        CHECK(refusal([&] {
                  attention_cpu(c.q.view(), c.k.view(), c.v.view(), {true, 0, length.view()},
                                h.view());
              }) == "attention: length is " + std::to_string(bad) + ", but there are 5 keys");
        CHECK(h.untouched());
        DeviceIn<float> q(c.q), k(c.k), v(c.v);
        DeviceIn<std::int64_t> dl(length);
        Tensor<double> nothing(c.q.shape());
        for (std::int64_t i = 0; i < nothing.size(); ++i)
            nothing.data()[i] = static_cast<double>(NAN);
        for (const AttentionPath path : kPaths) {
            DeviceOut<float> got(c.q.shape(), {}, Poison{0x11});
            attend(path, q.view(), k.view(), v.view(), {true, 0, dl.view()}, got.view());
            CHECK(got.close_to(nothing, 0, Nans::where_expected));
        }
    }
}

TEST_CASE("loop and port of attention refuse the same, in the same words",
          "[day06][attention][small]") {
    const Tensor<float> q = few({2, 3, 4}, 5, 13), k = few({2, 5, 4}, 7, 11),
                        odd = few({3, 5, 4}, 7, 11), narrow = few({2, 5, 3}, 7, 11);
    DeviceIn<float> dq(q), dk(k), dodd(odd), dnarrow(narrow);
    HostOut<float> h({2, 3, 4});
    DeviceOut<float> g({2, 3, 4});
    const auto refused = [&](View<const float> hq, View<const float> gq, View<const float> hk,
                             View<const float> gk, View<const float> hv, View<const float> gv,
                             const char* words, const AttentionOptions& options = {}) {
        CHECK(both_refuse([&] { attention_cpu(hq, hk, hv, options, h.view()); },
                          [&] { attention_cuda(gq, gk, gv, options, g.view()); }, words));
    };
    const auto hq = q.view(), hk = k.view();
    const auto gq = dq.view(), gk = dk.view();
    refused(slice(hq, 1, 0, 2), slice(gq, 1, 0, 2), hk, gk, hk, gk,
            "q has shape (2, 2, 4), but out has shape (2, 3, 4)");
    refused({q.data(), Shape{4}}, {gq.data, Shape{4}}, hk, gk, hk, gk,
            "q has shape (4), but needs tokens and a head");
    refused(hq, gq, odd.view(), dodd.view(), hk, gk,
            "attention: k: broadcast of shape (3, 5, 4) to (2, 5, 4)");
    refused(hq, gq, hk, gk, odd.view(), dodd.view(),
            "attention: v: broadcast of shape (3, 5, 4) to (2, 5, 4)");
    refused(hq, gq, narrow.view(), dnarrow.view(), hk, gk,
            "q has shape (2, 3, 4), but k (2, 5, 3); the last dims, of one head, must be equal");
    refused(hq, gq, hk, gk, slice(hk, 1, 0, 4), slice(gk, 1, 0, 4),
            "k has shape (2, 5, 4), but v (2, 4, 4); there must be a value for each key");
    refused(hq, gq, {nullptr, Shape{2, 5, 4}}, {nullptr, Shape{2, 5, 4}}, hk, gk,
            "k is a null pointer");
    refused({nullptr, Shape{2, 3, 4}}, {nullptr, Shape{2, 3, 4}}, hk, gk, hk, gk,
            "q is a null pointer");
    refused(h.view(), g.view(), hk, gk, hk, gk, "attention: q overlaps out");
    refused(hq, gq, h.view(), g.view(), h.view(), g.view(), "attention: k overlaps out");
    refused(hq, gq, slice(hk, 1, 0, 3), slice(gk, 1, 0, 3), h.view(), g.view(),
            "attention: v overlaps out");
    refused(hq, gq, hk, gk, hk, gk, "attention: scale is nan", {true, NAN});
    const std::int64_t two[2] = {1, 2};
    refused(hq, gq, hk, gk, hk, gk, "length has shape (2) of rank 1", {true, 0, {two, Shape{2}}});
    CHECK(both_refuse(
        [&] {
            attention_cpu(hq, hk, hk, {}, broadcast_to(slice(h.view(), 0, 0, 1), {2, 3, 4}));
        },
        [&] {
            attention_cuda(gq, gk, gk, {}, broadcast_to(slice(g.view(), 0, 0, 1), {2, 3, 4}));
        },
        "writers of it would race"));
    CHECK(h.untouched());
    CHECK(g.untouched());
    CHECK(contains(refusal([&] { (void)heads_of(q.view(), 1); }),
                   "heads_of: a shape (2, 3, 4) is not (B, T, 3 C)"));
    const Tensor<float> qkv({1, 2, 12});
    CHECK(contains(refusal([&] { (void)heads_of(qkv.view(), 3); }),
                   "heads: 3 heads do not divide the last dim of shape (1, 2, 4), (B, T, C)"));
}

}  // namespace
