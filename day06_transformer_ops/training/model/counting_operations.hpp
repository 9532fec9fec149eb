/// @file
/// The operations of the CUDA version, which here only measure workspace sizes.
#pragma once

#include <algorithm>

#include "day06_transformer_ops/training/model/operations.hpp"

namespace sixdays::day06_transformer_ops {

/// Finds the workspace size that the CUDA version needs.
struct CountingOperations {
    std::int64_t bytes = 0;

    void embed(In, Ids, In, Ids, Out) {}
    void layer_norm(In, const NormParameters&, Out) {}
    void layer_norm(In, const NormParameters&, Out16) {}
    void matmul(In a, In b, const Epilogue&, Out out) {
        count(day05_matmul::matmul_workspace_bytes(a, b, out));
    }
    void matmul(In16, In, const Epilogue&, const auto&) {}
    void attention(In q, In k, In v, Out, Out) { count(attention_workspace_bytes(q, k, v)); }
    void attention(In16 q, In16 k, In16 v, Out16 out, Out) {
        count(attention_bf16_workspace_bytes(q, k, choose_attention_bf16(q, k, v, out)));
    }
    void activate(Activation, const auto&, const auto&) {}
    void add(In, In, Out) {}
    void cross_entropy(In, Ids, Out) {}

    void embed_backward(In, Ids, Ids, const EmbedGradients&) {}
    void layer_norm_backward(In in, const NormParameters&, In, Out, const NormGradients&) {
        count(layer_norm_backward_workspace_bytes(in));
    }
    void linear_backward(In in, In weight, In grad, Out, const LinearGradients& d) {
        count(linear_backward_workspace_bytes(in, weight, grad, d));
    }
    void linear_backward(In16, In, In grad, const auto&, const LinearGradients&) {
        count(CudaOperations::room_bytes<bf16>(grad.shape()));
        count(bias_backward_workspace_bytes(grad));
    }
    void linear_backward(In16, In, In16 grad, const auto&, const LinearGradients& d) {
        if (d.bias.data != nullptr) count(bias_backward_workspace_bytes(grad));
    }
    void attention_backward(In q, In, In, In, In, In, const AttentionGradients&) {
        count(attention_backward_workspace_bytes(q));
    }
    void attention_backward(In16 q, In16, In16, In16, In, In, const auto&) {
        count(attention_backward_bf16_workspace_bytes(q));
    }
    void activate_backward(Activation, const auto&, const auto&, const auto&) {}
    void cross_entropy_backward(In, Ids, In, In, const auto&) {}

    void gradient_norm(In, const View<double>&) { count(gradient_norm_workspace_bytes()); }
    void adamw(const AdamWOptions&, In, Out, Out, Out, Out16) {}

private:
    void count(std::int64_t needed) { bytes = std::max(bytes, needed); }
};

}  // namespace sixdays::day06_transformer_ops
