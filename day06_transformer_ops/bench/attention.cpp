// Attention as --bench measures it, and what a single token costs, where a launch takes longer than
// the bytes: calls in a graph.
#include <algorithm>

#include "common/gpu/graph.hpp"
#include "day06_transformer_ops/attention/attention.hpp"
#include "day06_transformer_ops/bench/bench.hpp"
#include "day06_transformer_ops/softmax/softmax.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr std::int64_t K = 1024;
constexpr int kCalls = 100;  // in a graph

gpu::Buffer<float> filled(std::int64_t n) {
    const Tensor<float> part = noise<float>({std::min<std::int64_t>(n, 1 << 20)});
    gpu::Buffer<float> x(n);
    for (std::int64_t at = 0; at < n; at += part.size()) {
        x.upload(part.data(), std::min(part.size(), n - at), at);
    }
    return x;
}

// T queries against S keys of each head of D numbers, B times H heads.
struct Sizes {
    std::int64_t B, H, T, S, D;
    [[nodiscard]] std::int64_t queries() const { return B * H * T * D; }
    [[nodiscard]] std::int64_t keys() const { return B * H * S * D; }
    [[nodiscard]] double bytes() const { return 8.0 * double(queries() + keys()); }
    [[nodiscard]] View<const float> q(const float* x) const { return {x, Shape{B, H, T, D}}; }
    [[nodiscard]] View<const float> k(const float* x) const { return {x, Shape{B, H, S, D}}; }
    [[nodiscard]] View<float> out(float* x) const { return {x, Shape{B, H, T, D}}; }
};

lesson::Version row_of(const char* op, AttentionPath path, const Sizes& n) {
    lesson::Version row;
    row.op = op;
    row.version = name(path);
    row.shape = to_string(Shape{n.B, n.H, n.S, n.D});
    row.how = "the same bits again";
    row.cache = n.bytes() > 96e6 ? "cold" : "warm";
    const double pairs = static_cast<double>(n.B * n.H * n.T) *
                         (static_cast<double>(n.S) - 0.5 * static_cast<double>(n.T - 1));
    row.work = {4.0 * static_cast<double>(n.queries() + 2 * n.keys()),
                4.0 * static_cast<double>(n.queries()), 4.0 * pairs * static_cast<double>(n.D)};
    return row;
}

// Held against its own first answer: what it must be is the tests' question.
void attend(lesson::Report& report, const char* op, AttentionPath path, const Sizes& n) {
    const gpu::Buffer<float> q = filled(n.queries()), k = filled(n.keys()), v = filled(n.keys());
    gpu::Buffer<float> out(n.queries()), want(n.queries());
    gpu::Buffer<std::byte> memory(attention_workspace_bytes(path, n.q(q.data()), n.k(k.data())));
    memory.fill_bytes(0);
    const auto run = [&](gpu::Buffer<float>& to) {
        attention_cuda(path, n.q(q.data()), n.k(k.data()), n.k(v.data()), {}, n.out(to.data()),
                       memory);
    };
    run(want);
    lesson::Version row = row_of(op, path, n);
    row.check = {[&](int) { run(out); }, {{out.data(), want.data(), 4 * n.queries()}}};
    report.port(row);
}

// One call after the other in a graph. run(call, out, stream) launches number `call`, whose `each`
// floats of result begin at out.
template <class Run>
void in_graph(lesson::Report& report, lesson::Version row, std::int64_t each, const Run& run) {
    row.op += ", " + std::to_string(kCalls) + " calls in a graph";
    row.how = "the same bits again";
    row.work.bytes_read *= kCalls;
    row.work.bytes_written *= kCalls;
    row.work.flops *= kCalls;
    gpu::Buffer<float> out(kCalls * each), want(kCalls * each);
    for (std::int64_t call = 0; call < kCalls; ++call)
        run(call, want.data() + call * each, nullptr);
    if (!report.times_ports()) return;  // the emulator has no graphs
    gpu::Graph graph([&](gpu::Stream stream) {
        for (std::int64_t call = 0; call < kCalls; ++call) {
            run(call, out.data() + call * each, stream);
        }
    });
    row.check = {[&](int) { graph.launch(); }, {{out.data(), want.data(), 4 * kCalls * each}}};
    report.port(row);
}

// Each call has logits of its own: 40 MB together, which may stay in the cache.
void bench_next_token(lesson::Report& report) {
    const std::int64_t V = 50257;
    const gpu::Buffer<float> logits = filled(kCalls * V);
    const View<const float> one(logits.data(), Shape{1, V});
    gpu::Buffer<std::byte> memory(softmax_workspace_bytes(one, -1));
    lesson::Version row;
    row.op = "softmax";
    row.version = name(SoftmaxPath::split);
    row.shape = to_string(Shape{1, V});
    row.cache = "warm";
    row.work = {4.0 * V, 4.0 * V, 0};
    in_graph(report, row, V, [&](std::int64_t call, float* out, gpu::Stream stream) {
        softmax_cuda<float>({logits.data() + call * V, Shape{1, V}}, -1, {out, Shape{1, V}}, memory,
                            stream);
    });
}

// Each call has keys and values of its own.
void bench_next_word(lesson::Report& report, const Sizes& n) {
    const gpu::Buffer<float> q = filled(n.queries()), k = filled(kCalls * n.keys()),
                             v = filled(kCalls * n.keys());
    const AttentionPath path = AttentionPath::split_blocks;
    gpu::Buffer<std::byte> memory(attention_workspace_bytes(path, n.q(q.data()), n.k(k.data())));
    memory.fill_bytes(0);
    lesson::Version row = row_of("decode attention", path, n);
    row.cache = "cold";
    in_graph(report, row, n.queries(), [&](std::int64_t call, float* out, gpu::Stream stream) {
        attention_cuda(path, n.q(q.data()), n.k(k.data() + call * n.keys()),
                       n.k(v.data() + call * n.keys()), {}, n.out(out), memory, stream);
    });
}

}  // namespace

void bench_attention(lesson::Report& report) {
    for (const auto path :
         {AttentionPath::four_passes, AttentionPath::fused, AttentionPath::tiles}) {
        attend(report, "attention", path, {8, 12, K, K, 64});
    }
    attend(report, "attention", AttentionPath::tiles, {4, 16, 4 * K, 4 * K, 64});
    attend(report, "attention", AttentionPath::tiles, {2, 16, 4 * K, 4 * K, 128});
    for (const auto path : {AttentionPath::split_keys, AttentionPath::split_blocks}) {
        attend(report, "decode attention", path, {16, 32, 1, 4 * K, 64});
    }
    attend(report, "decode attention", AttentionPath::split_blocks, {16, 32, 1, 4 * K, 128});
    attend(report, "decode attention", AttentionPath::split_blocks, {1, 32, 1, 128 * K, 128});
    bench_next_word(report, {1, 12, 1, K, 64});
    bench_next_token(report);
}

}  // namespace sixdays::day06_transformer_ops
