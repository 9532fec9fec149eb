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

}  // namespace sixdays::day06_transformer_ops
