// How far two correct backends of the Llama family may differ.
#pragma once

#include <cmath>

#include "day06_transformer_ops/llama/llama_file.hpp"

namespace sixdays::llama::tests {

/// As gpt2::tests::rounding(), for the sums of a block here: queries, keys and values; scores and
/// their products with values; attention's output; gate and up; down.
inline double rounding(const Config& c) {
    const std::int64_t layer =
        c.channels + c.head_dim + c.context + c.heads * c.head_dim + c.channels + c.hidden;
    const auto sums = static_cast<double>(c.layers * layer + c.channels);
    return 6 * 0x1p-24 * std::sqrt(2 * sums / 6);
}

}  // namespace sixdays::llama::tests
