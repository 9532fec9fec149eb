// Attention of bf16 for --bench, compared with PyTorch's two: FlashAttention 2 and cuDNN.
#include "day06_transformer_ops/attention_bf16/attention_bf16.hpp"
#include "common/tensor/sentence.hpp"

#include <algorithm>

#include "common/gpu/device.hpp"
#include "common/gpu/tile.hpp"
#include "day06_transformer_ops/bench/bench.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr std::int64_t K = 1024;

// Numbers between -2 and 2 in random order, like queries and keys after a norm: scores stay small.
gpu::Buffer<bf16> mixed(std::int64_t n, std::uint64_t seed) {
    return gpu::Buffer<bf16>(lesson::filled<bf16>({n}, [seed](std::int64_t i) {
        std::uint64_t x = (static_cast<std::uint64_t>(i) + seed) * 0x9E3779B97F4A7C15u;
        x = (x ^ x >> 31) * 0xBF58476D1CE4E5B9u;
        return bf16(static_cast<float>(x >> 40) * 0x1p-22f - 2);
    }));
}

struct Heads16 {
    std::int64_t B, H, T, D;
    [[nodiscard]] std::int64_t numbers() const { return B * H * T * D; }
    [[nodiscard]] Shape shape() const { return {B, H, T, D}; }
};

// Compares the first, a middle and the last query with the CPU reference. For numbers up to 2,
// weights and output are rounded by 2^-8 each; float sums are far more accurate.
// @throws std::runtime_error  a larger error; --bench ends with this message
void hold_against_loop(AttentionBf16Path path, const Heads16& n, const bf16* q, const bf16* k,
                       const bf16* v, const bf16* out) {
    const std::int64_t queries = n.B * n.H * n.T;
    for (const std::int64_t r : {std::int64_t{0}, queries / 2 + n.T / 3, queries - 1}) {
        const std::int64_t head = r / n.T, seen = r % n.T + 1;
        const Tensor<bf16> keys = part_of(k, {n.T, n.D}, head),
                           values = part_of(v, {n.T, n.D}, head), query = part_of(q, {1, n.D}, r),
                           got = part_of(out, {1, n.D}, r);
        Tensor<bf16> want({1, n.D});
        attention_bf16_cpu<bf16>(query.view(), slice(keys.view(), 0, 0, seen),
                                 slice(values.view(), 0, 0, seen), {}, want.view());
        for (std::int64_t d = 0; d < n.D; ++d) {
            const float a = static_cast<float>(got(0, d)), b = static_cast<float>(want(0, d));
            if (std::fabs(a - b) <= 2 * 2 * 0x1p-8f) continue;
            throw std::runtime_error(sentence("attention_bf16, ", name(path), ": number ", d,
                                              " of query ", r, " is ", a, ", by the loop ", b));
        }
    }
}

// Compares three queries with the CPU reference, and then all results with the first one.
void attend(lesson::Report& report, const char* op, AttentionBf16Path path, const Heads16& n) {
    const gpu::Buffer<bf16> q = mixed(n.numbers(), 1), k = mixed(n.numbers(), 1000000007),
                            v = mixed(n.numbers(), 2000000011);
    gpu::Buffer<bf16> out(n.numbers()), want(n.numbers());
    const auto view = [&](const gpu::Buffer<bf16>& x) {
        return View<const bf16>(x.data(), n.shape());
    };
    gpu::Buffer<std::byte> memory(attention_bf16_workspace_bytes<bf16>(view(q), view(k), path));
    memory.fill_bytes(0);
    const auto run = [&](gpu::Buffer<bf16>& to) {
        attention_bf16_cuda<bf16>(view(q), view(k), view(v), {}, {to.data(), n.shape()}, {},
                                  {.path = path, .workspace = memory});
    };
    run(want);
    hold_against_loop(path, n, q.data(), k.data(), v.data(), want.data());
    lesson::Version row;
    row.op = op;
    row.version = name(path);
    row.dtype = "bfloat16";
    row.shape = to_string(n.shape());
    row.how = "the same bits again";
    row.cache = "cold";  // 60 MB or more per run
    const double bytes = 2.0 * static_cast<double>(n.numbers());
    row.work = {3 * bytes, bytes,
                2.0 * static_cast<double>(n.numbers()) * static_cast<double>(n.T + 1)};
    row.check = {[&](int) { run(out); }, {{out.data(), want.data(), 2 * n.numbers()}}};
    report.port(row);
}

}  // namespace

void bench_attention_bf16(lesson::Report& report) {
    const bool on_hopper = gpu::on_hopper();
    const auto best =
        on_hopper ? AttentionBf16Path::warpgroups : AttentionBf16Path::guessed_maximum;
    attend(report, "attention_bf16", AttentionBf16Path::four_passes, {8, 12, K, 64});
    for (const Heads16& n : {Heads16{8, 12, K, 64}, {4, 16, 4 * K, 64}, {2, 16, 8 * K, 128}}) {
        attend(report, "attention_bf16", AttentionBf16Path::tensor_cores, n);
        attend(report, "attention_bf16", AttentionBf16Path::guessed_maximum, n);
        if (on_hopper) attend(report, "attention_bf16", best, n);
        if (gpu::has_tile()) attend(report, "attention_bf16", AttentionBf16Path::tile, n);
        attend(report, "attention_bf16 beside cuDNN", best, n);
    }
}

}  // namespace sixdays::day06_transformer_ops
