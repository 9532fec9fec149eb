/// @file
/// The embedding's backward pass: each token's gradient is added to the table row that it was
/// copied from.
///
///     d_tokens(ids(i..), c)       += grad(i.., c)
///     d_positions(places(i..), c) += grad(i.., c)
///
/// Many tokens have the same id, and their gradients are added to one row. With one thread per
/// token, several threads write the same element: `+=` is a race, while an atomic addition is not.
/// But atomics add in any order, and float sums depend on it: two runs differ in their last bits.
/// With one thread per column that loops over the tokens, the order is that of the CPU reference.
#pragma once

#include <cstdint>
#include <optional>

#include "common/gpu/how.hpp"
#include "day06_transformer_ops/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// Kernel versions of the embedding's backward pass.
enum class EmbedBackwardPath {
    column_per_thread,  // one thread per column: the twin; bitwise equal to the CPU reference
    atomics,            // 02: one thread per element of grad; faster, last bits vary between runs
    word_a_block,  // 03: fast and bitwise equal: the first token of each id adds up all of them
};
[[nodiscard]] const char* name(EmbedBackwardPath path);

/// Gradients of the two tables, accumulated (+=).
struct EmbedGradients {
    View<float> tokens;          // (V, C), any strides
    View<float> positions = {};  // (P, C); {}, of rank 0: no positions
};

/// Adds each token's gradient to the rows of the tables that it was made of.
///
///     d_tokens(ids(i..), c)       += grad(i.., c)
///     d_positions(places(i..), c) += grad(i.., c)
///
/// @param grad    (S.., C), any strides
/// @param ids     any shape S, 0 <= id < V
/// @param places  broadcast to S, 0 <= place < P
/// @param d       injective, overlapping no input and not each other
/// @throws std::invalid_argument  shapes that do not match, outputs that are not injective, a null
/// pointer, overlap; the CPU reference: an id or a place out of range. The CUDA version ignores
/// such tokens
void embed_backward_cpu(View<const float> grad, View<const std::int64_t> ids,
                        View<const std::int64_t> places, const EmbedGradients& d);
/// @param how  the default path is word_a_block, which gives the same bits in every run
void embed_backward_cuda(View<const float> grad, View<const std::int64_t> ids,
                         View<const std::int64_t> places, const EmbedGradients& d,
                         const gpu::Launch<EmbedBackwardPath>& how = {});
void check_embed_backward(const View<const float>& grad, const View<const std::int64_t>& ids,
                          const View<const std::int64_t>& places, const EmbedGradients& d,
                          std::optional<EmbedBackwardPath> path = {});

/// Is `row` the index of a row of the table?
SIXDAYS_HD inline bool names_row(std::int64_t row, const View<float>& table) noexcept {
    return 0 <= row && row < table.extent(0);
}

/// `places` broadcast to the shape of `ids`.
[[nodiscard]] View<const std::int64_t> places_of(const View<const std::int64_t>& ids,
                                                 const View<const std::int64_t>& places,
                                                 const EmbedGradients& d);

}  // namespace sixdays::day06_transformer_ops
