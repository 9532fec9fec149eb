// The CPU reference of the block: each line is an operation of this day or of Day 05.
#include "day05_matmul/matmul.hpp"
#include "day06_transformer_ops/attention/attention.hpp"
#include "day06_transformer_ops/block/block.hpp"

namespace sixdays::day06_transformer_ops {

using day05_matmul::matmul_cpu;

void block_cpu(const BlockParameters& p, View<float> x) {
    check_block(p, x);
    if (x.size() == 0) return;
    const std::int64_t B = x.extent(0), T = x.extent(1), C = x.extent(2), F = p.up.extent(1);
    Tensor<float> room({B * T * (5 * C + F)});
    float* at = room.data();
    const auto take = [&](std::int64_t columns) {
        const View<float> part(at, Shape{B, T, columns});
        at += part.size();
        return part;
    };
    const View<float> normed = take(C), qkv = take(3 * C), mixed = take(C), hidden = take(F);
    // [block]
    layer_norm_cpu(x, p.norm1, normed);
    matmul_cpu(normed, p.qkv, {1, 0, p.qkv_bias}, qkv);
    const Heads of = heads_of(qkv, p.heads);
    attention_cpu(of.q, of.k, of.v, {}, split_heads(mixed, p.heads));
    // 1 * sum + 1 * x + bias
    matmul_cpu(mixed, p.attention_output, {1, 1, p.attention_output_bias}, x);

    layer_norm_cpu(x, p.norm2, normed);
    matmul_cpu(normed, p.up, hidden);
    activate_biased_cpu(p.activation, hidden, p.up_bias, hidden);
    matmul_cpu(hidden, p.down, {1, 1, p.down_bias}, x);
    // [block]
}

void logits_cpu(View<const float> x, const NormParameters& norm, View<const float> tokens,
                View<float> out) {
    check_logits(x, norm, tokens, out);
    if (out.size() == 0) return;
    Tensor<float> normed(x.shape());
    layer_norm_cpu(x, norm, normed.view());
    matmul_cpu(normed.view(), transpose(tokens), out);
}

}  // namespace sixdays::day06_transformer_ops
