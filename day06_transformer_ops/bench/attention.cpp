// Attention as --bench measures it, and the cost of a single token, where launch overhead exceeds
// the memory time: calls in a CUDA graph.
#include <algorithm>
#include <cmath>

#include "common/gpu/graph.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/sentence.hpp"
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

// T queries against S keys per head of D elements, B times H heads.
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

// One query's attention in double precision, and the error bound of each element, as in
// attention.hpp.
struct Exact {
    std::vector<double> value, bound;
};
Exact exact(const float* q, const float* k, const float* v, std::int64_t n, std::int64_t D) {
    const auto at = [D](const float* x, std::int64_t s, std::int64_t d) {
        return static_cast<double>(x[s * D + d]);
    };
    std::vector<double> score(static_cast<std::size_t>(n));
    double m = -INFINITY, sum = 0, most = 0;
    for (std::int64_t s = 0; s < n; ++s) {
        double size = 0;
        for (std::int64_t d = 0; d < D; ++d) {
            const double product = at(q, 0, d) * at(k, s, d) / std::sqrt(static_cast<double>(D));
            score[static_cast<std::size_t>(s)] += product;
            size += std::fabs(product);
        }
        m = std::max(m, score[static_cast<std::size_t>(s)]);
        most = std::max(most, size);
    }
    for (double& x : score) sum += x = std::exp(x - m);
    const double units = (2 * (double(D) + 6) * most + 4 * double(n) + 40) * 0x1p-24;
    Exact all{std::vector<double>(static_cast<std::size_t>(D)),
              std::vector<double>(static_cast<std::size_t>(D))};
    for (std::int64_t s = 0; s < n; ++s) {
        for (std::int64_t d = 0; d < D; ++d) {
            const double term = score[static_cast<std::size_t>(s)] / sum * at(v, s, d);
            all.value[static_cast<std::size_t>(d)] += term;
            all.bound[static_cast<std::size_t>(d)] += std::fabs(term) * units;
        }
    }
    return all;
}

// Compares the first, a middle and the last query, causal, with double precision. q, k, v and out
// are in device memory.
// @throws std::runtime_error  a larger error; --bench ends with this message
void hold_against_double(const char* op, AttentionPath path, const Sizes& n, const float* q,
                         const float* k, const float* v, const float* out) {
    const std::int64_t queries = n.B * n.H * n.T;
    for (const std::int64_t r : {std::int64_t{0}, queries / 2 + n.T / 3, queries - 1}) {
        const std::int64_t head = r / n.T, seen = n.S - n.T + r % n.T + 1;
        const Tensor<float> keys = part_of(k, {n.S, n.D}, head),
                            values = part_of(v, {n.S, n.D}, head),
                            query = part_of(q, Shape{n.D}, r), got = part_of(out, Shape{n.D}, r);
        const Exact want = exact(query.data(), keys.data(), values.data(), seen, n.D);
        for (std::int64_t d = 0; d < n.D; ++d) {
            const auto i = static_cast<std::size_t>(d);
            if (std::fabs(got(d) - want.value[i]) <= want.bound[i]) continue;
            throw std::runtime_error(sentence(
                op, ", ", name(path), ": number ", d, " of query ", r, " is ", got(d),
                ", in double precision ", want.value[i], "; ", want.bound[i], " apart is allowed"));
        }
    }
}

// Compares three queries with double precision, and then all results with the first one.
void attend(lesson::Report& report, const char* op, AttentionPath path, const Sizes& n) {
    const gpu::Buffer<float> q = filled(n.queries()), k = filled(n.keys()), v = filled(n.keys());
    gpu::Buffer<float> out(n.queries()), want(n.queries());
    gpu::Buffer<std::byte> memory(
        attention_workspace_bytes(n.q(q.data()), n.k(k.data()), n.k(v.data()), path));
    memory.fill_bytes(0);
    const auto run = [&](gpu::Buffer<float>& to) {
        attention_cuda(n.q(q.data()), n.k(k.data()), n.k(v.data()), {}, n.out(to.data()), {},
                       {.path = path, .workspace = memory});
    };
    run(want);
    hold_against_double(op, path, n, q.data(), k.data(), v.data(), want.data());
    lesson::Version row = row_of(op, path, n);
    row.check = {[&](int) { run(out); }, {{out.data(), want.data(), 4 * n.queries()}}};
    report.port(row);
}

// Consecutive calls in a CUDA graph. run(call, out, stream) launches call number `call`, whose
// `each` result floats begin at out; look(all results) throws if some are wrong.
template <class Run, class Look>
void in_graph(lesson::Report& report, lesson::Version row, std::int64_t each, const Run& run,
              const Look& look) {
    row.op += ", " + std::to_string(kCalls) + " calls in a graph";
    row.how = "the same bits again";
    row.work.bytes_read *= kCalls;
    row.work.bytes_written *= kCalls;
    row.work.flops *= kCalls;
    gpu::Buffer<float> out(kCalls * each), want(kCalls * each);
    for (std::int64_t call = 0; call < kCalls; ++call)
        run(call, want.data() + call * each, nullptr);
    look(want.data());
    if (!report.times_ports()) return;
    gpu::Graph graph([&](gpu::Stream stream) {
        for (std::int64_t call = 0; call < kCalls; ++call) {
            run(call, out.data() + call * each, stream);
        }
    });
    row.check = {[&](int) { graph.launch(); }, {{out.data(), want.data(), 4 * kCalls * each}}};
    report.port(row);
}

// Each call has its own logits: 40 MB together, which may stay in the cache.
void bench_next_token(lesson::Report& report) {
    const std::int64_t V = 50257;
    const gpu::Buffer<float> logits = filled(kCalls * V);
    const View<const float> one(logits.data(), Shape{1, V});
    gpu::Buffer<std::byte> memory(softmax_workspace_bytes(one, -1));
    memory.fill_bytes(0);
    lesson::Version row;
    row.op = "softmax";
    row.version = name(SoftmaxPath::split);
    row.shape = to_string(Shape{1, V});
    row.cache = "warm";
    row.work = {4.0 * V, 4.0 * V, 0};
    const Op<float> op = {"softmax",
                          name(SoftmaxPath::split),
                          [](View<const float> in, View<float> out) { softmax_cpu(in, -1, out); },
                          {}};
    in_graph(
        report, row, V,
        [&](std::int64_t call, float* out, gpu::Stream stream) {
            softmax_cuda<float>({logits.data() + call * V, Shape{1, V}}, -1, {out, Shape{1, V}},
                                {.workspace = memory, .stream = stream});
        },
        [&](const float* out) {
            hold_against_loop(op, {kCalls, V}, logits.data(), out);
        });
}

// Each call has its own keys and values.
void bench_next_word(lesson::Report& report, const Sizes& n) {
    const gpu::Buffer<float> q = filled(n.queries()), k = filled(kCalls * n.keys()),
                             v = filled(kCalls * n.keys());
    const AttentionPath path = AttentionPath::split_blocks;
    gpu::Buffer<std::byte> memory(
        attention_workspace_bytes(n.q(q.data()), n.k(k.data()), n.k(v.data()), path));
    memory.fill_bytes(0);
    lesson::Version row = row_of("decode attention", path, n);
    row.cache = "cold";
    in_graph(
        report, row, n.queries(),
        [&](std::int64_t call, float* out, gpu::Stream stream) {
            attention_cuda(n.q(q.data()), n.k(k.data() + call * n.keys()),
                           n.k(v.data() + call * n.keys()), {}, n.out(out), {},
                           {.path = path, .workspace = memory, .stream = stream});
        },
        [&](const float* out) {
            for (const std::int64_t call : {0, kCalls - 1}) {
                hold_against_double("decode attention", path, n, q.data(),
                                    k.data() + call * n.keys(), v.data() + call * n.keys(),
                                    out + call * n.queries());
            }
        });
}

}  // namespace

void bench_attention(lesson::Report& report) {
    for (const auto path :
         {AttentionPath::four_passes, AttentionPath::fused, AttentionPath::tiles}) {
        attend(report, "attention", path, {8, 12, K, K, 64});
    }
    if (gpu::has_tile()) {
        attend(report, "attention", AttentionPath::tile, {8, 12, K, K, 64});
        attend(report, "attention", AttentionPath::tile, {2, 16, 4 * K, 4 * K, 128});
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
