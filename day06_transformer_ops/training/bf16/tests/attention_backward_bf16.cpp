// Attention's backward pass from bf16: CPU reference and both paths against its formulas in double,
// with derived bounds, and against the float operation.
#include "day06_transformer_ops/training/bf16/attention_backward_bf16.hpp"

#include "day06_transformer_ops/attention_bf16/attention_bf16.hpp"
#include "day06_transformer_ops/training/bf16/tests/near_bf16.hpp"
#include "day06_transformer_ops/training/tests/rejections.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

using Path = AttentionBackwardBf16Path;
constexpr Path kPaths[] = {Path::row_per_thread, Path::tensor_cores};

struct Case {
    std::int64_t B, H, T, S, D;
    AttentionOptions options = {};
    Tensor<bf16> q = seeded<bf16>({B, H, T, D}, 1, -2, 2), k = seeded<bf16>({B, H, S, D}, 2, -2, 2),
                 v = seeded<bf16>({B, H, S, D}, 3, -1, 1), out = Tensor<bf16>({B, H, T, D});
    Tensor<float> grad = seeded<float>({B, H, T, D}, 4, -1, 1), log_sums = Tensor<float>({B, H, T});

    // Computes the saved results of the forward pass.
    Case& there() {
        attention_bf16_cpu<bf16>(q.view(), k.view(), v.view(), options, out.view(),
                                 log_sums.view());
        return *this;
    }
};

struct Slopes {
    Tensor<Near> q, k, v;
};

// @param out_off, log_off  errors of out and log_sums
// @param bits              of weights and slopes: a bf16 has 8; fewer: the results of a worse
// kernel
Slopes near_of(const Case& c, double out_off = 0, double log_off = 0, int bits = 8) {
    const double exact = c.options.scale > 0 ? double{c.options.scale} : 1 / std::sqrt(double(c.D));
    const Near scale = result(exact, 0, 3), log2_of_e = constant(1 / std::log(2.0));
    const Shape keys = c.k.shape();
    Tensor<std::vector<Near>> terms_k(keys), terms_v(keys);
    Slopes made{Tensor<Near>(c.q.shape()), Tensor<Near>(keys), Tensor<Near>(keys)};
    for (std::int64_t b = 0; b < c.B; ++b) {
        for (std::int64_t ht = 0; ht < c.H * c.T; ++ht) {
            const std::int64_t h = ht / c.T, t = ht % c.T;
            const std::int64_t n =
                c.options.causal ? std::max<std::int64_t>(c.S - c.T + t + 1, 0) : c.S;
            std::vector<Near> g, of_delta;
            for (std::int64_t d = 0; d < c.D; ++d) {
                g.push_back(to_bf16(Near{double{c.grad(b, h, t, d)}}));
                of_delta.push_back(g.back() * Near{exactly(c.out(b, h, t, d)), out_off});
            }
            const Near delta = total(of_delta), log_sum{double{c.log_sums(b, h, t)}, log_off};
            std::vector<std::vector<Near>> terms_q(static_cast<std::size_t>(c.D));
            for (std::int64_t s = 0; s < n; ++s) {
                std::vector<Near> of_score, of_weight;
                for (std::int64_t d = 0; d < c.D; ++d) {
                    of_score.push_back({exactly(c.q(b, h, t, d)) * exactly(c.k(b, h, s, d))});
                    of_weight.push_back(
                        times(g[static_cast<std::size_t>(d)], exactly(c.v(b, h, s, d))));
                }
                const Near power =
                    total_by_tensor_cores(of_score) * (scale * log2_of_e) - log_sum * log2_of_e;
                const Near weight = exp_of(power * constant(std::log(2.0)));
                const Near slope = weight * (total_by_tensor_cores(of_weight) - delta);
                const Near factor = bits < 8 ? Near{of_bits(slope.value, bits)} : to_bf16(slope),
                           part = bits < 8 ? Near{of_bits(weight.value, bits)} : to_bf16(weight);
                for (std::int64_t d = 0; d < c.D; ++d) {
                    terms_q[static_cast<std::size_t>(d)].push_back(
                        times(factor, exactly(c.k(b, h, s, d))));
                    terms_k(b, h, s, d).push_back(times(factor, exactly(c.q(b, h, t, d))));
                    terms_v(b, h, s, d).push_back(part * g[static_cast<std::size_t>(d)]);
                }
            }
            for (std::int64_t d = 0; d < c.D; ++d) {
                made.q(b, h, t, d) =
                    scale * total_by_tensor_cores(terms_q[static_cast<std::size_t>(d)]);
            }
        }
    }
    for (std::int64_t i = 0; i < made.k.size(); ++i) {
        made.k.data()[i] = scale * total_by_tensor_cores(terms_k.data()[i]);
        made.v.data()[i] = total_by_tensor_cores(terms_v.data()[i]);
    }
    return made;
}

// (B, H, T, D) whose memory is (B, T, 3, H, D): a third of a product's columns.
Layout third(const Shape& s) {
    const std::int64_t row = 3 * s[1] * s[3];
    return Layout(s, {s[2] * row, s[3], row, 1});
}

// Row-major, but the stride of a dimension of extent 1 is odd.
Layout odd_if_unused(const Shape& s) {
    Layout layout = row_major(s);
    for (int d = 0; d + 1 < s.rank; ++d) {
        if (s[d] == 1) layout.strides[d] = 13;
    }
    return layout;
}

void check(Case c, Layout (*layout)(const Shape&) = odd_if_unused) {
    CAPTURE(c.T, c.S, c.D, c.options.causal, layout == third);
    c.there();
    const Slopes near = near_of(c);
    const Layout tokens = layout(c.q.shape()), keys = layout(c.k.shape()),
                 sums = odd_if_unused(c.log_sums.shape());
    const auto right = [&](const auto& d_q, const auto& d_k, const auto& d_v) {
        CHECK(d_q.close_to(values_of(near.q), bound_of(near.q)));
        CHECK(d_k.close_to(values_of(near.k), bound_of(near.k)));
        CHECK(d_v.close_to(values_of(near.v), bound_of(near.v)));
    };
    const Layout left = odd_if_unused(c.q.shape());
    HostIn<bf16> hq(c.q, tokens), hk(c.k, keys), hv(c.v, keys), ho(c.out, left);
    HostIn<float> hg(c.grad, left), hl(c.log_sums, sums);
    HostOut<float> q(tokens), k(keys), v(keys);
    attention_backward_bf16_cpu(hq.view(), hk.view(), hv.view(), c.options, ho.view(), hl.view(),
                                hg.view(), {q.view(), k.view(), v.view()});
    right(q, k, v);
    for (const Path path : kPaths) {
        CAPTURE(name(path));
        DeviceIn<bf16> dq(c.q, tokens), dk(c.k, keys), dv(c.v, keys), out(c.out, left);
        DeviceIn<float> dg(c.grad, left), dl(c.log_sums, sums);
        DeviceOut<float> d_q(tokens), d_k(keys), d_v(keys);
        auto memory = room_of(attention_backward_bf16_workspace_bytes(dq.view()));
        const auto run = [&] {
            attention_backward_bf16_cuda(dq.view(), dk.view(), dv.view(), c.options, out.view(),
                                         dl.view(), dg.view(), {d_q.view(), d_k.view(), d_v.view()},
                                         {.path = path, .workspace = memory});
        };
        run();
        right(d_q, d_k, d_v);
    }
}

TEST_CASE("attention's backward pass from bf16: shapes around a tile", "[day06][training][small]") {
    check({1, 2, 3, 3, 8});
    check({1, 1, 1, 1, 16});
    check({2, 1, 17, 17, 24});
    check({1, 1, 65, 65, 8});
    check({1, 1, 64, 70, 16});
    check({1, 1, 70, 5, 8});  // most tokens see no key
    check({1, 1, 20, 70, 8, {false}});
    check({1, 1, 66, 66, 8, {true, 0.3f}});
    check({1, 1, 5, 6, 72});
}
// With one token or one key the stride of that dimension is not used. Tiles still address rows past
// it, and even a copy of 0 bytes must start at a multiple of 16 bytes.
TEST_CASE("attention's backward pass from bf16: one token or at most one key, of any stride",
          "[day06][training][small]") {
    for (const std::int64_t D : {8, 72}) {
        for (const bool causal : {true, false}) {
            check({2, 1, 1, 1, D, {causal}});
            check({1, 2, 1, 3, D, {causal}});
            check({1, 1, 3, 1, D, {causal}});
            check({1, 1, 3, 0, D, {causal}});
            check({1, 1, 1, 0, D, {causal}});
        }
    }
}
TEST_CASE("attention's backward pass from bf16: thirds of a product's columns",
          "[day06][training][small]") {
    check({2, 2, 5, 5, 8}, third);
}
TEST_CASE("attention's backward pass from bf16: two and three tiles", "[day06][training][full]") {
    check({1, 1, 80, 130, 24});
    check({1, 1, 17, 70, 128});
    check({1, 2, 130, 130, 64}, third);  // three tiles, two heads
}

TEST_CASE("attention's backward pass from bf16 matches float, up to the error of out and log_sums",
          "[day06][training][small]") {
    Case c{1, 2, 9, 9, 8};
    c.there();
    const auto wide = [](const Tensor<bf16>& x) {
        Tensor<float> y(x.shape());
        for (std::int64_t i = 0; i < x.size(); ++i) y.data()[i] = float(x.data()[i]);
        return y;
    };
    const Tensor<float> q = wide(c.q), k = wide(c.k), v = wide(c.v);
    HostOut<float> d_q(c.q.shape()), d_k(c.k.shape()), d_v(c.v.shape());
    attention_backward_cpu(q.view(), k.view(), v.view(), {}, c.grad.view(),
                           {d_q.view(), d_k.view(), d_v.view()});
    // attention_bf16.hpp: out has two roundings, of A <= 1 and of |out| <= 1.
    const Slopes near = near_of(c, 2.01 * 0x1p-8, 1e-5);
    CHECK(d_q.close_to(values_of(near.q), bound_of(near.q)));
    CHECK(d_k.close_to(values_of(near.k), bound_of(near.k)));
    CHECK(d_v.close_to(values_of(near.v), bound_of(near.v)));
}

TEST_CASE("the bounds reject weights and slopes of fewer bits than bf16 has",
          "[day06][training][small]") {
    Case c{1, 1, 8, 8, 8};
    c.there();
    const Slopes near = near_of(c), worse = near_of(c, 0, 0, 3);
    const auto alike = [](const Tensor<Near>& a, const Tensor<Near>& b) {
        Tensor<float> got(a.shape());
        for (std::int64_t i = 0; i < a.size(); ++i) got.data()[i] = float(a.data()[i].value);
        return bool(close(got, values_of(b), bound_of(b)));
    };
    CHECK(alike(near.q, near.q));
    CHECK_FALSE(alike(worse.q, near.q));
    CHECK_FALSE(alike(worse.k, near.k));
    CHECK_FALSE(alike(worse.v, near.v));
}

TEST_CASE("attention's backward pass from bf16 is reproducible", "[day06][training][small]") {
    Case c{1, 2, 70, 70, 8};
    c.there();
    DeviceIn<bf16> q(c.q), k(c.k), v(c.v), out(c.out);
    DeviceIn<float> grad(c.grad), log_sums(c.log_sums);
    std::vector<Tensor<float>> made;
    for (int i = 0; i < 2; ++i) {
        DeviceOut<float> d_q(c.q.shape()), d_k(c.k.shape()), d_v(c.v.shape());
        auto memory = room_of(attention_backward_bf16_workspace_bytes(q.view()));
        attention_backward_bf16_cuda(q.view(), k.view(), v.view(), {}, out.view(), log_sums.view(),
                                     grad.view(), {d_q.view(), d_k.view(), d_v.view()},
                                     {.workspace = memory});
        CHECK(std::string(gpu::last_kernel()) == "attention_backward_kernel");
        for (const auto* x : {&d_q, &d_k, &d_v}) made.push_back(x->values());
    }
    for (std::size_t i = 0; i < 3; ++i) CHECK(equal(made[i], made[i + 3]));
    const Slopes near = near_of(c);  // two heads, each of two blocks
    CHECK(close(made[0], values_of(near.q), bound_of(near.q)));
    CHECK(close(made[1], values_of(near.k), bound_of(near.k)));
    CHECK(close(made[2], values_of(near.v), bound_of(near.v)));
}

// One letter per element: is it NaN?
std::string nans_of(const Tensor<float>& x) {
    std::string all;
    for (std::int64_t i = 0; i < x.size(); ++i) all += std::isnan(x.data()[i]) ? 'N' : '.';
    return all;
}

TEST_CASE("attention's backward pass from bf16: NaNs propagate as in the CPU reference",
          "[day06][training][small]") {
    for (const std::string which : {"q", "k", "v", "out", "grad", "log_sums"}) {
        CAPTURE(which);
        Case c{1, 1, 7, 70, 8, {false}};
        c.there();
        const float nan = std::nanf("");
        if (which == "q") c.q(0, 0, 5, 3) = bf16(nan);
        if (which == "k") c.k(0, 0, 66, 3) = bf16(nan);
        if (which == "v") c.v(0, 0, 66, 3) = bf16(nan);
        if (which == "out") c.out(0, 0, 5, 3) = bf16(nan);
        if (which == "grad") c.grad(0, 0, 5, 3) = nan;
        if (which == "log_sums") c.log_sums(0, 0, 5) = nan;
        HostOut<float> q(c.q.shape(), {}, Poison{0x11}), k(c.k.shape(), {}, Poison{0x11}),
            v(c.v.shape(), {}, Poison{0x11});
        attention_backward_bf16_cpu(c.q.view(), c.k.view(), c.v.view(), c.options, c.out.view(),
                                    c.log_sums.view(), c.grad.view(),
                                    {q.view(), k.view(), v.view()});
        const bool one_key = which == "k" || which == "v";  // else one query
        const std::string of_q = nans_of(q.values()), of_k = nans_of(k.values()),
                          of_v = nans_of(v.values());
        const auto count = [](const std::string& x) { return std::count(x.begin(), x.end(), 'N'); };
        CHECK(count(of_q) == (one_key ? 7 * 8 : 8));
        CHECK(count(of_k) == (one_key ? 8 : 70 * 8));
        const bool of_weight = which == "q" || which == "log_sums";
        CHECK(count(of_v) == (which == "k" ? 8 : which == "grad" ? 70 : of_weight ? 70 * 8 : 0));
        for (const Path path : kPaths) {
            CAPTURE(name(path));
            const DeviceIn<bf16> dq(c.q), dk(c.k), dv(c.v), out(c.out);
            const DeviceIn<float> dg(c.grad), dl(c.log_sums);
            DeviceOut<float> d_q(c.q.shape(), {}, Poison{0x11}), d_k(c.k.shape(), {}, Poison{0x11}),
                d_v(c.v.shape(), {}, Poison{0x11});
            auto memory = room_of(attention_backward_bf16_workspace_bytes(dq.view()));
            attention_backward_bf16_cuda(dq.view(), dk.view(), dv.view(), c.options, out.view(),
                                         dl.view(), dg.view(), {d_q.view(), d_k.view(), d_v.view()},
                                         {.path = path, .workspace = memory});
            CHECK(nans_of(d_q.values()) == of_q);
            CHECK(nans_of(d_k.values()) == of_k);
            CHECK(nans_of(d_v.values()) == of_v);
        }
    }
}

struct Operands {
    View<const bf16> q, k, v, out;
    View<const float> log_sums, grad;
    AttentionGradients d;
    AttentionOptions options = {};
};

TEST_CASE("attention's backward pass from bf16 rejects each operand that does not match",
          "[day06][training][small]") {
    Room memory[5];
    std::vector<Tensor<bf16>> halves(4, Tensor<bf16>({64}));
    const auto half = [&](std::size_t i, const Shape& s) {
        return View<const bf16>(halves[i].data(), s);
    };
    const Shape q = {1, 2, 8}, k = {1, 3, 8};
    const Operands right{half(0, q),
                         half(1, k),
                         half(2, k),
                         half(3, q),
                         memory[0].of({1, 2}),
                         memory[1].of(q),
                         {memory[2].of(q), memory[3].of(k), memory[4].of(k)}};
    const std::int64_t length = 2;
    using O = Operands;
    std::vector<Change<O>> rows = {
        {[&](O& o) { reshaped(o.q, {8}); }, "q has shape (8)"},
        {[&](O& o) {
             reshaped(o.k, {2, 3, 8});
         },
         "k has shape (2, 3, 8)"},
        {[&](O& o) {
             reshaped(o.k, {3, 8});
         },
         "k has shape (3, 8)"},
        {[&](O& o) {
             reshaped(o.v, {1, 4, 8});
         },
         "v has shape (1, 4, 8)"},
        {[&](O& o) {
             reshaped(o.out, {1, 3, 8});
         },
         "out has shape (1, 3, 8)"},
        {[&](O& o) {
             reshaped(o.log_sums, {1, 3});
         },
         "log_sums has shape (1, 3)"},
        {[&](O& o) {
             reshaped(o.grad, {1, 2, 4});
         },
         "grad has shape (1, 2, 4)"},
        {[&](O& o) { reshaped(o.d.q, k); }, "d_q has shape (1, 3, 8)"},
        {[&](O& o) { reshaped(o.d.k, q); }, "d_k has shape (1, 2, 8)"},
        {[&](O& o) { reshaped(o.d.v, q); }, "d_v has shape (1, 2, 8)"},
        {[](O& o) { o.d.q = collapsed(o.d.q); }, "d_q"},
        {[](O& o) { o.d.k = collapsed(o.d.k); }, "d_k"},
        {[](O& o) { o.d.v = collapsed(o.d.v); }, "d_v"},
        {[&](O& o) { o.options.length = View<const std::int64_t>(&length, Shape{}); }, "a length"},
        {[](O& o) { o.options.scale = -1; }, "scale is -1"},
        {[](O& o) { o.options.scale = NAN; }, "scale is nan"},
        {[](O& o) { o.options.scale = INFINITY; }, "scale is inf"},
        {[](O& o) { laid_over(o.d.q, o.d.k); }, "d_q overlaps d_k"},
        {[](O& o) { laid_over(o.d.v, o.d.q); }, "d_q overlaps d_v"},
        {[](O& o) { laid_over(o.d.v, o.d.k); }, "d_k overlaps d_v"},
    };
    const auto each_of = [](O& o, const auto& f) {
        f(o.q, "q"), f(o.k, "k"), f(o.v, "v"), f(o.out, "out");
        f(o.log_sums, "log_sums"), f(o.grad, "grad");
    };
    const auto each_written = [](O& o, const auto& f) {
        f(o.d.q, "d_q"), f(o.d.k, "d_k"), f(o.d.v, "d_v");
    };
    std::vector<std::string> said;
    said.reserve(40);  // rows point into it
    Operands names = right;
    const auto nothing = [&](auto&, const char* name) {
        said.push_back(std::string(name) + " is a null pointer");
        rows.push_back({[=](O& o) {
                            const auto none = [=](auto& x, const char* of) {
                                if (std::string(of) == name) x.data = nullptr;
                            };
                            each_of(o, none), each_written(o, none);
                        },
                        said.back().c_str()});
    };
    each_of(names, nothing), each_written(names, nothing);
    each_of(names, [&](auto&, const char* read) {
        each_written(names, [&](auto&, const char* written) {
            said.push_back(std::string(read) + " overlaps " + written);
            rows.push_back({[=](O& o) {
                                each_written(o, [&](auto& to, const char* of) {
                                    if (std::string(of) != written) return;
                                    each_of(o, [&](auto& from, const char* name) {
                                        if (std::string(name) == read) laid_over(from, to);
                                    });
                                });
                            },
                            said.back().c_str()});
        });
    });
    const auto loop = [](O o) {
        attention_backward_bf16_cpu(o.q, o.k, o.v, o.options, o.out, o.log_sums, o.grad, o.d);
    };
    const auto port = [](O o) {
        attention_backward_bf16_cuda(o.q, o.k, o.v, o.options, o.out, o.log_sums, o.grad, o.d);
    };
    each_alone(right, loop, port, rows, "attention_backward_bf16: ");
    CHECK(contains(rejection([&] { port(right); }), "a workspace of 0 bytes"));
    CHECK(contains(rejection([] {
                       (void)attention_backward_bf16_workspace_bytes({nullptr, {8}});
                   }),
                   "q has shape (8)"));
}

TEST_CASE("the path 'tensor cores' needs rows of vectors: each unmet requirement rules it out",
          "[day06][training][small]") {
    Room memory[3];
    Tensor<bf16> halves({4096});
    const Shape s = {2, 8};
    const View<const bf16> right(halves.data(), s);
    const AttentionGradients d{memory[0].of(s), memory[1].of(s), memory[2].of(s)};
    const auto chosen = [](View<const bf16> q, View<const bf16> k, View<const bf16> v,
                           const AttentionGradients& to) {
        return choose_attention_backward_bf16(q, k, v, to);
    };
    CHECK(chosen(right, right, right, d) == Path::tensor_cores);
    const View<const bf16> off(halves.data() + 1, s), wide(halves.data(), Layout(s, {16, 2}));
    const View<const bf16> pitched(halves.data(), Layout(s, {12, 1})),
        short_rows(halves.data(), {2, 4});
    for (const View<const bf16>& bad : {off, wide, pitched, short_rows}) {
        CHECK(chosen(bad, right, right, d) == Path::row_per_thread);
        CHECK(chosen(right, bad, right, d) == Path::row_per_thread);
        CHECK(chosen(right, right, bad, d) == Path::row_per_thread);
    }
    const View<const bf16> most(halves.data(), {2, 128}), large(halves.data(), {2, 136});
    CHECK(chosen(most, most, most, d) == Path::tensor_cores);
    CHECK(chosen(large, right, right, d) == Path::row_per_thread);
    const View<float> odd(memory[0].numbers.data() + 1, s),
        apart(memory[0].numbers.data(), Layout(s, {16, 2})),
        odd_pitch(memory[0].numbers.data(), Layout(s, {9, 1}));
    for (const View<float>& bad : {odd, apart, odd_pitch}) {
        CHECK(chosen(right, right, right, {bad, d.k, d.v}) == Path::row_per_thread);
        CHECK(chosen(right, right, right, {d.q, bad, d.v}) == Path::row_per_thread);
        CHECK(chosen(right, right, right, {d.q, d.k, bad}) == Path::row_per_thread);
    }
}

}  // namespace
