/// @file
/// The launchers of the backward passes' steps after the twins. They check nothing.
#pragma once

#include "day06_transformer_ops/training/backward/activation_backward.hpp"
#include "day06_transformer_ops/training/backward/attention_backward_problem.hpp"
#include "day06_transformer_ops/training/backward/cross_entropy_backward.hpp"
#include "day06_transformer_ops/training/backward/embedding_backward.hpp"
#include "day06_transformer_ops/training/backward/norm_backward.hpp"

namespace sixdays::day06_transformer_ops {

/// Step 2 of attention: a block owns 64 queries, then 64 keys. D <= 128.
void launch_attention_backward_tiles(const AttentionBackward& p, gpu::Stream stream);
/// Step 3 of attention: the same tiles, with the forward pass's results. D <= 128.
void launch_attention_backward_kept(const AttentionBackward& p, gpu::Stream stream);

/// Step 2 of layer norm: one warp per register-resident row. parts (blocks, 2, C) receives each
/// block's contribution to weight and bias. Rows: contiguous vectors, at most kMostOfLanes
/// elements.
void launch_layer_norm_backward_registers(const Rows<const float>& in,
                                          const NormParameters& parameters,
                                          const Rows<const float>& grad, const Rows<float>& d_in,
                                          const NormGradients& d, const View<float>& parts,
                                          gpu::Stream stream);

/// Step 3 of the norms, with the same arguments: the next row is copied at the same time.
/// @param centred  true: layer norm; false: RMS norm
void launch_norm_backward_ahead(bool centred, const Rows<const float>& in,
                                const NormParameters& parameters, const Rows<const float>& grad,
                                const Rows<float>& d_in, const NormGradients& d,
                                const View<float>& parts, gpu::Stream stream);

/// Step 2 of cross-entropy: one block per row. Rows are contiguous. T is float or bf16.
/// @param losses  of the rows; may be a null pointer
template <class T>
void launch_cross_entropy_backward_block(const Rows<const float>& logits,
                                         const View<const std::int64_t>& targets,
                                         const View<const float>& losses,
                                         const View<const float>& grad, const Rows<T>& out,
                                         gpu::Stream stream);

/// Step 2 of the activations: 128-bit loads. T is float or bf16.
template <class T>
void launch_activate_backward_vectorized(Activation what, const View<const T>& in,
                                         const View<const T>& grad, const View<T>& out,
                                         gpu::Stream stream);

/// Step 2 of the embedding: one thread per element of grad, which it adds atomically.
void launch_embed_backward_atomics(const Rows<const float>& grad,
                                   const View<const std::int64_t>& ids,
                                   const View<const std::int64_t>& places, const EmbedGradients& d,
                                   gpu::Stream stream);
/// Step 3 of the embedding, for one table: one block per distinct id.
void launch_embed_backward_word_a_block(const Rows<const float>& grad,
                                        const View<const std::int64_t>& ids,
                                        const View<float>& table, gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
