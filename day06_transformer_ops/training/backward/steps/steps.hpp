/// @file
/// The launchers of the ways back that are no twins. They check nothing.
#pragma once

#include "day06_transformer_ops/training/backward/activation_backward.hpp"
#include "day06_transformer_ops/training/backward/attention_backward_problem.hpp"
#include "day06_transformer_ops/training/backward/cross_entropy_backward.hpp"
#include "day06_transformer_ops/training/backward/embedding_backward.hpp"
#include "day06_transformer_ops/training/backward/norm_backward.hpp"

namespace sixdays::day06_transformer_ops {

/// Step 2 of attention: a block owns 64 queries, then 64 keys. D <= 128.
void launch_attention_backward_tiles(const AttentionBackward& p, gpu::Stream stream);
/// Step 3 of attention: the same cut, of what the forward pass left. D <= 128.
void launch_attention_backward_kept(const AttentionBackward& p, gpu::Stream stream);

/// Step 2 of layer norm: a warp, a row in registers. parts (blocks, 2, C) takes what each block's
/// rows give to weight and bias. Rows are quads along memory, of kMostOfLanes elements at most.
void launch_layer_norm_backward_registers(const Rows<const float>& in,
                                          const NormParameters& parameters,
                                          const Rows<const float>& grad, const Rows<float>& d_in,
                                          const NormGradients& d, const View<float>& parts,
                                          gpu::Stream stream);

/// Step 3 of the norms, with the same arguments: the next row comes while a row is worked on.
/// @param centred  a layer norm; else an RMS norm
void launch_norm_backward_ahead(bool centred, const Rows<const float>& in,
                                const NormParameters& parameters, const Rows<const float>& grad,
                                const Rows<float>& d_in, const NormGradients& d,
                                const View<float>& parts, gpu::Stream stream);

/// Step 2 of cross-entropy: a block, a row. Rows lie along memory.
void launch_cross_entropy_backward_block(const Rows<const float>& logits,
                                         const View<const std::int64_t>& targets,
                                         const View<const float>& grad, const Rows<float>& out,
                                         gpu::Stream stream);
/// The same from the rows' losses. T is float or bf16.
template <class T>
void launch_cross_entropy_backward_from_losses(const Rows<const float>& logits,
                                               const View<const std::int64_t>& targets,
                                               const View<const float>& losses,
                                               const View<const float>& grad, const Rows<T>& out,
                                               gpu::Stream stream);

/// Step 2 of the activations: quads.
void launch_activate_backward_quads(Activation what, const View<const float>& in,
                                    const View<const float>& grad, const View<float>& out,
                                    gpu::Stream stream);

/// Step 2 of the embedding: a thread, an element of grad, which it adds atomically.
void launch_embed_backward_atomics(const Rows<const float>& grad,
                                   const View<const std::int64_t>& ids,
                                   const View<const std::int64_t>& places, const EmbedGradients& d,
                                   gpu::Stream stream);
/// Step 3 of the embedding, for one table: a block, a word.
void launch_embed_backward_word_a_block(const Rows<const float>& grad,
                                        const View<const std::int64_t>& ids,
                                        const View<float>& table, gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
