/// @file
/// The sizes that models of all architectures have in common.
#pragma once

#include <cstdint>

namespace sixdays::gpt2 {

/// What the engine and the host backends need to know of a model. Each architecture's Config adds
/// to it.
struct Sizes {
    std::int64_t layers;      // 12 in the smallest GPT-2
    std::int64_t context;     // positions it was trained for: 1024
    std::int64_t channels;    // C, elements per token: 768
    std::int64_t heads;       // of the queries: 12
    std::int64_t hidden;      // width of the MLP's hidden layer: 3072
    std::int64_t vocabulary;  // V, tokens: 50257
    float epsilon;            // of the norms: 1e-5
};

}  // namespace sixdays::gpt2
