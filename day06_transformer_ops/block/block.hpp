/// @file
/// A transformer block, built from the operations of this day. A GPT-2 is twelve of them, one
/// after another, between the embedding and the head.
///
///     x += attention(layer_norm(x)) * attention_output      tokens exchange information
///     x += mlp(layer_norm(x))                   each token is processed on its own
///     mlp(z) = activation(z * up) * down
///
/// x is the residual stream: every part reads it and adds to it, and none overwrites it. The norm
/// comes before each part, not after it (pre-norm, as in GPT-2; for the reasons see Xiong and
/// others 2020, arXiv 2002.04745). Products are Day 05's, and their epilogue adds bias and stream;
/// attention is causal.
#pragma once

#include <cstdint>

#include "common/gpu/stream.hpp"
#include "common/gpu/workspace.hpp"
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/norm/norm.hpp"

namespace sixdays::day06_transformer_ops {

/// Matrices are stored (in, out), as in GPT-2; if yours is stored (out, in), pass the transpose.
/// C: elements per token. F: hidden elements of the MLP, usually 4 C.
struct BlockParameters {
    NormParameters norm1 = {};                      // weight (C), bias (C)
    View<const float> qkv = {};                     // (C, 3 C)
    View<const float> qkv_bias = {};                // (3 C)
    View<const float> attention_output = {};        // (C, C)
    View<const float> attention_output_bias = {};   // (C)
    NormParameters norm2 = {};                      // weight (C), bias (C)
    View<const float> up = {};                      // (C, F)
    View<const float> up_bias = {};                 // (F)
    View<const float> down = {};                    // (F, C)
    View<const float> down_bias = {};               // (C)
    std::int64_t heads = 1;                         // H, which divides C
    Activation activation = Activation::gelu_tanh;  // of the MLP
};

/// One transformer block, in place: pre-norm, causal attention, an MLP (the order of GPT-2; for the
/// reasons see Xiong and others 2020, arXiv 2002.04745).
///
///     x += attention(layer_norm(x)) * attention_output
///     x += activation(layer_norm(x) * up) * down
///
/// The CUDA version needs a workspace, and writes x only after all checks have passed.
/// @param parameters  float, any strides
/// @param x           (B, T, C), float, any strides, injective; read and written
/// @throws std::invalid_argument  shapes that do not match, heads that do not divide C, x not
/// injective, a null pointer, parameters that overlap x; CUDA: a workspace that is too small
void block_cpu(const BlockParameters& parameters, View<float> x);
void block_cuda(const BlockParameters& parameters, View<float> x, gpu::Workspace workspace,
                gpu::Stream stream = {});
[[nodiscard]] std::int64_t block_workspace_bytes(const BlockParameters& parameters,
                                                 const View<float>& x);
void check_block(const BlockParameters& parameters, const View<float>& x);

/// The logits of the next token: out(b, t, v) = layer_norm(x)(b, t, :) . tokens(v, :). The head is
/// tied to the embedding: it is the same table, read as its transpose, without a copy (Press and
/// Wolf 2016, arXiv 1608.05859).
/// @param x       (B, T, C), any strides
/// @param norm    weight and bias (C), or null pointers
/// @param tokens  (V, C), any strides
/// @param out     (B, T, V), injective, overlapping no input
/// @throws std::invalid_argument  shapes that do not match, out not injective, a null pointer,
/// overlap; CUDA: a workspace that is too small
void logits_cpu(View<const float> x, const NormParameters& norm, View<const float> tokens,
                View<float> out);
void logits_cuda(View<const float> x, const NormParameters& norm, View<const float> tokens,
                 View<float> out, gpu::Workspace workspace, gpu::Stream stream = {});
[[nodiscard]] std::int64_t logits_workspace_bytes(const View<const float>& x);
void check_logits(const View<const float>& x, const NormParameters& norm,
                  const View<const float>& tokens, const View<float>& out);

}  // namespace sixdays::day06_transformer_ops
