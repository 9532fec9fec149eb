/// @file
/// The arguments of attention's CPU reference and kernels: where each query finds its row of q and
/// of out, and its keys and values.
#pragma once

#include "day06_transformer_ops/attention/attention.hpp"

namespace sixdays::day06_transformer_ops {

/// One query's keys or values: element (s, d) is first[s * along_s + d * along_d].
template <class E>
struct TableOf {
    const E* first;
    std::int64_t along_s, along_d;
    SIXDAYS_HD const E& operator()(std::int64_t s, std::int64_t d) const noexcept {
        return first[s * along_s + d * along_d];
    }
};

/// @tparam E  element type: float, or for tensor cores bf16 or f16
template <class E>
struct AttentionProblemOf {
    Rows<const E> q;             // one row per query: (..., T) of them
    View<const E> keys, values;  // element (0, 0) for each query; stride 0 along T
    std::int64_t S, k_along_s, k_along_d, v_along_s, v_along_d;
    View<const std::int64_t> length;  // or a null pointer
    float scale;
    bool causal;
    Rows<E> out;
    bool vectorized;  // 128-bit loads: rows of q, k, v are whole aligned vectors

    SIXDAYS_HD std::int64_t tokens() const noexcept { return q.first.extent(q.first.rank() - 1); }
    SIXDAYS_HD TableOf<E> keys_of(const Index& at) const noexcept {
        return {&keys(at), k_along_s, k_along_d};
    }
    SIXDAYS_HD TableOf<E> values_of(const Index& at) const noexcept {
        return {&values(at), v_along_s, v_along_d};
    }
    /// The number of valid keys; -1 if the length in memory is invalid.
    SIXDAYS_HD std::int64_t counted() const noexcept {
        if (length.data == nullptr) return S;
        return 0 <= length() && length() <= S ? length() : -1;
    }
    /// The number of keys that token t sees.
    SIXDAYS_HD std::int64_t seen(std::int64_t t, std::int64_t counted) const noexcept {
        const std::int64_t n = causal ? counted - tokens() + t + 1 : counted;
        return n > 0 ? n : 0;
    }
};
using Table = TableOf<float>;
using AttentionProblem = AttentionProblemOf<float>;

/// Rejects, in the name of `op`, what every version of attention rejects. This and the next two
/// exist for float, bf16 and f16.
template <class E>
void require_attention(const char* op, const View<const E>& q, const View<const E>& k,
                       const View<const E>& v, const AttentionOptions& options, const View<E>& out,
                       const char* name_out = "out");
/// The same for the log-sum-exps, one per query.
template <class E>
void require_log_sums(const char* op, const View<const E>& q, const View<const E>& k,
                      const View<const E>& v, const AttentionOptions& options, const View<E>& out,
                      const View<float>& log_sums);

template <class E>
[[nodiscard]] AttentionProblemOf<E> attention_problem(const View<const E>& q,
                                                      const View<const E>& k,
                                                      const View<const E>& v,
                                                      const AttentionOptions& options,
                                                      const View<Same<E>>& out);

/// Bytes of shared memory per block of 'tiles': `queries`, and 64 keys and values at a time, in
/// rows of HEAD elements; and one attention weight per pair. Rows are padded to avoid bank
/// conflicts.
[[nodiscard]] constexpr std::size_t attention_tiles_bytes(int HEAD, int queries) {
    return sizeof(float) * ((queries + 2 * 64) * (HEAD + 4) + queries * (64 + HEAD / 8));
}
/// The minimum for heads of width D: with 64 queries per block.
[[nodiscard]] constexpr std::size_t attention_tiles_bytes(std::int64_t D) {
    return attention_tiles_bytes(D > 64 ? 128 : 64, 64);
}

/// Scores for the path 'four passes': (queries, S).
[[nodiscard]] View<float> attention_scores(gpu::Carver& carver, const View<const float>& q,
                                           const View<const float>& k);

/// Partial results of the blocks that split a query's keys; the last one combines them.
struct AttentionPartials {
    View<float> found;    // (queries, parts, D + 2): maximum, sum of exp, weighted values
    View<unsigned> done;  // (queries), counters
};

/// @param parts  blocks per query
[[nodiscard]] AttentionPartials attention_partials(gpu::Carver& carver, const View<const float>& q,
                                                   std::int64_t parts);
/// The number of blocks per query for this many keys.
[[nodiscard]] std::int64_t attention_parts(const View<const float>& q, const View<const float>& k);

}  // namespace sixdays::day06_transformer_ops
