// What only --bench measures: every path on the shapes of a GPT-2, and on wider ones.
#include "day06_transformer_ops/bench/bench.hpp"

#include "common/tensor/transform.hpp"
#include "day06_transformer_ops/activation.hpp"
#include "day06_transformer_ops/attention.hpp"
#include "day06_transformer_ops/embedding.hpp"
#include "day06_transformer_ops/norm.hpp"
#include "day06_transformer_ops/softmax.hpp"

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
            [path](View<const T> in, View<T> out) { softmax_cuda(path, in, -1, out); }, kFar<T>};
        port(report, op, {3, std::min<std::int64_t>(n, 4 * K)}, {rows, n});
    };
    run(SoftmaxPath::thread_a_row, 32 * K, K);
    for (const auto path : {SoftmaxPath::warp_a_row, SoftmaxPath::online, SoftmaxPath::registers}) {
        run(path, 128 * K, 256);
        run(path, 32 * K, K);
        run(path, 8 * K, 4 * K);
    }
    run(SoftmaxPath::online, K, 32 * K);
    run(SoftmaxPath::registers, 2 * K, 16 * K);
    run(SoftmaxPath::online, 512, 50257);
    run(SoftmaxPath::online, 1, 50257);
    const Op<T> causal = {"causal softmax",
                          "registers",
                          [](View<const T> in, View<T> out) { causal_softmax_cpu(in, out); },
                          [](View<const T> in, View<T> out) { causal_softmax_cuda(in, out); },
                          kFar<T>,
                          1.5};
    port(report, causal, {2, 64, 64}, {96, K, K});
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
                              if (rms) return rms_norm_cuda(path, in, device, out);
                              layer_norm_cuda(path, in, device, out);
                          },
                          kFar<T>};
        port(report, op, {5, n}, {rows, n});
    };
    run(NormPath::thread_a_row, false, 32 * K, 768);
    for (const auto path : {NormPath::warp_a_row, NormPath::registers}) {
        run(path, false, 64 * K, 768);
        run(path, false, 32 * K, 1600);
        run(path, false, 16 * K, 4 * K);
    }
    run(NormPath::warp_a_row, false, 64 * K, 769);
    run(NormPath::registers, true, 64 * K, 768);
    run(NormPath::registers, true, 16 * K, 4 * K);
}

template <class T>
void bench_activation(lesson::Report& report) {
    const Tensor<T> host = noise<T>({3 * K});
    const gpu::Buffer<T> device(host);
    const auto run = [&](const std::string& op, ActivationPath path, const auto& loop,
                         const auto& ported) {
        port(report, Op<T>{op, name(path), loop, ported, kFar<T>}, {5, 3 * K}, {32 * K, 3 * K});
    };
    for (const auto path : {ActivationPath::one_element, ActivationPath::quads}) {
        for (const Activation what :
             {Activation::relu, Activation::gelu_erf, Activation::gelu_tanh, Activation::silu}) {
            run(
                name(what), path,
                [=](View<const T> in, View<T> out) { activate_cpu(what, in, out); },
                [=](View<const T> in, View<T> out) { activate_cuda(path, what, in, out); });
        }
        const auto gelu = Activation::gelu_tanh;
        run(
            "bias, gelu_tanh", path,
            [&](View<const T> in, View<T> out) { activate_biased_cpu(gelu, in, host.view(), out); },
            [=, &device](View<const T> in, View<T> out) {
                activate_biased_cuda(path, gelu, in, device.view({3 * K}), out);
            });
    }
}

// Rows of a table of 50,257, picked without order, and the 1,024 positions.
void bench_embedding(lesson::Report& report) {
    const std::int64_t V = 50257, P = K, C = 768, T = 32 * K;
    const Tensor<std::int64_t> ids =
        lesson::filled<std::int64_t>({T}, [](std::int64_t i) { return i * 7919 % 50257; });
    const Tensor<std::int64_t> places =
        lesson::filled<std::int64_t>({T}, [](std::int64_t i) { return i % K; });
    const gpu::Buffer<float> tokens(noise<float>({V, C})), positions(noise<float>({P, C}));
    const gpu::Buffer<std::int64_t> device_ids(ids), device_places(places);
    gpu::Buffer<float> out(T * C), want(T * C);
    for (const EmbedPath path : {EmbedPath::one_element, EmbedPath::quads}) {
        const auto run = [&](gpu::Buffer<float>& to) {
            embed_cuda(path, tokens.view({V, C}), device_ids.view({T}), positions.view({P, C}),
                       device_places.view({T}), to.view({T, C}));
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
        v.cache = "warm";  // the position table stays in it, and what the last run wrote
        v.work = {4.0 * (T * C + P * C) + 16.0 * T, 4.0 * T * C, 0};
        v.check = {[&](int) { run(out); }, {{out.data(), want.data(), 4 * T * C}}};
        report.port(v);
    }
}

// T queries against S keys of each head, 64 numbers wide. Held against its own first answer: what it
// must be is the tests' question.
void bench_attention(lesson::Report& report, const char* op, AttentionPath path, std::int64_t B,
                     std::int64_t H, std::int64_t T, std::int64_t S) {
    const std::int64_t D = 64, queries = B * H * T * D, keys = B * H * S * D;
    const Tensor<float> part = noise<float>({1 << 20});
    const auto filled = [&](std::int64_t n) {
        gpu::Buffer<float> x(n);
        for (std::int64_t at = 0; at < n; at += part.size()) {
            x.upload(part.data(), std::min(part.size(), n - at), at);
        }
        return x;
    };
    const gpu::Buffer<float> q = filled(queries), k = filled(keys), v = filled(keys);
    gpu::Buffer<float> out(queries), want(queries);
    const bool twin = path == AttentionPath::four_passes;
    gpu::Buffer<std::byte> memory(twin ? 4 * B * H * T * S : 1);
    const auto run = [&](gpu::Buffer<float>& to) {
        attention_cuda(path, q.view({B, H, T, D}), k.view({B, H, S, D}), v.view({B, H, S, D}), {},
                       to.view({B, H, T, D}), memory);
    };
    run(want);
    lesson::Version row;
    row.op = op;
    row.version = name(path);
    row.shape = to_string(Shape{B, H, S, D});
    row.how = "the same bits again";
    row.cache = keys > (std::int64_t{1} << 26) ? "cold" : "warm";
    const double pairs = static_cast<double>(B * H) * static_cast<double>(T) *
                         (static_cast<double>(S) - 0.5 * static_cast<double>(T - 1));
    row.work = {4.0 * static_cast<double>(queries + 2 * keys), 4.0 * static_cast<double>(queries),
                4.0 * pairs * static_cast<double>(D)};
    row.check = {[&](int) { run(out); }, {{out.data(), want.data(), 4 * queries}}};
    report.port(row);
}

}  // namespace

void bench_all(lesson::Report& report) {
    bench_softmax<float>(report);
    bench_softmax<bf16>(report);
    bench_norm<float>(report);
    bench_norm<bf16>(report);
    bench_activation<float>(report);
    bench_activation<bf16>(report);
    bench_embedding(report);
    for (const auto path : {AttentionPath::four_passes, AttentionPath::fused}) {
        bench_attention(report, "attention", path, 8, 12, K, K);
    }
    for (const auto path : {AttentionPath::fused, AttentionPath::split_keys}) {
        bench_attention(report, "decode attention", path, 1, 12, 1, K);
        bench_attention(report, "decode attention", path, 16, 32, 1, 4 * K);
    }
}

}  // namespace sixdays::day06_transformer_ops
