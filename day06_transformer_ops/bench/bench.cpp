// The measurements of --bench: every path on the shapes of a GPT-2, and on wider ones.
#include "day06_transformer_ops/bench/bench.hpp"

#include "common/gpu/tile.hpp"
#include "common/tensor/sentence.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/broadcast.hpp"
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/embedding/embedding.hpp"
#include "day06_transformer_ops/norm/norm.hpp"
#include "day06_transformer_ops/softmax/cross_entropy.hpp"
#include "day06_transformer_ops/softmax/softmax.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr std::int64_t K = 1024;

template <class T>
constexpr double kFar = std::is_same_v<T, float> ? 1e-5 : 1e-2;

template <class T>
void bench_softmax(lesson::Report& report) {
    const auto run = [&](SoftmaxPath path, std::int64_t rows, std::int64_t n) {
        const Op<T> op = {
            "softmax", name(path), [](View<const T> in, View<T> out) { softmax_cpu(in, -1, out); },
            [path](View<const T> in, View<T> out) { softmax_cuda(in, -1, out, {.path = path}); },
            kFar<T>};
        port(report, op, {3, std::min<std::int64_t>(n, 4 * K)}, {rows, n});
    };
    run(SoftmaxPath::thread_per_row, 32 * K, K);
    for (const auto path :
         {SoftmaxPath::warp_per_row, SoftmaxPath::online, SoftmaxPath::registers}) {
        run(path, 128 * K, 256);
        run(path, 32 * K, K);
        run(path, 8 * K, 4 * K);
    }
    if (gpu::has_tile()) {
        run(SoftmaxPath::tile, 128 * K, 256);
        run(SoftmaxPath::tile, 32 * K, K);
        run(SoftmaxPath::tile, 8 * K, 4 * K);
        run(SoftmaxPath::tile, K, 50257);
    }
    run(SoftmaxPath::registers, 4 * K, 8 * K);
    run(SoftmaxPath::registers, 2 * K, 16 * K);
    for (const auto path : {SoftmaxPath::online, SoftmaxPath::shared}) {
        run(path, K, 32 * K);
        run(path, K, 50257);
    }
    run(SoftmaxPath::online, 256, 128 * K);
    run(SoftmaxPath::shared, 256, 128 * K);
    run(SoftmaxPath::shared, 256, 256 * K);
    const Op<T> logarithm = {"log softmax", "shared",
                             [](View<const T> in, View<T> out) { log_softmax_cpu(in, -1, out); },
                             [](View<const T> in, View<T> out) { log_softmax_cuda(in, -1, out); },
                             kFar<T>};
    port(report, logarithm, {3, 4 * K + 1}, {K, 50257});
    const Op<T> causal = {"causal softmax",
                          "registers",
                          [](View<const T> in, View<T> out) { causal_softmax_cpu(in, out); },
                          [](View<const T> in, View<T> out) { causal_softmax_cuda(in, out); },
                          kFar<T>,
                          1.5};
    port(report, causal, {2, 64, 64}, {96, K, K});
    // The mask hides every third element; it is the same for all 96.
    const Tensor<std::uint8_t> host =
        lesson::filled<std::uint8_t>({K, K}, [](std::int64_t i) { return i % 3 != 1; });
    const gpu::Buffer<std::uint8_t> device(host);
    const auto mask = [](const std::uint8_t* data, const View<const T>& in) {
        return View<const std::uint8_t>(data, {{in.extent(1), in.extent(2)}, {K, 1}});
    };
    const Op<T> masked = {"masked softmax", "registers",
                          [&](View<const T> in, View<T> out) {
                              masked_softmax_cpu(in, mask(host.data(), in), -1, out);
                          },
                          [&](View<const T> in, View<T> out) {
                              masked_softmax_cuda(in, mask(device.data(), in), -1, out);
                          },
                          kFar<T>};
    port(report, masked, {2, 64, 64}, {96, K, K});
}

// Compares three rows with the CPU reference, and then all results with the first one.
template <class T>
void bench_cross_entropy(lesson::Report& report) {
    const std::int64_t rows = K, V = 50257;
    const Tensor<T> part = noise<T>({V + 1});
    gpu::Buffer<T> logits(rows * V);
    for (std::int64_t r = 0; r < rows; ++r) logits.upload(part.data() + r % 2, V, r * V);
    const gpu::Buffer<std::int64_t> targets(
        lesson::filled<std::int64_t>({rows}, [](std::int64_t i) { return i * 49 % V; }));
    gpu::Buffer<float> out(rows), want(rows);
    const auto run = [&](gpu::Buffer<float>& to) {
        cross_entropy_cuda<T>({logits.data(), {rows, V}}, targets.view({rows}), to.view({rows}));
    };
    run(want);
    for (const std::int64_t r : {std::int64_t{0}, rows / 2 + 1, rows - 1}) {
        const Tensor<std::int64_t> target({1}, {r * 49 % V});
        Tensor<float> loop({1});
        cross_entropy_cpu<T>({part.data() + r % 2, {1, V}}, target.view(), loop.view());
        const float got = want.download(r, 1)[0];
        if (std::fabs(got - loop(0)) <= static_cast<float>(V) * 0x1p-24f) continue;
        throw std::runtime_error(
            sentence("cross entropy: row ", r, " is ", got, ", the loop's ", loop(0)));
    }
    lesson::Version v;
    v.op = "cross entropy";
    v.version = name(CrossEntropyPath::block_per_row);
    v.dtype = std::is_same_v<T, float> ? "float32" : "bfloat16";
    v.shape = to_string(Shape{rows, V});
    v.how = "the same bits again";
    v.work = {static_cast<double>(sizeof(T)) * rows * V + 8.0 * rows, 4.0 * rows, 0};
    v.check = {[&](int) { run(out); }, {{out.data(), want.data(), 4 * rows}}};
    report.port(v);
}

template <class T>
void bench_norm(lesson::Report& report) {
    const gpu::Buffer<float> weight(noise<float>({8 * K})), bias(noise<float>({9 * K}));
    const Tensor<float> host_weight = noise<float>({8 * K}), host_bias = noise<float>({9 * K});
    const auto run = [&](NormPath path, bool rms, std::int64_t rows, std::int64_t n) {
        const auto parameters = [=](const float* w, const float* b) {
            return NormParameters{{w, Shape{n}}, {b + K, Shape{n}}};
        };
        const NormParameters host = parameters(host_weight.data(), host_bias.data());
        const NormParameters device = parameters(weight.data(), bias.data());
        const Op<T> op = {rms ? "RMS norm" : "layer norm", name(path),
                          [=](View<const T> in, View<T> out) {
                              if (rms) return rms_norm_cpu(in, host, out);
                              layer_norm_cpu(in, host, out);
                          },
                          [=](View<const T> in, View<T> out) {
                              if (rms) return rms_norm_cuda(in, device, out, {.path = path});
                              layer_norm_cuda(in, device, out, {.path = path});
                          },
                          kFar<T>};
        port(report, op, {5, n}, {rows, n});
    };
    run(NormPath::thread_per_row, false, 32 * K, 768);
    for (const auto path : {NormPath::warp_per_row, NormPath::registers}) {
        run(path, false, 64 * K, 768);
        run(path, false, 32 * K, 1600);
        run(path, false, 16 * K, 4 * K);
    }
    if (gpu::has_tile()) {
        run(NormPath::tile, false, 64 * K, 768);
        run(NormPath::tile, false, 32 * K, 1600);
        run(NormPath::tile, false, 16 * K, 4 * K);
        run(NormPath::tile, true, 64 * K, 768);
    }
    run(NormPath::registers, false, 8 * K, 8 * K);
    run(NormPath::warp_per_row, false, 64 * K, 769);
    run(NormPath::registers, true, 64 * K, 768);
    run(NormPath::registers, true, 16 * K, 4 * K);
}

// Bias and residual stream are Day 03's broadcast; they are here because a block has them.
void bench_additions(lesson::Report& report) {
    const Tensor<float> bias = noise<float>({3 * K}), small = noise<float>({5, 3 * K});
    const gpu::Buffer<float> device_bias(bias), device_small(small);
    gpu::Buffer<float> stream(32 * K * 3 * K);
    stream.fill_bytes(0x3c);
    Tensor<float> filled({1, 3 * K});  // any row of it
    std::memset(filled.data(), 0x3c, static_cast<std::size_t>(filled.size()) * sizeof(float));
    using day03_views::add_broadcast_cpu, day03_views::add_broadcast_cuda;
    const Op<float> biased = {
        "bias", "day03's broadcast",
        [&](View<const float> in, View<float> out) { add_broadcast_cpu(in, bias.view(), out); },
        [&](View<const float> in, View<float> out) {
            add_broadcast_cuda(in, device_bias.view({3 * K}), out);
        }};
    port(report, biased, {5, 3 * K}, {32 * K, 3 * K});
    const Op<float> residual = {
        "residual",
        "day03's broadcast",
        [&](View<const float> in, View<float> out) {
            const bool is_small = in.extent(0) == 5;
            add_broadcast_cpu(in, is_small ? small.view() : row(filled.view(), 0), out);
        },
        [&](View<const float> in, View<float> out) {
            const auto& other = in.extent(0) == 5 ? device_small : stream;
            add_broadcast_cuda(in, View<const float>(other.data(), in.shape()), out);
        },
        0,
        3};
    port(report, residual, {5, 3 * K}, {32 * K, 3 * K});
}

template <class T>
void bench_activation(lesson::Report& report) {
    const Tensor<T> host = noise<T>({3 * K});
    const gpu::Buffer<T> device(host);
    const auto run = [&](const std::string& op, ActivationPath path, const auto& loop,
                         const auto& ported) {
        port(report, Op<T>{op, name(path), loop, ported, kFar<T>}, {5, 3 * K}, {32 * K, 3 * K});
    };
    for (const auto path :
         {ActivationPath::one_element, ActivationPath::vectorized, ActivationPath::tile}) {
        if (path == ActivationPath::tile && !gpu::has_tile()) continue;
        for (const Activation what : kActivations) {
            run(
                name(what), path,
                [=](View<const T> in, View<T> out) { activate_cpu(what, in, out); },
                [=](View<const T> in, View<T> out) {
                    activate_cuda(what, in, out, {.path = path});
                });
        }
        const auto gelu = Activation::gelu_tanh;
        run(
            "bias, gelu_tanh", path,
            [&](View<const T> in, View<T> out) { activate_biased_cpu(gelu, in, host.view(), out); },
            [=, &device](View<const T> in, View<T> out) {
                activate_biased_cuda(gelu, in, device.view({3 * K}), out, {.path = path});
            });
    }
}

// Rows of a table of 50,257, in random order, and the 1,024 positions.
void bench_embedding(lesson::Report& report) {
    const std::int64_t V = 50257, P = K, C = 768, T = 32 * K;
    const Tensor<std::int64_t> ids =
        lesson::filled<std::int64_t>({T}, [](std::int64_t i) { return i * 7919 % 50257; });
    const Tensor<std::int64_t> places =
        lesson::filled<std::int64_t>({T}, [](std::int64_t i) { return i % K; });
    const gpu::Buffer<float> tokens(noise<float>({V, C})), positions(noise<float>({P, C}));
    const gpu::Buffer<std::int64_t> device_ids(ids), device_places(places);
    gpu::Buffer<float> out(T * C), want(T * C);
    for (const EmbedPath path : {EmbedPath::one_element, EmbedPath::vectorized}) {
        const auto run = [&](gpu::Buffer<float>& to) {
            embed_cuda(tokens.view({V, C}), device_ids.view({T}), positions.view({P, C}),
                       device_places.view({T}), to.view({T, C}), {.path = path});
        };
        Tensor<float> loop({T, C});
        const Tensor<float> host_tokens = noise<float>({V, C}),
                            host_positions = noise<float>({P, C});
        embed_cpu(host_tokens.view(), ids.view(), host_positions.view(), places.view(),
                  loop.view());
        want.upload(loop.data(), loop.size());
        lesson::Version v;
        v.op = "embedding";
        v.version = name(path);
        v.shape = to_string(Shape{T, C});
        v.cache = "cold";  // 200 MB per run; only the positions, 3 MB, stay in the cache
        v.work = {4.0 * (T * C + P * C) + 16.0 * T, 4.0 * T * C, 0};
        v.check = {[&](int) { run(out); }, {{out.data(), want.data(), 4 * T * C}}};
        report.port(v);
    }
}

}  // namespace

void bench_all(lesson::Report& report) {
    bench_softmax<float>(report);
    bench_softmax<bf16>(report);
    bench_cross_entropy<float>(report);
    bench_cross_entropy<bf16>(report);
    bench_norm<float>(report);
    bench_norm<bf16>(report);
    bench_activation<float>(report);
    bench_activation<bf16>(report);
    bench_embedding(report);
    bench_additions(report);
    bench_attention(report);
    bench_attention_bf16(report);
}

}  // namespace sixdays::day06_transformer_ops
