/// @file
/// Argument checks shared by attention's backward passes from float and from bf16.
#pragma once

#include <iterator>
#include <utility>

#include "day06_transformer_ops/training/backward/attention_backward.hpp"
#include "day06_transformer_ops/training/reject.hpp"

namespace sixdays::day06_transformer_ops {

/// Rejects a q without tokens and a head.
template <class T>
void require_tokens(const char* op, const View<T>& q) {
    if (q.rank() >= 2) return;
    reject(op, ": q has shape ", q.shape(), ", but needs tokens and a head: (..., T, D)");
}

/// Rejects a length, which belongs to a KV cache.
inline void require_no_length(const char* op, const AttentionOptions& options) {
    if (options.length.data == nullptr) return;
    reject(op, ": a length was given, but only a cache has one");
}

/// The three gradients must not overlap any input. They may be interleaved, as columns of one
/// buffer, but must not overlap each other.
/// @param read  names and views
template <class D, class... T>
void require_gradients_apart(const char* op, const AttentionGradientsOf<D>& d,
                             const std::pair<const char*, View<T>>&... read) {
    const std::pair<const char*, View<D>> written[] = {{"d_q", d.q}, {"d_k", d.k}, {"d_v", d.v}};
    for (const auto& [name, out] : written) {
        (require_apart(op, read.first, read.second, name, out), ...);
    }
    for (const auto* b = written; b != std::end(written); ++b) {
        for (const auto* a = written; a != b; ++a) {
            if (overlap(a->second, b->second) && a->second.data == b->second.data) {
                reject(op, ": ", a->first, " overlaps ", b->first);
            }
        }
    }
}

}  // namespace sixdays::day06_transformer_ops
