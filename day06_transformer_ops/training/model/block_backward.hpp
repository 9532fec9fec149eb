/// @file
/// A block, forward and backward. It needs no new kernels: every line is an existing operation.
///
/// The backward pass goes through the block from its end. The forward pass adds each part's output
/// to the residual stream, so the gradient of the sum takes two paths: around the part, unchanged,
/// and through it; before the part, the two are added.
#pragma once

#include "day06_transformer_ops/block/block.hpp"
#include "day06_transformer_ops/training/model/operations.hpp"

namespace sixdays::day06_transformer_ops {

/// Activations that the backward pass needs, (B, T, ...) each.
/// @tparam T  operand type of products: float, or bf16 for tensor cores
template <class T>
struct BlockKept {
    /// Does each block keep `activated`? Else all share one, and the backward pass computes it again:
    /// that is cheap, and floats are twice as large.
    static constexpr bool kKeepsActivated = !std::is_same_v<T, float>;

    View<T> normed1, qkv, mixed;  // C; 3 C; C
    View<float> log_sums;         // (B, H, T), of attention; not used on the CPU
    View<float> middle;           // C: x after attention
    View<T> normed2, hidden;      // C; F
    View<T> activated;            // F
};

/// Gradients of activations: memory reused by all blocks. T as in BlockKept: those that only products
/// read are operands.
template <class T>
struct BlockRoom {
    View<float> d_normed;     // C
    View<T> d_qkv, d_hidden;  // 3 C; F
};

/// Where the gradients of a block's parameters are added. Matrices are (in, out), as in
/// BlockParameters.
struct BlockGradients {
    NormGradients norm1 = {};                         // before attention
    LinearGradients qkv = {}, attention_output = {};  // (C, 3 C); (C, C)
    NormGradients norm2 = {};                         // before the MLP
    LinearGradients up = {}, down = {};               // (C, F); (F, C)
};

/// block_cpu() and block_cuda() again, but with the intermediate results kept.
template <class Operations, class T>
void block_forward(Operations& op, const BlockParameters& p, In x, const BlockKept<T>& kept,
                   Out out) {
    op.layer_norm(x, p.norm1, kept.normed1);
    op.matmul(kept.normed1, p.qkv, {1, 0, p.qkv_bias}, kept.qkv);
    const auto [q, k, v] = heads_of(kept.qkv, p.heads);
    op.attention(q, k, v, split_heads(kept.mixed, p.heads), kept.log_sums);
    op.matmul(kept.mixed, p.attention_output, {1, 0, p.attention_output_bias}, kept.middle);
    op.add(kept.middle, x, kept.middle);

    op.layer_norm(kept.middle, p.norm2, kept.normed2);
    op.matmul(kept.normed2, p.up, {1, 0, p.up_bias}, kept.hidden);
    op.activate(p.activation, kept.hidden, kept.activated);
    op.matmul(kept.activated, p.down, {1, 0, p.down_bias}, out);
    op.add(out, kept.middle, out);
}

// [block_backward]
/// The backward pass of block_forward(), from the results that it kept.
/// @param grad  of the block's output; becomes that of x
template <class Operations, class T>
void block_backward(Operations& op, const BlockParameters& p, In x, const BlockKept<T>& kept,
                    const BlockRoom<T>& room, Out grad, const BlockGradients& d) {
    if (!kept.kKeepsActivated) op.activate(p.activation, kept.hidden, kept.activated);
    op.linear_backward(kept.activated, p.down, grad, room.d_hidden, d.down);
    op.activate_backward(p.activation, kept.hidden, room.d_hidden, room.d_hidden);
    op.linear_backward(kept.normed2, p.up, room.d_hidden, room.d_normed, d.up);
    op.layer_norm_backward(kept.middle, p.norm2, room.d_normed, grad, d.norm2);  // adds to grad

    op.linear_backward(kept.mixed, p.attention_output, grad, room.d_normed, d.attention_output);
    const auto [q, k, v] = heads_of(kept.qkv, p.heads);
    const auto [d_q, d_k, d_v] = heads_of(room.d_qkv, p.heads);
    op.attention_backward(q, k, v, split_heads(kept.mixed, p.heads), kept.log_sums,
                          split_heads(room.d_normed, p.heads),
                          AttentionGradientsOf<T>{d_q, d_k, d_v});
    op.linear_backward(kept.normed1, p.qkv, room.d_qkv, room.d_normed, d.qkv);
    op.layer_norm_backward(x, p.norm1, room.d_normed, grad, d.norm1);  // adds to grad
}
// [block_backward]

}  // namespace sixdays::day06_transformer_ops
