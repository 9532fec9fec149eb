/// @file
/// The launchers of the ways back that are no twins. They check nothing.
#pragma once

#include "day06_transformer_ops/training/embedding_backward.hpp"

namespace sixdays::day06_transformer_ops {

/// Step 2: a thread, an element of grad, which it adds atomically.
void launch_embed_backward_atomics(const Rows<const float>& grad,
                                   const View<const std::int64_t>& ids,
                                   const View<const std::int64_t>& places, const EmbedGradients& d,
                                   gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
