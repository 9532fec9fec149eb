/// @file
/// The arguments of attention's backward pass: by queries as in the forward pass, and by keys.
#pragma once

#include <cmath>

#include "day06_transformer_ops/attention/attention_problem.hpp"
#include "day06_transformer_ops/training/backward/attention_backward.hpp"

namespace sixdays::day06_transformer_ops {

/// Per query, what is needed to recompute its weights besides its row.
struct Softmaxed {
    float log_sum;  // log-sum-exp of its scores
    float delta;    // weighted mean of d_weight
};

struct AttentionBackward {
    AttentionProblem forward;        // its `out` is d_q
    Rows<const float> grad;          // one row per query
    Rows<const float> k, v;          // one row per key
    Rows<float> d_k, d_v;            //
    Shape sharing;                   // stack extents of q that share a key, 1 elsewhere
    std::int64_t heads;              // their product
    View<Softmaxed> softmaxed = {};  // one per query
    bool grad_vectorized = false;    // like forward.vectorized for q, k and v
    Rows<const float> out = {};      // these two: the forward pass's results
    View<const float> log_sums = {};

    /// The first query that sees key s; the later ones do too.
    SIXDAYS_HD std::int64_t first_to_see(std::int64_t s) const noexcept {
        const std::int64_t t = s - (forward.S - forward.tokens());
        return forward.causal && t > 0 ? t : 0;
    }
};

/// Row x times row s of a table.
SIXDAYS_HD inline float dot(const Row<const float>& x, const Table& table, std::int64_t s,
                            std::int64_t D) noexcept {
    float sum = 0;
    for (std::int64_t d = 0; d < D; ++d) {
        sum += x[d] * table(s, d);
    }
    return sum;
}
SIXDAYS_HD inline float dot(const Row<const float>& x, const Row<const float>& y,
                            std::int64_t D) noexcept {
    return dot(x, Table{y.first, 0, y.stride}, 0, D);
}

[[nodiscard]] AttentionBackward attention_backward_problem(
    const View<const float>& q, const View<const float>& k, const View<const float>& v,
    const AttentionOptions& options, const View<const float>& grad, const AttentionGradients& d);

/// Bytes of shared memory of a block of 'tiles': two tiles of 64 rows that it owns, two over which
/// it loops, and one product per pair of rows.
[[nodiscard]] constexpr std::size_t attention_backward_tiles_bytes(std::int64_t D) {
    const std::size_t head = D > 64 ? 128 : D > 32 ? 64 : 32, across = D > 64 ? 16 : 8;
    return sizeof(float) * (4 * 64 * (head + 4) + 64 * (64 + across));
}

/// One per query, in the shape of the problem's rows of q.
[[nodiscard]] View<Softmaxed> attention_softmaxed(gpu::Carver& carver, const View<const float>& q);

}  // namespace sixdays::day06_transformer_ops
