// The proof of the set block: loop and port against a block written anew in double.
#include "day06_transformer_ops/block/block.hpp"

#include <array>

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
enum { kW1, kB1, kQkv, kQkvB, kJoin, kJoinB, kW2, kB2, kUp, kUpB, kDown, kDownB };

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
            v[kJoin].view(),
            v[kJoinB].view(),
            {v[kW2].view(), v[kB2].view(), 1e-5f},
            v[kUp].view(),
            v[kUpB].view(),
            v[kDown].view(),
            v[kDownB].view(),
            heads,
            Activation::gelu_tanh};
}

using Rowd = std::vector<double>;

Rowd normed(const Rowd& x, const Tensor<float>& w, const Tensor<float>& b) {
    const auto n = static_cast<double>(x.size());
    double mean = 0, var = 0;
    for (const double v : x) mean += v / n;
    for (const double v : x) var += (v - mean) * (v - mean) / n;
    Rowd y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        y[i] = (x[i] - mean) / std::sqrt(var + static_cast<double>(1e-5f)) *
                   static_cast<double>(w.data()[i]) +
               static_cast<double>(b.data()[i]);
    }
    return y;
}

// x * matrix + bias
Rowd product(const Rowd& x, const Tensor<float>& matrix, const Tensor<float>* bias) {
    const std::int64_t N = matrix.shape()[1];
    Rowd y(static_cast<std::size_t>(N), 0.0);
    for (std::int64_t n = 0; n < N; ++n) {
        double sum = bias != nullptr ? static_cast<double>(bias->data()[n]) : 0;
        for (std::size_t k = 0; k < x.size(); ++k) {
            sum += x[k] * static_cast<double>(matrix.data()[static_cast<std::int64_t>(k) * N + n]);
        }
        y[static_cast<std::size_t>(n)] = sum;
    }
    return y;
}

void add_to(Rowd& x, const Rowd& y) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

// One sequence through one block.
std::vector<Rowd> reference(std::vector<Rowd> x, const Parameters& p) {
    const std::size_t T = x.size(), C = x[0].size(), D = C / static_cast<std::size_t>(p.heads);
    std::vector<Rowd> qkv(T);
    for (std::size_t t = 0; t < T; ++t) {
        qkv[t] = product(normed(x[t], p.all[kW1], p.all[kB1]), p.all[kQkv], &p.all[kQkvB]);
    }
    for (std::size_t t = 0; t < T; ++t) {
        Rowd mixed(C, 0.0);
        for (std::size_t c = 0; c < C; ++c) {  // one column of the output: of head c / D
            const std::size_t h = c / D;
            Rowd share(t + 1, 0.0);
            double sum = 0;
            for (std::size_t s = 0; s <= t; ++s) {
                double dot = 0;
                for (std::size_t d = 0; d < D; ++d)
                    dot += qkv[t][h * D + d] * qkv[s][C + h * D + d];
                share[s] = std::exp(dot / std::sqrt(static_cast<double>(D)));
                sum += share[s];
            }
            for (std::size_t s = 0; s <= t; ++s) mixed[c] += share[s] / sum * qkv[s][2 * C + c];
        }
        add_to(x[t], product(mixed, p.all[kJoin], &p.all[kJoinB]));
    }
    for (Rowd& row : x) {
        Rowd hidden = product(normed(row, p.all[kW2], p.all[kB2]), p.all[kUp], &p.all[kUpB]);
        for (double& v : hidden) {
            v = v / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
        }
        add_to(row, product(hidden, p.all[kDown], &p.all[kDownB]));
    }
    return x;
}

Tensor<double> reference_of(const Tensor<float>& x, const Parameters& p) {
    Tensor<double> out(x.shape());
    const std::int64_t T = x.shape()[1], C = x.shape()[2];
    for (std::int64_t b = 0; b < x.shape()[0]; ++b) {
        std::vector<Rowd> rows;
        for (std::int64_t t = 0; t < T; ++t) {
            rows.push_back(row_at(x, 2, {b, t, 0}));
        }
        rows = reference(rows, p);
        for (std::int64_t i = 0; i < T * C; ++i) {
            out.data()[b * T * C + i] =
                rows[static_cast<std::size_t>(i / C)][static_cast<std::size_t>(i % C)];
        }
    }
    return out;
}

std::array<DeviceIn<float>, 12> on_device(const Parameters& p) {
    const auto& a = p.all;
    return {DeviceIn<float>(a[0]), DeviceIn<float>(a[1]),  DeviceIn<float>(a[2]),
            DeviceIn<float>(a[3]), DeviceIn<float>(a[4]),  DeviceIn<float>(a[5]),
            DeviceIn<float>(a[6]), DeviceIn<float>(a[7]),  DeviceIn<float>(a[8]),
            DeviceIn<float>(a[9]), DeviceIn<float>(a[10]), DeviceIn<float>(a[11])};
}

// Numbers are near 1, and no sum of the block is longer than F or C; each of its nine operations adds
// its roundings, and the norms may double what came before.
constexpr double kFar = 2e-5;

TEST_CASE("a block is what its formula says, with every bias and every head",
          "[day06][block][small]") {
    struct Sizes {
        std::int64_t B, T, C, F, heads;
        double far = kFar;
    };
    // In the last one blocks share the K of the last product; its numbers reach 10.
    const Sizes shared = {1, 64, 64, 128, 4, 10 * kFar};
    const Sizes cases[] = {
        {2, 5, 12, 20, 3},
        {1, 1, 8, 32, 2},
        {2, 9, 16, 64, 4},
        {1, 7, 6, 5, 1},
        shared,
        {1, 2, 128, 8, 1, 10 * kFar},   // one head as wide as the steps of attention take
        {1, 2, 132, 4, 1, 10 * kFar}};  // and wider
    for (const auto& c : cases) {
        CAPTURE(c.B, c.T, c.C, c.F, c.heads);
        const Parameters p = parameters(c.C, c.F, c.heads);
        const Tensor<float> x = seeded<float>({c.B, c.T, c.C}, 7, -1, 1);
        const Tensor<double> want = reference_of(x, p);
        HostOut<float> loop = HostOut<float>::holding(x);
        block_cpu(views_of(p.all, p.heads), loop.view());
        CHECK(loop.close_to(want, c.far));
        const auto device = on_device(p);
        const BlockParameters views = views_of(device, p.heads);
        DeviceOut<float> got = DeviceOut<float>::holding(x);
        const std::int64_t bytes = block_workspace_bytes(views, got.view());
        SharedWorkspace memory(bytes);
        block_cuda(views, got.view(), memory.next(bytes));
        CHECK(memory.kept());
        CHECK(got.close_to(want, c.far));
        CHECK((last_kernel() == "matmul_add_parts_kernel") == (c.F == shared.F));
        for (const auto& input : device) CHECK(input.unchanged());
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
    Tensor<double> want({B, T, V});
    for (std::int64_t i = 0; i < want.size(); ++i) {
        const std::int64_t n = i / V, v = i % V;
        const Rowd z = normed(row_at(x, 2, {n / T, n % T, 0}), w, b);
        for (std::int64_t c = 0; c < C; ++c) {
            want.data()[i] += z[static_cast<std::size_t>(c)] * static_cast<double>(tokens(v, c));
        }
    }
    HostOut<float> loop({B, T, V});
    logits_cpu(x.view(), {w.view(), b.view(), 1e-5f}, tokens.view(), loop.view());
    CHECK(loop.close_to(want, 5e-6));
    DeviceIn<float> dx(x), dt(tokens), dw(w), db(b);
    DeviceOut<float> got({B, T, V});
    gpu::Buffer<std::byte> memory(logits_workspace_bytes(dx.view()));
    logits_cuda(dx.view(), {dw.view(), db.view(), 1e-5f}, dt.view(), got.view(), memory);
    CHECK(got.close_to(want, 5e-6));
    CHECK(dx.unchanged());

    CHECK(both_refuse(
        [&] { logits_cpu(x.view(), {}, transpose(tokens.view()), loop.view()); },
        [&] { logits_cuda(dx.view(), {}, transpose(dt.view()), got.view(), memory); },
        "logits: x has shape (2, 3, 8), tokens (8, 37), out (2, 3, 37); they must be (B, "
        "T, C), (V, C) and (B, T, V)"));
    CHECK(both_refuse(
        [&] { logits_cpu(x.view(), {slice(w.view(), 0, 0, 7)}, tokens.view(), loop.view()); },
        [&] { logits_cuda(dx.view(), {slice(dw.view(), 0, 0, 7)}, dt.view(), got.view(), memory); },
        "norm: weight has shape (7), but rows have 8 elements"));
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
        "logits: out overlaps an input"));
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
    };
    using P = BlockParameters&;
    using X = View<float>;
    refused([](P b, X) { b.heads = 3; },
            "block: 3 heads do not divide the 8 numbers of a token equally");
    refused([](P b, X) { b.heads = 0; }, "block: 0 heads");
    refused([](P b, X) { b.qkv = transpose(b.qkv); },
            "block: qkv has shape (24, 8), but must have (8, 24)");
    refused([](P b, X) { b.qkv_bias = {}; }, "block: qkv_bias has shape (), but must have (24)");
    refused([](P b, X) { b.join = columns(b.join, 0, 7); }, "block: join has shape (8, 7)");
    refused([](P b, X) { b.join_bias.data = nullptr; }, "block: join_bias is a null pointer");
    refused([](P b, X) { b.up = b.up_bias; }, "block: up has shape (12), but must have (C, F)");
    refused([](P b, X) { b.up = columns(b.up, 0, 11); },
            "block: up_bias has shape (12), but must have (11)");
    refused([](P b, X) { b.down = transpose(b.down); }, "block: down has shape (8, 12)");
    refused([](P b, X v) { b.down_bias = row(select(v, 0, 0), 1); },
            "block: down_bias overlaps what is written");
    refused([](P b, X) { b.norm1.weight = b.up_bias; },
            "norm: weight has shape (12), but rows have 8");
    refused([](P b, X) { b.norm2.eps = -1; }, "norm: eps is -1.000000");
    CHECK(contains(refusal([&] { block_cuda(views_of(device, 2), g.view(), {}); }),
                   "block: a workspace of 0 bytes at a null pointer was given, but"));
    CHECK(both_refuse([&] { block_cpu(views_of(p.all, 2), select(h.view(), 0, 0)); },
                      [&] { block_cuda(views_of(device, 2), select(g.view(), 0, 0), memory); },
                      "block: x has shape (3, 8) of rank 2, but rank 3 is needed"));
    CHECK(h.untouched());
    CHECK(g.untouched());
}

}  // namespace
