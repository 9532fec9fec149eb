/// @file
/// A batch: the tokens that a model sees at once, and the targets.
#pragma once

#include <cstdint>
#include <vector>

namespace sixdays::day06_transformer_ops {

/// Consecutive sequences of the same length; the target of each token is the next token.
struct Batch {
    std::vector<std::int64_t> ids = {}, targets = {};  // sequence after sequence
    std::vector<bool> counts = {};  // does this target count in the loss? Empty: all do
};

/// The batch with `counts` filled in. Its tokens are checked here, by the caller's thread, not
/// where threads look them up.
/// @throws std::invalid_argument  not `size` tokens, one that is not in the vocabulary, or no
/// target that counts
[[nodiscard]] Batch check_batch(const Batch& batch, std::int64_t size, std::int64_t vocabulary);

/// The number of targets that count. @param batch  checked by check_batch()
[[nodiscard]] double counting(const Batch& batch);

/// `size` tokens of the batch, from token `first` on. @param batch  checked by check_batch()
[[nodiscard]] Batch part_of(const Batch& batch, std::int64_t first, std::int64_t size);

}  // namespace sixdays::day06_transformer_ops
