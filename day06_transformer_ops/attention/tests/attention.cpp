// The proof of the set attention: loop and every path against float64, over every element.

#include "day06_transformer_ops/attention/tests/reference.hpp"

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

TEST_CASE("attention is what NumPy says, causal or not, with as many keys as count",
          "[day06][attention][small]") {
    for (const GoldenAttention& g : golden_attention) {
        CAPTURE(g.T, g.S, g.D, g.causal, g.counted);
        Case c = case_of({}, g.T, g.S, g.D);
        c.causal = g.causal;
        c.counted = g.counted;
        const Expected want = wanted(c);
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
    Case query = case_of({}, 1, 65, 8);  // and one query
    check_case(query, {one, {}, {}, {}});
    // Keys alone, or values alone.
    check_case(c, {{}, one, {}, {}});
    check_case(c, {{}, {}, one, {}});
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
    const Expected heads = wanted(c);
    Expected want({B, T, C});  // joined: (B, T, H, D)
    for (std::int64_t i = 0; i < want.value.size(); ++i) {
        const Index at = unravel(i, {B, T, H, D});
        const Index from = {at[0], at[2], at[1], at[3]};
        want.value.data()[i] = heads.value.view()(from);
        want.error.data()[i] = heads.error.view()(from);
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
    const Expected want = wanted(c);
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
    const Expected want = wanted(all);
    Tensor<float> k({H, capacity, D}), v({H, capacity, D});
    for (std::int64_t i = 0; i < k.size(); ++i) k.data()[i] = v.data()[i] = NAN;  // not filled yet
    Tensor<std::int64_t> length(Shape{}, {0});
    for (std::int64_t t = 0; t < T; ++t) {
        Tensor<float> q({H, 1, D});
        Expected now({H, 1, D});
        for (std::int64_t i = 0; i < H * D; ++i) {
            q.data()[i] = all.q(i / D, t, i % D);
            k(i / D, t, i % D) = all.k(i / D, t, i % D);
            v(i / D, t, i % D) = all.v(i / D, t, i % D);
            now.value.data()[i] = want.value(i / D, t, i % D);
            now.error.data()[i] = want.error(i / D, t, i % D);
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
    const Expected want = wanted(c);
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

// The log of sums of each query of case c in double, and its bound: a score is off by `scores` at
// most (reference.hpp), which moves every term of the sum alike; the sum as there; log2, two
// additions and the factor 1 / log2(e) are rounded once each, of the sizes that they have.
Expected wanted_logs(const Case& c) {
    const std::int64_t T = c.q.shape()[1], S = c.k.shape()[1], D = c.q.shape()[2];
    Expected want({c.q.shape()[0], T});
    for (std::int64_t r = 0; r < want.value.size(); ++r) {
        const std::int64_t h = r / T, t = r % T;
        const std::int64_t n = c.causal ? std::max<std::int64_t>(S - T + t + 1, 0) : S;
        double sum = 0, scores = 0, m = -INFINITY;
        for (std::int64_t s = 0; s < n; ++s) {
            double score = 0, size = 0;
            for (std::int64_t d = 0; d < D; ++d) {
                const double term =
                    double{c.q(h, t, d)} * double{c.k(h, s, d)} / std::sqrt(double(D));
                score += term;
                size += std::fabs(term);
            }
            sum += std::exp(score);
            m = std::max(m, score);
            scores = std::max(scores, (static_cast<double>(D) + 6) * size);
        }
        want.value.data()[r] = std::log(sum);
        if (n == 0) continue;
        want.error.data()[r] = kU * (2 * scores + 4 * static_cast<double>(n) + 40 +
                                     4 * (std::fabs(m) + std::fabs(std::log(sum))));
    }
    return want;
}

TEST_CASE("in tiles attention leaves the logs of its sums, and the same output",
          "[day06][attention][small]") {
    const std::int64_t sizes[][3] = {{1, 1, 8}, {5, 9, 3}, {9, 5, 64}, {65, 130, 4}, {3, 66, 72}};
    for (const auto& [T, S, D] : sizes) {
        for (const bool causal : {true, false}) {
            CAPTURE(T, S, D, causal);
            Case c = case_of({2}, T, S, D);
            c.causal = causal;
            DeviceIn<float> q(c.q), k(c.k), v(c.v);
            DeviceOut<float> alone({2, T, D}), out({2, T, D}), logs(Layout({2, T}, {1, 2}));
            attend(AttentionPath::tiles, q.view(), k.view(), v.view(), {causal}, alone.view());
            attention_and_log_sums_cuda(q.view(), k.view(), v.view(), {causal}, out.view(),
                                        logs.view());
            CHECK(out.matches(alone.values()));
            CHECK(agrees(logs, wanted_logs(c)));
        }
    }
}

TEST_CASE(
    "a length that cannot be makes the logs of the sums NaN, too; without a key they are "
    "-infinity",
    "[day06][attention][small]") {
    const Case c = case_of({2}, 3, 5, 8);
    DeviceIn<float> q(c.q), k(c.k), v(c.v);
    for (const std::int64_t counted :
         {std::int64_t{-1}, std::int64_t{6}, INT64_MIN, INT64_MAX, std::int64_t{0}}) {
        CAPTURE(counted);
        DeviceIn<std::int64_t> length(Tensor<std::int64_t>(Shape{}, {counted}));
        DeviceOut<float> out({2, 3, 8}, {}, Poison{0x11}), logs({2, 3}, {}, Poison{0x11});
        attention_and_log_sums_cuda(q.view(), k.view(), v.view(), {true, 0, length.view()},
                                    out.view(), logs.view());
        const bool none = counted == 0;
        Tensor<double> want({2, 3, 8}), want_logs({2, 3});
        std::fill_n(want.data(), want.size(), none ? 0.0 : static_cast<double>(NAN));
        std::fill_n(want_logs.data(), want_logs.size(), none ? -INFINITY : NAN);
        CHECK(out.close_to(want, 0, Nans::where_expected));
        CHECK(logs.close_to(want_logs, 0, Nans::where_expected));
    }
}

TEST_CASE("logs of sums that do not fit are refused", "[day06][attention][small]") {
    const Case c = case_of({2}, 4, 4, 8);
    DeviceIn<float> q(c.q), k(c.k), v(c.v);
    DeviceOut<float> out({2, 4, 8}), logs({2, 4});
    const auto refused = [&](const View<float>& log_sums) {
        return refusal([&] {
            attention_and_log_sums_cuda(q.view(), k.view(), v.view(), {}, out.view(), log_sums);
        });
    };
    CHECK(refused(logs.view()).empty());
    CHECK(refused(transpose(logs.view())) ==
          "attention: log_sums has shape (4, 2), but there is one for each query: (2, 4)");
    CHECK(refused({out.view().data, Shape{2, 4}}) ==
          "attention: out overlaps log_sums, which is written; out spans bytes [0, 256), log_sums "
          "bytes [0, 32)");
    CHECK(contains(refused(broadcast_to(slice(logs.view(), 0, 0, 1), {2, 4})), "log_sums"));
}

TEST_CASE("what is almost attention is refused", "[day06][attention][small]") {
    const std::int64_t T = 4, S = 60, D = 8;
    const Case c = {seeded<float>({T, D}, 1, -1, 1), seeded<float>({S, D}, 2, -1, 1),
                    seeded<float>({S, D}, 3, -1, 1)};
    const Expected want = wanted(c);
    const auto accepted = [&](const Case& other) {
        const Expected almost = wanted(other);
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

}  // namespace
