// The proof of the set block: loop and port against a block written anew in double.
#include "day06_transformer_ops/block/block.hpp"

#include <array>
#include <cmath>
#include <random>

#include "common/testing/shared_workspace.hpp"
#include "day06_transformer_ops/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// All parameters of a block, none of them 0 or alike. Small, so that nothing is saturated.
struct Parameters {
    std::array<Tensor<float>, 12> all;
    std::int64_t heads;
};
enum {
    kW1,
    kB1,
    kQkv,
    kQkvB,
    kAttentionOutput,
    kAttentionOutputB,
    kW2,
    kB2,
    kUp,
    kUpB,
    kDown,
    kDownB
};

Parameters parameters(std::int64_t C, std::int64_t F, std::int64_t heads) {
    const Shape shapes[] = {{C}, {C}, {C, 3 * C}, {3 * C}, {C, C}, {C},
                            {C}, {C}, {C, F},     {F},     {F, C}, {C}};
    const auto random = [&](std::size_t k) {
        const double from = k == kW1 || k == kW2 ? 0.5 : -0.5;
        return seeded<float>(shapes[k], 100 + k, from, from + 1);
    };
    return {{random(0), random(1), random(2), random(3), random(4), random(5), random(6), random(7),
             random(8), random(9), random(10), random(11)},
            heads};
}

// Tensors or device inputs as what block takes.
template <class Views>
BlockParameters views_of(const Views& v, std::int64_t heads) {
    return {{v[kW1].view(), v[kB1].view(), 1e-5f},
            v[kQkv].view(),
            v[kQkvB].view(),
            v[kAttentionOutput].view(),
            v[kAttentionOutputB].view(),
            {v[kW2].view(), v[kB2].view(), 1e-5f},
            v[kUp].view(),
            v[kUpB].view(),
            v[kDown].view(),
            v[kDownB].view(),
            heads,
            Activation::gelu_tanh};
}

// The formula in double, each result through round(): as it is, or moved by a random part of what
// float's rounding may move it by. Nobody knows the order in which a kernel adds, or what it fuses;
// but so far honest arithmetic strays, and hardly further.
class Rounding {
public:
    explicit Rounding(std::uint64_t seed) : draws_(seed != 0), generator_(seed) {}
    // `size`: half units in the last place, at most.
    double operator()(double x, double size = 1) {
        return draws_ ? x + x * size * kU * (2 * uniform_(generator_) - 1) : x;
    }

private:
    bool draws_;
    std::mt19937_64 generator_;
    std::uniform_real_distribution<double> uniform_;
};
using Numbers = std::vector<double>;

Numbers normed(const Numbers& x, const Tensor<float>& w, const Tensor<float>& b, Rounding& round) {
    const auto n = static_cast<double>(x.size());
    double sum = 0, squares = 0;
    for (const double v : x) sum = round(sum + round(v - x[0]));
    const double mean = round(x[0] + round(sum / n));
    for (const double v : x) squares = round(squares + round(round(v - mean) * round(v - mean)));
    const double scale = round(1 / round(std::sqrt(round(squares / n + double{1e-5f}))));
    Numbers y;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double z = round(round(x[i] - mean) * scale);
        y.push_back(round(round(z * double{w.data()[i]}) + double{b.data()[i]}));
    }
    return y;
}

// x * matrix + bias
Numbers product(const Numbers& x, const Tensor<float>& matrix, const Tensor<float>* bias,
                Rounding& round) {
    const std::int64_t N = matrix.shape()[1];
    Numbers y(static_cast<std::size_t>(N));
    for (std::int64_t n = 0; n < N; ++n) {
        double& sum = y[static_cast<std::size_t>(n)];
        for (std::size_t k = 0; k < x.size(); ++k) {
            const float w = matrix.data()[static_cast<std::int64_t>(k) * N + n];
            sum = round(sum + round(x[k] * double{w}));
        }
        if (bias != nullptr) sum = round(sum + double{bias->data()[n]});
    }
    return y;
}

void add_to(Numbers& x, const Numbers& y, Rounding& round) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = round(x[i] + y[i]);
}

// What token t gets of head h from itself and the tokens before it.
void attend(const std::vector<Numbers>& qkv, std::size_t t, std::size_t h, std::size_t D,
            Numbers& mixed, Rounding& round) {
    const std::size_t C = mixed.size();
    const double scale = round(1 / std::sqrt(static_cast<double>(D)));
    std::vector<double> share;
    double sum = 0;
    for (std::size_t s = 0; s <= t; ++s) {
        double dot = 0;
        for (std::size_t d = h * D; d < (h + 1) * D; ++d) {
            dot = round(dot + round(qkv[t][d] * qkv[s][C + d]));
        }
        share.push_back(round(std::exp(round(scale * dot)), 4));
        sum = round(sum + share.back());
    }
    for (std::size_t s = 0; s <= t; ++s) {
        for (std::size_t d = h * D; d < (h + 1) * D; ++d) {
            mixed[d] = round(mixed[d] + round(round(share[s] / sum) * qkv[s][2 * C + d]));
        }
    }
}

double activated(double x, Rounding& round) {
    const double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    return round(x / 2 * (1 + std::tanh(u)), 16 + 14 * std::fabs(u));  // as activation.hpp says
}

// One sequence through one block.
std::vector<Numbers> through(std::vector<Numbers> x, const Parameters& p, Rounding& round) {
    const std::size_t T = x.size(), C = x[0].size(), D = C / static_cast<std::size_t>(p.heads);
    std::vector<Numbers> qkv(T);
    for (std::size_t t = 0; t < T; ++t) {
        const Numbers norm = normed(x[t], p.all[kW1], p.all[kB1], round);
        qkv[t] = product(norm, p.all[kQkv], &p.all[kQkvB], round);
    }
    for (std::size_t t = 0; t < T; ++t) {
        Numbers mixed(C);
        for (std::size_t h = 0; h < C / D; ++h) attend(qkv, t, h, D, mixed, round);
        add_to(x[t], product(mixed, p.all[kAttentionOutput], &p.all[kAttentionOutputB], round),
               round);
    }
    for (Numbers& row : x) {
        Numbers hidden =
            product(normed(row, p.all[kW2], p.all[kB2], round), p.all[kUp], &p.all[kUpB], round);
        for (double& v : hidden) v = activated(v, round);
        add_to(row, product(hidden, p.all[kDown], &p.all[kDownB], round), round);
    }
    return x;
}

// What made(round) says without rounding, all of it; the bound is eight times the root mean square
// of what it is off by in 12 runs that round. Eight: sums of many roundings are spread like a
// normal distribution, of which less than one number in 10^14 lies so far out, and 12 runs know its
// width to a fifth.
template <class Made>
Expected with_bound(const Shape& shape, const Made& made) {
    Expected want(shape);
    Rounding none(0);
    const Numbers right = made(none);
    Numbers squares(right.size());
    constexpr int kRuns = 12;
    for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
        Rounding round(seed);
        const Numbers off = made(round);
        for (std::size_t i = 0; i < right.size(); ++i) {
            squares[i] += (off[i] - right[i]) * (off[i] - right[i]) / kRuns;
        }
    }
    for (std::size_t i = 0; i < right.size(); ++i) {
        want.value.data()[i] = right[i];
        want.error.data()[i] = 8 * std::sqrt(squares[i]);
    }
    return want;
}

Expected reference_of(const Tensor<float>& x, const Parameters& p) {
    const std::int64_t B = x.shape()[0], T = x.shape()[1];
    return with_bound(x.shape(), [&](Rounding& round) {
        Numbers all;
        for (std::int64_t b = 0; b < B; ++b) {
            std::vector<Numbers> rows;
            for (std::int64_t t = 0; t < T; ++t) rows.push_back(row_at(x, 2, {b, t, 0}));
            for (const Numbers& row : through(rows, p, round)) {
                all.insert(all.end(), row.begin(), row.end());
            }
        }
        return all;
    });
}

std::array<DeviceIn<float>, 12> on_device(const Parameters& p) {
    const auto& a = p.all;
    return {DeviceIn<float>(a[0]), DeviceIn<float>(a[1]),  DeviceIn<float>(a[2]),
            DeviceIn<float>(a[3]), DeviceIn<float>(a[4]),  DeviceIn<float>(a[5]),
            DeviceIn<float>(a[6]), DeviceIn<float>(a[7]),  DeviceIn<float>(a[8]),
            DeviceIn<float>(a[9]), DeviceIn<float>(a[10]), DeviceIn<float>(a[11])};
}

TEST_CASE("a block is what its formula says, with every bias and every head",
          "[day06][block][small]") {
    struct Sizes {
        std::int64_t B, T, C, F, heads;
    };
    const Sizes shared = {1, 64, 64, 128, 4};  // blocks share the K of the last product
    const Sizes cases[] = {
        {2, 5, 12, 20, 3}, {1, 1, 8, 32, 2}, {2, 9, 16, 64, 4}, {1, 7, 6, 5, 1}, shared,
        {1, 2, 128, 8, 1},   // one head as wide as the steps of attention take
        {1, 2, 132, 4, 1}};  // and wider
    for (const auto& c : cases) {
        CAPTURE(c.B, c.T, c.C, c.F, c.heads);
        const Parameters p = parameters(c.C, c.F, c.heads);
        const Tensor<float> x = seeded<float>({c.B, c.T, c.C}, 7, -1, 1);
        const Expected want = reference_of(x, p);
        HostOut<float> loop = HostOut<float>::holding(x);
        block_cpu(views_of(p.all, p.heads), loop.view());
        CHECK(agrees(loop, want));
        const auto device = on_device(p);
        const BlockParameters views = views_of(device, p.heads);
        DeviceOut<float> got = DeviceOut<float>::holding(x);
        const std::int64_t bytes = block_workspace_bytes(views, got.view());
        SharedWorkspace memory(bytes);
        block_cuda(views, got.view(), memory.next(bytes));
        CHECK(memory.kept());
        CHECK(agrees(got, want));
        CHECK((last_kernel() == "matmul_add_parts_kernel") == (c.F == shared.F));
        for (const auto& input : device) CHECK(input.unchanged());
    }
}

// A float of which 10 bits behind the point are left, as TF32 has them.
Tensor<float> as_tf32(Tensor<float> x) {
    for (std::int64_t i = 0; i < x.size(); ++i) {
        int exponent = 0;
        const float part = std::frexp(x.data()[i], &exponent);
        x.data()[i] = std::ldexp(std::nearbyint(std::ldexp(part, 11)), exponent - 11);
    }
    return x;
}

TEST_CASE("the bound is tight: one operand of a block's products as TF32 exceeds it",
          "[day06][block][small]") {
    const Parameters right = parameters(12, 20, 3);
    const Tensor<float> x = seeded<float>({2, 5, 12}, 7, -1, 1);
    const Expected want = reference_of(x, right);
    for (const auto which : {kQkv, kAttentionOutput, kUp, kDown}) {
        CAPTURE(which);
        Parameters p = right;
        p.all[which] = as_tf32(p.all[which]);
        HostOut<float> rough = HostOut<float>::holding(x);
        block_cpu(views_of(p.all, p.heads), rough.view());
        CHECK_FALSE(agrees(rough, want));
    }
}

TEST_CASE("what comes later changes nothing of what was", "[day06][block][small]") {
    const Parameters p = parameters(8, 32, 2);
    const Tensor<float> x = seeded<float>({1, 6, 8}, 7, -1, 1);
    Tensor<float> other = x;
    for (std::int64_t c = 0; c < 8; ++c) other(0, 5, c) = 3;
    const auto device = on_device(p);
    const BlockParameters views = views_of(device, p.heads);
    const auto block = [&](const Tensor<float>& in) {
        DeviceOut<float> got = DeviceOut<float>::holding(in);
        gpu::Buffer<std::byte> memory(block_workspace_bytes(views, got.view()));
        block_cuda(views, got.view(), memory);
        return got.values();
    };
    const Tensor<float> a = block(x), b = block(other);
    CHECK(equal(slice(a.view(), 1, 0, 5), slice(b.view(), 1, 0, 5)));
    CHECK_FALSE(equal(slice(a.view(), 1, 5, 6), slice(b.view(), 1, 5, 6)));
}

TEST_CASE("logits are the norm against every row of the token table", "[day06][block][small]") {
    const std::int64_t B = 2, T = 3, C = 8, V = 37;
    const Tensor<float> x = seeded<float>({B, T, C}, 1, -1, 1),
                        tokens = seeded<float>({V, C}, 2, -1, 1),
                        w = seeded<float>({C}, 3, 0.5, 1.5), b = seeded<float>({C}, 4, -1, 1);
    Tensor<float> head({C, V});  // tokens, transposed
    for (std::int64_t k = 0; k < C * V; ++k) head.data()[k] = tokens(k % V, k / V);
    const Expected want = with_bound({B, T, V}, [&](Rounding& round) {
        Numbers all;
        for (std::int64_t n = 0; n < B * T; ++n) {
            const Numbers norm = normed(row_at(x, 2, {n / T, n % T, 0}), w, b, round);
            for (const double v : product(norm, head, nullptr, round)) all.push_back(v);
        }
        return all;
    });
    HostOut<float> loop({B, T, V});
    logits_cpu(x.view(), {w.view(), b.view(), 1e-5f}, tokens.view(), loop.view());
    CHECK(agrees(loop, want));
    DeviceIn<float> dx(x), dt(tokens), dw(w), db(b);
    DeviceOut<float> got({B, T, V});
    gpu::Buffer<std::byte> memory(logits_workspace_bytes(dx.view()));
    logits_cuda(dx.view(), {dw.view(), db.view(), 1e-5f}, dt.view(), got.view(), memory);
    CHECK(agrees(got, want));
    CHECK(dx.unchanged());

    CHECK(both_refuse(
        [&] { logits_cpu(x.view(), {}, transpose(tokens.view()), loop.view()); },
        [&] { logits_cuda(dx.view(), {}, transpose(dt.view()), got.view(), memory); },
        "logits: x has shape (2, 3, 8), tokens (8, 37), out (2, 3, 37); they must be (B, "
        "T, C), (V, C) and (B, T, V)"));
    CHECK(both_refuse(
        [&] { logits_cpu(x.view(), {slice(w.view(), 0, 0, 7)}, tokens.view(), loop.view()); },
        [&] { logits_cuda(dx.view(), {slice(dw.view(), 0, 0, 7)}, dt.view(), got.view(), memory); },
        "logits: norm: weight has shape (7), but rows have 8 elements"));
    CHECK(contains(refusal([&] { logits_cuda(dx.view(), {}, dt.view(), got.view(), {}); }),
                   "logits: a workspace of 0 bytes"));
    CHECK(both_refuse(
        [&] {
            logits_cpu(
                reshape(slice(reshape(View<const float>(loop.view()), {222}), 0, 0, 48), {2, 3, 8}),
                {}, tokens.view(), loop.view());
        },
        [&] {
            logits_cuda(
                reshape(slice(reshape(View<const float>(got.view()), {222}), 0, 0, 48), {2, 3, 8}),
                {}, dt.view(), got.view(), memory);
        },
        "logits: x overlaps out, which is written"));
}

TEST_CASE("loop and port of a block refuse the same, before anything is written",
          "[day06][block][small]") {
    const std::int64_t C = 8, F = 12;
    const Parameters p = parameters(C, F, 2);
    const auto device = on_device(p);
    const Tensor<float> x = seeded<float>({1, 3, C}, 7, -1, 1);
    HostOut<float> h = HostOut<float>::holding(x);
    DeviceOut<float> g = DeviceOut<float>::holding(x);
    gpu::Buffer<std::byte> memory(block_workspace_bytes(views_of(device, 2), g.view()));
    const auto refused = [&](const auto& change, const char* words) {
        BlockParameters host = views_of(p.all, 2), there = views_of(device, 2);
        change(host, h.view());
        change(there, g.view());
        CHECK(both_refuse([&] { block_cpu(host, h.view()); },
                          [&] { block_cuda(there, g.view(), memory); }, words));
        // Who asks how much memory it needs is told the same, not a size.
        CHECK(contains(refusal([&] { (void)block_workspace_bytes(there, g.view()); }), words));
    };
    using P = BlockParameters&;
    using X = View<float>;
    refused([](P b, X) { b.heads = 3; },
            "block: 3 heads do not divide the 8 numbers of a token equally");
    refused([](P b, X) { b.heads = 0; }, "block: 0 heads");
    refused([](P b, X) { b.qkv = transpose(b.qkv); },
            "block: qkv has shape (24, 8), but must have (8, 24)");
    refused([](P b, X) { b.qkv_bias = {}; }, "block: qkv_bias has shape (), but must have (24)");
    refused([](P b, X) { b.attention_output = columns(b.attention_output, 0, 7); },
            "block: attention_output has shape (8, 7)");
    refused([](P b, X) { b.attention_output_bias.data = nullptr; },
            "block: attention_output_bias is a null pointer");
    refused([](P b, X) { b.up = b.up_bias; }, "block: up has shape (12), but must have (C, F)");
    refused([](P b, X) { b.up = columns(b.up, 0, 11); },
            "block: up_bias has shape (12), but must have (11)");
    refused([](P b, X) { b.down = transpose(b.down); }, "block: down has shape (8, 12)");
    refused([](P b, X v) { b.down_bias = row(select(v, 0, 0), 1); },
            "block: down_bias overlaps x, which is written");
    refused([](P b, X) { b.norm1.weight = b.up_bias; },
            "block: norm1: weight has shape (12), but rows have 8");
    refused([](P b, X) { b.norm2.eps = -1; }, "block: norm2: eps is -1.000000");
    refused([](P b, X) { b.activation = static_cast<Activation>(9); },
            "block: activation 9 does not exist; it must be one of: relu, gelu_erf");
    CHECK(contains(refusal([&] { block_cuda(views_of(device, 2), g.view(), {}); }),
                   "block: a workspace of 0 bytes at a null pointer was given, but"));
    CHECK(both_refuse([&] { block_cpu(views_of(p.all, 2), select(h.view(), 0, 0)); },
                      [&] { block_cuda(views_of(device, 2), select(g.view(), 0, 0), memory); },
                      "block: x has shape (3, 8) of rank 2, but rank 3 is needed"));
    CHECK(h.untouched());
    CHECK(g.untouched());
}

TEST_CASE("logits reject an eps that is negative, and say how much memory only of what fits",
          "[day06][block][small]") {
    const Tensor<float> x = seeded<float>({2, 3, 8}, 1, -1, 1),
                        tokens = seeded<float>({5, 8}, 2, -1, 1);
    DeviceIn<float> dx(x), dt(tokens);
    HostOut<float> h({2, 3, 5});
    DeviceOut<float> g({2, 3, 5});
    gpu::Buffer<std::byte> memory(logits_workspace_bytes(dx.view()));
    const NormParameters norm{{}, {}, -1};
    CHECK(both_refuse([&] { logits_cpu(x.view(), norm, tokens.view(), h.view()); },
                      [&] { logits_cuda(dx.view(), norm, dt.view(), g.view(), memory); },
                      "logits: norm: eps is -1"));
    CHECK(contains(refusal([&] { (void)logits_workspace_bytes(select(dx.view(), 0, 0)); }),
                   "logits: x has shape (3, 8) of rank 2"));
    CHECK(h.untouched());
    CHECK(g.untouched());
}

}  // namespace
