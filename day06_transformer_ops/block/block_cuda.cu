// The CUDA version of the block mirrors the CPU reference line by line: operations of this day and
// of Day 05. This file has no kernel, because every line calls one.
#include <algorithm>

#include "day05_matmul/matmul.hpp"
#include "day06_transformer_ops/attention/attention.hpp"
#include "day06_transformer_ops/block/block.hpp"

namespace sixdays::day06_transformer_ops {

using day05_matmul::matmul_cuda;
using day05_matmul::matmul_workspace_bytes;
using day05_matmul::MatmulPath;

namespace {

// The workspace: scratch that products and attention use in turn, then the intermediate
// results, (B, T, ...) each.
struct Between {
    gpu::Workspace room;
    View<float> normed, qkv, mixed, hidden;
};
Between between(gpu::Carver& carver, const BlockParameters& p, const View<float>& x) {
    const std::int64_t B = x.extent(0), T = x.extent(1), C = x.extent(2), F = p.up.extent(1);
    const auto of = [&](std::int64_t columns) {
        return View<float>(nullptr, Shape{B, T, columns});
    };
    const Heads heads = heads_of(of(3 * C), p.heads);
    Between all;
    all.room = carver.lend(std::max({matmul_workspace_bytes(of(C), p.qkv, of(3 * C)),
                                     matmul_workspace_bytes(of(C), p.attention_output, x),
                                     matmul_workspace_bytes(of(C), p.up, of(F)),
                                     matmul_workspace_bytes(of(F), p.down, x),
                                     attention_workspace_bytes(heads.q, heads.k, heads.v)}));
    all.normed = carver.take<float>({B, T, C});
    all.qkv = carver.take<float>({B, T, 3 * C});
    all.mixed = carver.take<float>({B, T, C});
    all.hidden = carver.take<float>({B, T, F});
    return all;
}

}  // namespace

std::int64_t block_workspace_bytes(const BlockParameters& p, const View<float>& x) {
    check_block(p, x);
    return gpu::bytes_to_carve([&](gpu::Carver& c) { return between(c, p, x); });
}

void block_cuda(const BlockParameters& p, View<float> x, gpu::Workspace workspace,
                gpu::Stream stream) {
    check_block(p, x);
    if (x.size() == 0) return;
    const auto [room, normed, qkv, mixed, hidden] =
        gpu::carve("block", workspace, [&](gpu::Carver& c) { return between(c, p, x); });
    const gpu::Launch<MatmulPath> how{.workspace = room, .stream = stream};
    layer_norm_cuda(x, p.norm1, normed, {.stream = stream});
    matmul_cuda(normed, p.qkv, {1, 0, p.qkv_bias}, qkv, how);
    const Heads of = heads_of(qkv, p.heads);
    attention_cuda(of.q, of.k, of.v, {}, split_heads(mixed, p.heads), {},
                   {.workspace = room, .stream = stream});
    // 1 * sum + 1 * x + bias
    matmul_cuda(mixed, p.attention_output, {1, 1, p.attention_output_bias}, x, how);

    layer_norm_cuda(x, p.norm2, normed, {.stream = stream});
    matmul_cuda(normed, p.up, hidden, how);
    activate_biased_cuda(p.activation, hidden, p.up_bias, hidden, {.stream = stream});
    matmul_cuda(hidden, p.down, {1, 1, p.down_bias}, x, how);
}

std::int64_t logits_workspace_bytes(const View<const float>& x) {
    require_rank("logits", "x", x, 3);
    return gpu::bytes_to_carve([&](gpu::Carver& c) { return c.take<float>(x.shape()); });
}

void logits_cuda(View<const float> x, const NormParameters& norm, View<const float> tokens,
                 View<float> out, gpu::Workspace workspace, gpu::Stream stream) {
    check_logits(x, norm, tokens, out);
    if (out.size() == 0) return;
    const View<float> normed =
        gpu::carve("logits", workspace, [&](gpu::Carver& c) { return c.take<float>(x.shape()); });
    layer_norm_cuda(x, norm, normed, {.stream = stream});
    matmul_cuda(normed, transpose(tokens), out, {.stream = stream});
}

}  // namespace sixdays::day06_transformer_ops
