/// @file
/// The embedding's backward pass: each token's gradient is added to the row that it was copied
/// from.
///
///     d_tokens(ids(i..), c)       += grad(i.., c)
///     d_positions(places(i..), c) += grad(i.., c)
///
/// Many tokens are the same word, and their gradients meet in one row. A kernel that gives each
/// token a thread has many writers of one place: `+=` is a race, an atomic addition is not. But
/// atomics add in any order, and float sums depend on it: two runs differ in their last bits. Where
/// a thread has a column, and walks through the tokens as the loop does, the order is the loop's.
#pragma once

#include <cstdint>
#include <optional>

#include "common/gpu/how.hpp"
#include "day06_transformer_ops/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// The paths of the embedding's backward pass.
enum class EmbedBackwardPath {
    column_a_thread,  // the loop's twin: tokens in their order, so the loop's bits in every run
    atomics,          // 02: a thread, an element of grad; faster, and other last bits in every run
    word_a_block,     // 03: fast, and the loop's bits: a word's first token adds up all of them
};
[[nodiscard]] const char* name(EmbedBackwardPath path);

/// Gradients of the two tables, added to what is there (+=).
struct EmbedGradients {
    View<float> tokens;          // (V, C), any strides
    View<float> positions = {};  // (P, C); {}, of rank 0: there are none
};

/// @param grad    (S.., C), any strides
/// @param ids     any shape S, 0 <= id < V
/// @param places  broadcast to S, 0 <= place < P
/// @param d       injective, apart from all inputs and each other
/// @throws std::invalid_argument  shapes that do not fit, outputs that are not injective, a null
/// pointer, overlap; the loop: an id or a place that names no row. A port adds nothing for such a
/// one
void embed_backward_cpu(View<const float> grad, View<const std::int64_t> ids,
                        View<const std::int64_t> places, const EmbedGradients& d);
/// @param how  without a path word_a_block, for the same bits in every run
void embed_backward_cuda(View<const float> grad, View<const std::int64_t> ids,
                         View<const std::int64_t> places, const EmbedGradients& d,
                         const gpu::Launch<EmbedBackwardPath>& how = {});
void check_embed_backward(const View<const float>& grad, const View<const std::int64_t>& ids,
                          const View<const std::int64_t>& places, const EmbedGradients& d,
                          std::optional<EmbedBackwardPath> path = {});

/// Does the number name a row of the table?
SIXDAYS_HD inline bool names_row(std::int64_t row, const View<float>& table) noexcept {
    return 0 <= row && row < table.extent(0);
}

/// `d.tokens`' or `d.positions`' numbers of rows for each of the ids: in one shape.
[[nodiscard]] View<const std::int64_t> places_of(const View<const std::int64_t>& ids,
                                                 const View<const std::int64_t>& places,
                                                 const EmbedGradients& d);

}  // namespace sixdays::day06_transformer_ops
