// Tests of attention's backward pass: CPU reference and kernels against central differences and
// PyTorch's autograd, over every element; and argument checks, one operand at a time.
#include <bit>
#include <cstring>

#include "day06_transformer_ops/training/backward/attention_backward.hpp"
#include "day06_transformer_ops/training/backward/tests/near.hpp"
#include "day06_transformer_ops/training/tests/rejections.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

#include "day06_transformer_ops/training/backward/tests/golden_operations.inc"

struct Attention {
    Tensor<float> q, k, v, grad;  // (B, H, T, D), (B, G, S, D) with G = H or 1
    bool causal = true;
    float scale = 0;
};
struct AttentionSlopes {
    Tensor<double> q, k, v;
};
struct AttentionNear {
    Tensor<Near> q, k, v;
    Tensor<float> out, log_sums;  // saved by the forward pass, rounded
};

// The formulas of attention_backward.hpp. kept: the backward pass begins with the saved results of
// the forward pass.
AttentionNear near_of(const Attention& c, bool kept = false) {
    const Shape s = c.q.shape();
    const std::int64_t T = s[2], D = s[3], S = c.k.shape()[2], G = c.k.shape()[1];
    const double exact = c.scale != 0 ? double{c.scale} : 1 / std::sqrt(double(D));
    const Near scale = result(exact, 0, 4);  // a root, a quotient, and log2(e) for exp2
    const auto of = [](const Tensor<float>& x, const Index& at) { return Near{double{x(at)}}; };
    Tensor<std::vector<Near>> terms_k(c.k.shape()), terms_v(c.k.shape());
    AttentionNear made{Tensor<Near>(s), Tensor<Near>(c.k.shape()), Tensor<Near>(c.k.shape()),
                       Tensor<float>(s), Tensor<float>({s[0], s[1], T})};
    for (std::int64_t r = 0; r < s[0] * s[1] * T; ++r) {
        const std::int64_t b = r / T / s[1], h = r / T % s[1], t = r % T, g = G == 1 ? 0 : h;
        const std::int64_t n = c.causal ? std::max<std::int64_t>(S - T + t + 1, 0) : S;
        std::vector<Near> score, e, d_weight, mean;
        double m = -INFINITY, least = INFINITY;
        for (std::int64_t i = 0; i < n; ++i) {
            std::vector<Near> of_score, of_weight;
            for (std::int64_t d = 0; d < D; ++d) {
                of_score.push_back(of(c.q, {b, h, t, d}) * of(c.k, {b, g, i, d}));
                of_weight.push_back(of(c.grad, {b, h, t, d}) * of(c.v, {b, g, i, d}));
            }
            score.push_back(scale * total(of_score));
            d_weight.push_back(total(of_weight));
            m = std::max(m, score.back().value), least = std::min(least, score.back().value);
        }
        // The result does not depend on m. A tile with a larger m rescales the sums by exp
        // of the difference, and so do threads that combine theirs.
        const double tiles = static_cast<double>(n / 64 + 2);
        const Near again = result(1, 0, tiles * 6 + 2 * (m - least));
        for (std::size_t i = 0; i < score.size(); ++i) {
            e.push_back(exp_of(score[i] - Near{m}) * again);
            mean.push_back(e[i] * d_weight[i]);
        }
        const Near sum = total(e);
        Near log_sum = Near{m} + log_of(sum), delta = total(mean) / sum;
        std::vector<Near> grad_out;
        for (std::int64_t d = 0; d < D; ++d) {
            double out = 0;
            for (std::int64_t i = 0; i < n; ++i) {
                out += e[static_cast<std::size_t>(i)].value / sum.value * double{c.v(b, g, i, d)};
            }
            made.out(b, h, t, d) = static_cast<float>(out);
            grad_out.push_back(of(c.grad, {b, h, t, d}) * result(out, 0));
        }
        made.log_sums(b, h, t) = static_cast<float>(log_sum.value);
        if (kept) {
            log_sum = result(log_sum.value, 0, 3);  // saved as a float, then multiplied by log2(e)
            delta = total(grad_out);
        }
        std::vector<Near> weight, d_score;
        for (std::size_t i = 0; i < score.size(); ++i) {
            weight.push_back(exp_of(score[i] - log_sum));
            d_score.push_back(weight[i] * (d_weight[i] - delta));
        }
        for (std::int64_t d = 0; d < D; ++d) {
            std::vector<Near> terms;
            for (std::int64_t i = 0; i < n; ++i) {
                const auto at = static_cast<std::size_t>(i);
                const Near factor = scale * d_score[at];
                terms.push_back(factor * of(c.k, {b, g, i, d}));
                terms_k(b, g, i, d).push_back(factor * of(c.q, {b, h, t, d}));
                terms_v(b, g, i, d).push_back(weight[at] * of(c.grad, {b, h, t, d}));
            }
            made.q(b, h, t, d) = total(terms);
        }
    }
    for (std::int64_t i = 0; i < made.k.size(); ++i) {
        made.k.data()[i] = total(terms_k.data()[i]);
        made.v.data()[i] = total(terms_v.data()[i]);
    }
    return made;
}

Tensor<double> values_of(const Tensor<Near>& all) {
    Tensor<double> values(all.shape());
    for (std::int64_t i = 0; i < all.size(); ++i) values.data()[i] = all.data()[i].value;
    return values;
}

// A view (B, H, T, D) whose memory is (B, T, H, D), as for heads in one buffer.
Layout heads_behind_tokens(const Shape& s) {
    return Layout(s, {s[1] * s[2] * s[3], s[3], s[1] * s[3], 1});
}

constexpr AttentionBackwardPath kAttentionPaths[] = {AttentionBackwardPath::row_per_thread,
                                                     AttentionBackwardPath::tiles};

// Checks the path 'kept', with outputs and log-sum-exps that are exact except for rounding; twice,
// to the same bits.
void check_kept(const Attention& c, const AttentionSlopes& want) {
    const AttentionNear near = near_of(c, true);
    const Layout q = heads_behind_tokens(c.q.shape()), k = heads_behind_tokens(c.k.shape());
    const Shape& s = c.q.shape();
    const Layout logs({s[0], s[1], s[2]}, {s[1] * s[2], 1, s[1]});
    DeviceIn<float> dq(c.q, q), dk(c.k, k), dv(c.v, k), dg(c.grad, q), out(near.out, q),
        log_sums(near.log_sums, logs);
    auto memory = room_of(attention_backward_workspace_bytes(dq.view()));
    std::vector<Tensor<float>> first;
    for (int i = 0; i < 2; ++i) {
        DeviceOut<float> got_q(q), got_k(k), got_v(k);
        attention_backward_from_left_cuda(
            dq.view(), dk.view(), dv.view(), {c.causal, c.scale}, {out.view(), log_sums.view()},
            dg.view(), {got_q.view(), got_k.view(), got_v.view()},
            {.path = AttentionBackwardPath::kept, .workspace = memory});
        CHECK(got_q.close_to(want.q, bound_of(near.q)));
        CHECK(got_k.close_to(want.k, bound_of(near.k)));
        CHECK(got_v.close_to(want.v, bound_of(near.v)));
        for (const auto* got : {&got_q, &got_k, &got_v}) first.push_back(got->values());
    }
    for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t bytes = static_cast<std::size_t>(first[i].size()) * sizeof(float);
        CHECK(std::memcmp(first[i].data(), first[i + 3].data(), bytes) == 0);
    }
    CHECK(out.unchanged());
    CHECK(log_sums.unchanged());
    CHECK(dg.unchanged());
}

// tiled: also the tiled paths, which take the emulator seconds.
void check(const Attention& c, const AttentionSlopes& want, bool tiled = true) {
    const AttentionOptions options{c.causal, c.scale};
    const AttentionNear near = near_of(c);
    const Bound of_q = bound_of(near.q), of_k = bound_of(near.k), of_v = bound_of(near.v);
    for (const bool plain : {true, false}) {
        const auto of = [&](const Shape& s) {
            return plain ? row_major(s) : heads_behind_tokens(s);
        };
        const Layout q = of(c.q.shape()), k = of(c.k.shape());
        HostIn<float> hq(c.q, q), hk(c.k, k), hv(c.v, k), hg(c.grad, q);
        HostOut<float> loop_q(q), loop_k(k), loop_v(k);
        attention_backward_cpu(hq.view(), hk.view(), hv.view(), options, hg.view(),
                               {loop_q.view(), loop_k.view(), loop_v.view()});
        CHECK(loop_q.close_to(want.q, of_q));
        CHECK(loop_k.close_to(want.k, of_k));
        CHECK(loop_v.close_to(want.v, of_v));
        DeviceIn<float> dq(c.q, q), dk(c.k, k), dv(c.v, k), dg(c.grad, q);
        auto memory = room_of(attention_backward_workspace_bytes(dq.view()));
        for (const auto path : kAttentionPaths) {
            if (path == AttentionBackwardPath::tiles && (plain || !tiled)) continue;
            CAPTURE(name(path));
            DeviceOut<float> got_q(q), got_k(k), got_v(k);
            attention_backward_cuda(dq.view(), dk.view(), dv.view(), options, dg.view(),
                                    {got_q.view(), got_k.view(), got_v.view()},
                                    {.path = path, .workspace = memory});
            CHECK(got_q.close_to(want.q, of_q));
            CHECK(got_k.close_to(want.k, of_k));
            CHECK(got_v.close_to(want.v, of_v));
        }
        CHECK(dq.unchanged());
        CHECK(dk.unchanged());
        CHECK(dv.unchanged());
        CHECK(dg.unchanged());
    }
    if (tiled) check_kept(c, want);
}

// Attention in double, with plain indices.
double attended_in_double(const Attention& c, const Tensor<double>& q, const Tensor<double>& k,
                          const Tensor<double>& v) {
    const Shape s = q.shape();
    const std::int64_t T = s[2], D = s[3], S = k.shape()[2], G = k.shape()[1];
    const double scale = c.scale != 0 ? static_cast<double>(c.scale) : 1 / std::sqrt(double(D));
    double all = 0;
    for (std::int64_t r = 0; r < s[0] * s[1] * T; ++r) {
        const std::int64_t b = r / T / s[1], h = r / T % s[1], t = r % T, g = G == 1 ? 0 : h;
        const std::int64_t n = c.causal ? std::max<std::int64_t>(S - T + t + 1, 0) : S;
        double sum = 0;
        std::vector<double> e;
        for (std::int64_t i = 0; i < n; ++i) {
            double dot = 0;
            for (std::int64_t d = 0; d < D; ++d) dot += q(b, h, t, d) * k(b, g, i, d);
            e.push_back(std::exp(scale * dot));
            sum += e.back();
        }
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t d = 0; d < D; ++d) {
                all += static_cast<double>(c.grad(b, h, t, d)) * e[std::size_t(i)] / sum *
                       v(b, g, i, d);
            }
        }
    }
    return all;
}

AttentionSlopes slopes_of(const Attention& c) {
    Tensor<double> q = in_double(c.q), k = in_double(c.k), v = in_double(c.v);
    const auto all = [&] { return attended_in_double(c, q, k, v); };
    return {slopes(q, all), slopes(k, all), slopes(v, all)};
}

Attention random_attention(const Shape& q, const Shape& k) {
    return {random(q, 21), random(k, 22), random(k, 23), random(q, 24)};
}

TEST_CASE("attention's gradients match central differences", "[day06][training][small]") {
    const Shape shapes[][2] = {{{1, 1, 1, 1}, {1, 1, 1, 1}}, {{2, 3, 5, 4}, {2, 3, 5, 4}},
                               {{1, 2, 3, 2}, {1, 2, 7, 2}}, {{1, 2, 7, 2}, {1, 2, 3, 2}},
                               {{2, 2, 1, 3}, {2, 2, 4, 3}}, {{2, 3, 4, 2}, {2, 1, 4, 2}}};
    for (const auto& [q, k] : shapes) {
        for (const bool causal : {true, false}) {
            CAPTURE(to_string(q), to_string(k), causal);
            Attention c = random_attention(q, k);
            c.causal = causal;
            check(c, slopes_of(c), false);
            c.scale = 0.75f;
            check(c, slopes_of(c), causal || q[1] == 3);
        }
    }
}

TEST_CASE("attention's bound rejects operands of 11 bits, as in TF32", "[day06][training][small]") {
    Attention c = random_attention({1, 2, 5, 4}, {1, 2, 5, 4});
    const AttentionNear near = near_of(c);
    const auto cut = [](Tensor<float>& x) {
        for (std::int64_t i = 0; i < x.size(); ++i) {
            const auto bits = std::bit_cast<std::uint32_t>(x.data()[i]);
            x.data()[i] = std::bit_cast<float>(bits & ~std::uint32_t{0x1fff});
        }
    };
    HostOut<float> q(c.q.shape()), k(c.q.shape()), v(c.q.shape());
    const auto agree = [&] {
        attention_backward_cpu(c.q.view(), c.k.view(), c.v.view(), {}, c.grad.view(),
                               {q.view(), k.view(), v.view()});
        return std::vector<bool>{bool(q.close_to(values_of(near.q), bound_of(near.q))),
                                 bool(k.close_to(values_of(near.k), bound_of(near.k))),
                                 bool(v.close_to(values_of(near.v), bound_of(near.v)))};
    };
    CHECK(agree() == std::vector<bool>{true, true, true});
    cut(c.q);  // affects every gradient
    CHECK(agree() == std::vector<bool>{false, false, false});
}

TEST_CASE("attention's gradients match PyTorch's", "[day06][training][small]") {
    const Shape q = {1, 2, 4, 3};
    const Attention c{floats(q, attention_q), floats(q, attention_k), floats(q, attention_v),
                      floats(q, attention_grad)};
    check(c, {doubles(q, attention_dq), doubles(q, attention_dk), doubles(q, attention_dv)});
}

TEST_CASE("tokens that a query does not see do not affect its gradient, even if they are NaN",
          "[day06][training][small]") {
    Attention c = random_attention({1, 1, 4, 2}, {1, 1, 4, 2});
    const AttentionSlopes whole = slopes_of(c);
    c.k(0, 0, 3, 0) = c.v(0, 0, 3, 1) = NAN;  // only the last token sees the last key
    HostOut<float> q({1, 1, 4, 2}), k({1, 1, 4, 2}), v({1, 1, 4, 2});
    attention_backward_cpu(c.q.view(), c.k.view(), c.v.view(), {}, c.grad.view(),
                           {q.view(), k.view(), v.view()});
    DeviceIn<float> dq(c.q), dk(c.k), dv(c.v), dg(c.grad);
    std::vector<Tensor<float>> all = {q.values()};
    auto memory = room_of(attention_backward_workspace_bytes(dq.view()));
    for (const auto path : kAttentionPaths) {
        DeviceOut<float> got_q({1, 1, 4, 2}), got_k({1, 1, 4, 2}), got_v({1, 1, 4, 2});
        attention_backward_cuda(dq.view(), dk.view(), dv.view(), {}, dg.view(),
                                {got_q.view(), got_k.view(), got_v.view()},
                                {.path = path, .workspace = memory});
        all.push_back(got_q.values());
    }
    DeviceOut<float> out({1, 1, 4, 2}), log_sums({1, 1, 4}), got_q({1, 1, 4, 2}),
        got_k({1, 1, 4, 2}), got_v({1, 1, 4, 2});
    attention_and_log_sums_cuda(dq.view(), dk.view(), dv.view(), {}, out.view(), log_sums.view());
    attention_backward_from_left_cuda(dq.view(), dk.view(), dv.view(), {},
                                      {out.view(), log_sums.view()}, dg.view(),
                                      {got_q.view(), got_k.view(), got_v.view()},
                                      {.path = AttentionBackwardPath::kept, .workspace = memory});
    all.push_back(got_q.values());
    for (const Tensor<float>& made : all) {
        for (std::int64_t t = 0; t < 3; ++t) {
            for (std::int64_t d = 0; d < 2; ++d) {
                CHECK(std::fabs(static_cast<double>(made(0, 0, t, d)) - whole.q(0, 0, t, d)) <
                      1e-5);
            }
        }
        CHECK(std::isnan(made(0, 0, 3, 0)));
    }
}

TEST_CASE("attention's tiled backward pass: ragged edges, S > T, shared heads, wide heads",
          "[day06][training][small]") {
    const Shape shapes[][2] = {{{1, 1, 65, 4}, {1, 1, 65, 4}},   {{1, 2, 70, 8}, {1, 1, 131, 8}},
                               {{1, 2, 130, 3}, {1, 2, 70, 3}},  {{1, 1, 66, 32}, {1, 1, 66, 32}},
                               {{1, 1, 66, 36}, {1, 1, 66, 36}}, {{1, 1, 66, 72}, {1, 1, 66, 72}}};
    for (const auto& [of_q, of_k] : shapes) {
        for (const bool causal : {true, false}) {
            if (!causal && of_q[3] > 4) continue;
            CAPTURE(to_string(of_q), to_string(of_k), causal);
            Attention c = random_attention(of_q, of_k);
            c.causal = causal;
            const AttentionNear near = near_of(c);  // its values match central differences
            check(c, {values_of(near.q), values_of(near.k), values_of(near.v)});
        }
    }
}

// The stride of a single token or key is never used and may be any number. Tiles still address rows
// past it, and even a copy of 0 bytes must start at a multiple of 16 bytes.
TEST_CASE("attention's backward pass of one token or one key, with an odd stride in each operand",
          "[day06][training][small]") {
    for (const auto& [T, S] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 3}, {3, 1}}) {
        Attention c = random_attention({1, 2, T, 8}, {1, 2, S, 8});
        c.causal = false;
        const AttentionNear near = near_of(c), near_kept = near_of(c, true);
        for (const std::string odd : {"q", "k", "v", "grad"}) {
            CAPTURE(T, S, odd);
            const auto layout = [&](const Tensor<float>& x, const char* name) {
                Layout of = row_major(x.shape());
                if (odd == name && x.shape()[2] == 1) of.stride(2) = 13;
                return of;
            };
            const DeviceIn<float> q(c.q, layout(c.q, "q")), k(c.k, layout(c.k, "k")),
                v(c.v, layout(c.v, "v")), grad(c.grad, layout(c.grad, "grad")), out(near_kept.out),
                log_sums(near_kept.log_sums);
            auto memory = room_of(attention_backward_workspace_bytes(q.view()));
            using Path = AttentionBackwardPath;
            for (const Path path : {Path::row_per_thread, Path::tiles, Path::kept}) {
                CAPTURE(name(path));
                DeviceOut<float> d_q(c.q.shape()), d_k(c.k.shape()), d_v(c.v.shape());
                const AttentionGradients d{d_q.view(), d_k.view(), d_v.view()};
                const gpu::Launch<Path> how{.path = path, .workspace = memory};
                const bool kept = path == Path::kept;
                if (kept) {
                    attention_backward_from_left_cuda(q.view(), k.view(), v.view(), {false},
                                                      {out.view(), log_sums.view()}, grad.view(), d,
                                                      how);
                } else {
                    attention_backward_cuda(q.view(), k.view(), v.view(), {false}, grad.view(), d,
                                            how);
                }
                const AttentionNear& want = kept ? near_kept : near;
                CHECK(d_q.close_to(values_of(want.q), bound_of(want.q)));
                CHECK(d_k.close_to(values_of(want.k), bound_of(want.k)));
                CHECK(d_v.close_to(values_of(want.v), bound_of(want.v)));
            }
        }
    }
}

TEST_CASE("attention's backward pass: tiles unless queries are few, heads wide, or memory small",
          "[day06][training][small]") {
    using Path = AttentionBackwardPath;
    const auto of_head = [](std::int64_t D, std::int64_t T = 32) {
        return View<const float>(nullptr, Shape{1, 1, T, D});
    };
    CHECK(choose_attention_backward(of_head(64, 31)) == Path::row_per_thread);
    CHECK(choose_attention_backward(of_head(128)) == Path::tiles);
    CHECK(choose_attention_backward(of_head(128, 65), SIZE_MAX, true) == Path::kept);
    CHECK(choose_attention_backward(of_head(128, 64), SIZE_MAX, true) == Path::tiles);
    CHECK(choose_attention_backward(of_head(129), SIZE_MAX, true) == Path::row_per_thread);
    CHECK(choose_attention_backward(of_head(64, 31), SIZE_MAX, true) == Path::row_per_thread);
    CHECK(choose_attention_backward(of_head(129)) == Path::row_per_thread);
    CHECK(choose_attention_backward(of_head(64), 88'064) == Path::tiles);
    CHECK(choose_attention_backward(of_head(64), 88'063) == Path::row_per_thread);
    CHECK(choose_attention_backward(of_head(65), 88'064) == Path::row_per_thread);
    CHECK(choose_attention_backward(of_head(32), 55'296) == Path::tiles);
    CHECK(choose_attention_backward(of_head(32), 55'295) == Path::row_per_thread);
    CHECK(choose_attention_backward(of_head(33), 55'296) == Path::row_per_thread);
    Attention c = random_attention({1, 1, 2, 129}, {1, 1, 2, 129});
    HostOut<float> q(c.q.shape()), k(c.q.shape()), v(c.q.shape());
    const std::string said = rejection([&] {
        check_attention_backward(c.q.view(), c.k.view(), c.v.view(), {}, c.grad.view(),
                                 {q.view(), k.view(), v.view()}, Path::tiles);
    });
    CHECK(contains(said, "a head of 129 numbers; 128 is the most that the path 'tiles' takes"));
    CHECK(contains(rejection([&] {
                       check_attention_backward(c.q.view(), c.k.view(), c.v.view(), {},
                                                c.grad.view(), {q.view(), k.view(), v.view()},
                                                Path::kept);
                   }),
                   "the path 'kept' needs the output and the log of sums"));
}

TEST_CASE("attention's backward pass rejects each operand that does not match, on its own",
          "[day06][training][small]") {
    Room r[7];
    Tensor<std::int64_t> counted(Shape{}, {6});
    struct Operands {
        Read q, k, v;
        AttentionOptions options;
        Read grad;
        AttentionGradients d;
    };
    using O = Operands&;
    const Operands right = {
        r[0].of({2, 3, 4}), r[1].of({2, 6, 4}),
        r[2].of({2, 6, 4}), {},
        r[3].of({2, 3, 4}), {r[4].of({2, 3, 4}), r[5].of({2, 6, 4}), r[6].of({2, 6, 4})}};
    REQUIRE(rejection([&] {
                check_attention_backward(right.q, right.k, right.v, right.options, right.grad,
                                         right.d);
            }).empty());
    gpu::Buffer<std::byte> memory(attention_backward_workspace_bytes(right.q));
    const auto loop = [](O o) { attention_backward_cpu(o.q, o.k, o.v, o.options, o.grad, o.d); };
    const auto port = [&](O o) {
        attention_backward_cuda(o.q, o.k, o.v, o.options, o.grad, o.d, {.workspace = memory});
    };
    each_alone<Operands>(right, loop, port,
                         {{[](O o) {
                               reshaped(o.q, {3, 4});
                           },
                           "k: broadcast of shape (2, 6, 4) to (6, 4)"},
                          {[](O o) { o.q.data = nullptr; }, "q is a null pointer"},
                          {[](O o) {
                               reshaped(o.k, {2, 5, 4});
                           },
                           "k has shape (2, 5, 4)"},
                          {[](O o) { o.k.data = nullptr; }, "k is a null pointer"},
                          {[](O o) {
                               reshaped(o.v, {2, 5, 4});
                           },
                           "v "},
                          {[](O o) {
                               // It can be broadcast, and its gradient matches.
                               reshaped(o.v, {1, 6, 4}), reshaped(o.d.v, {1, 6, 4});
                           },
                           "v has shape (1, 6, 4)"},
                          {[](O o) { o.v.data = nullptr; }, "v is a null pointer"},
                          {[](O o) {
                               o.k = {o.k.data, Shape{6, 4}}, o.v = {o.v.data, Shape{6, 4}};
                           },
                           "k has shape (6, 4), but q (2, 3, 4); give it the same rank"},
                          {[&](O o) { o.options.length = counted.view(); }, "a length was given"},
                          {[](O o) { o.options.scale = INFINITY; }, "scale is inf"},
                          {[](O o) {
                               reshaped(o.grad, {2, 4, 3});
                           },
                           "grad has shape (2, 4, 3)"},
                          {[](O o) { o.grad.data = nullptr; }, "grad is a null pointer"},
                          {[](O o) {
                               reshaped(o.d.q, {2, 4, 3});
                           },
                           "(2, 4, 3)"},
                          {[](O o) { o.d.q.data = nullptr; }, "d_q is a null pointer"},
                          {[](O o) { o.d.q = collapsed(o.d.q); }, "race"},
                          {[](O o) {
                               reshaped(o.d.k, {2, 5, 4});
                           },
                           "d_k has shape (2, 5, 4)"},
                          {[](O o) { o.d.k.data = nullptr; }, "d_k is a null pointer"},
                          {[](O o) { o.d.k = collapsed(o.d.k); }, "d_k"},
                          {[](O o) {
                               reshaped(o.d.v, {2, 5, 4});
                           },
                           "d_v has shape (2, 5, 4)"},
                          {[](O o) { o.d.v.data = nullptr; }, "d_v is a null pointer"},
                          {[](O o) { o.d.v = collapsed(o.d.v); }, "d_v"}});
    // Every input with every output, and the outputs with each other.
    const std::pair<const char*, Read Operands::*> read[] = {
        {"q", &Operands::q}, {"k", &Operands::k}, {"v", &Operands::v}, {"grad", &Operands::grad}};
    const std::pair<const char*, Written AttentionGradients::*> written[] = {
        {"d_q", &AttentionGradients::q},
        {"d_k", &AttentionGradients::k},
        {"d_v", &AttentionGradients::v}};
    for (const auto& [name, out] : written) {
        for (const auto& [from, in] : read) {
            CAPTURE(name, from);
            Operands o = right;
            (o.d.*out).data = const_cast<float*>((o.*in).data);
            CHECK(both_reject([&] { loop(o); }, [&] { port(o); }, "overlap"));
        }
        for (const auto& [other, too] : written) {
            if (out == too) continue;
            CAPTURE(name, other);
            Operands o = right;
            (o.d.*out).data = (o.d.*too).data;
            CHECK(both_reject([&] { loop(o); }, [&] { port(o); }, "overlap"));
        }
    }
    // The saved results of the forward pass.
    Room more[2];
    const AttentionLeft left = {more[0].of({2, 3, 4}), more[1].of({2, 3})};
    const auto says = [&](const AttentionLeft& wrong, const char* words) {
        CAPTURE(words);
        CHECK(contains(rejection([&] {
                           attention_backward_from_left_cuda(right.q, right.k, right.v, {}, wrong,
                                                             right.grad, right.d,
                                                             {.workspace = memory});
                       }),
                       words));
    };
    says({}, "out has shape ()");
    AttentionLeft wrong = left;
    reshaped(wrong.out, {2, 4, 3}), says(wrong, "out has shape (2, 4, 3)");
    wrong = left, reshaped(wrong.log_sums, {3, 2}), says(wrong, "log_sums has shape (3, 2)");
    wrong = left, wrong.out.data = nullptr, says(wrong, "out is a null pointer");
    wrong = left, wrong.log_sums.data = nullptr, says(wrong, "log_sums is a null pointer");
    for (const auto& [name, out] : written) {
        CAPTURE(name);
        wrong = left, wrong.out.data = (right.d.*out).data, says(wrong, "out overlaps");
        wrong = left, wrong.log_sums.data = (right.d.*out).data, says(wrong, "log_sums overlaps");
    }
    CHECK(contains(rejection([&] {
                       attention_backward_cuda(right.q, right.k, right.v, {}, right.grad, right.d,
                                               {});
                   }),
                   "attention_backward: a workspace of 0 bytes"));
    for (const Shape& shape : {Shape{}, Shape{4}}) {
        CHECK(contains(rejection([&] {
                           (void)attention_backward_workspace_bytes({nullptr, shape});
                       }),
                       "attention_backward: q has shape " + to_string(shape)));
    }
}

}  // namespace
