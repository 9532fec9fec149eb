/// @file
/// What a model sees at once, and what it is to say.
#pragma once

#include <cstdint>
#include <vector>

namespace sixdays::day06_transformer_ops {

/// Sequences of one length, one behind the other; for each token the one that follows.
struct Batch {
    std::vector<std::int64_t> ids = {}, targets = {};
    std::vector<bool> counts = {};  // is this target learned? Empty: all are
};

/// The batch with a mark for each target. Its tokens are looked at here, by the caller's thread,
/// and not where threads look them up.
/// @throws std::invalid_argument  not `size` tokens, one that the vocabulary lacks, or none that
/// counts
[[nodiscard]] Batch check_batch(const Batch& batch, std::int64_t size, std::int64_t vocabulary);

/// How many targets count. @param batch  as check_batch() gives it
[[nodiscard]] double counting(const Batch& batch);

/// `size` tokens of the batch, from number `first` on. @param batch  as check_batch() gives it
[[nodiscard]] Batch part_of(const Batch& batch, std::int64_t first, std::int64_t size);

}  // namespace sixdays::day06_transformer_ops
