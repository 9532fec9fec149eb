/// @file
/// Sampling: from logits, one per token of the vocabulary, to the next token.
///
/// The steps, in this order, which differs between libraries:
///   1. temperature: logits are divided by it. Below 1 likely tokens become likelier, above 1 all
///      become more equal. 0 is the limit: always the likeliest token, whatever the seed.
///   2. top-k: keep the k likeliest. Exactly k: of equal logits the lower index counts as likelier.
///   3. top-p: of these, renormalized, keep the fewest that together have probability p, likeliest
///      first.
///   4. softmax over the rest, and one draw.
#pragma once

#include <cstdint>

#include "common/tensor/view.hpp"

namespace sixdays::gpt2 {

/// How to choose.
struct SamplerOptions {
    float temperature = 1;   // 0, or any finite positive number
    std::int64_t top_k = 0;  // 0, or V and more: keep all
    float top_p = 1;         // 0: only the likeliest; 1: keep all, even if the sum rounds to 1
    std::uint64_t seed = 0;  // of the draws: the same seed, the same text
};

/// Rejects options that sample() cannot use.
/// @throws std::invalid_argument  a negative, infinite or NaN temperature, top_k below 0, top_p
/// outside of [0, 1]
void check_sampler(const SamplerOptions& options);

/// The next token. Depends only on the logits, the options and the step, not on earlier draws.
/// @param logits  (V), any stride. -inf excludes a token; NaN and +inf are rejected
/// @param step    number of the draw: the new token's position
/// @throws std::invalid_argument  as check_sampler; V = 0, a NaN, +inf, or no possible token
[[nodiscard]] std::int64_t sample(View<const float> logits, const SamplerOptions& options,
                                  std::uint64_t step);

}  // namespace sixdays::gpt2
