/// @file
/// From the model's last numbers, one logit a token, to the next token.
///
/// The steps, in this order (libraries differ):
///   1. temperature: logits are divided by it. Below 1 the likely get likelier, above 1 all get
///      more alike. 0 is the limit: always the likeliest token, whatever the seed.
///   2. top-k: the k likeliest stay. Exactly k: of equal logits the lower index counts as likelier.
///   3. top-p: of these, renormalised, the fewest that together have probability p stay, likeliest
///      first.
///   4. softmax over what stayed, and one draw.
#pragma once

#include <cstdint>

#include "common/tensor/view.hpp"

namespace sixdays::gpt2 {

/// How to choose.
struct SamplerOptions {
    float temperature = 1;   // 0, or any finite number above it
    std::int64_t top_k = 0;  // 0, or V and more: all stay
    float top_p = 1;         // 0: the likeliest alone; 1: all stay, even where p's sum rounds to 1
    std::uint64_t seed = 0;
};

/// @throws std::invalid_argument  a negative, infinite or NaN temperature, top_k below 0, top_p
/// outside of [0, 1]
void check_sampler(const SamplerOptions& options);

/// The next token. Depends on the logits, the options and the step, and on nothing that was drawn
/// before.
/// @param logits  (V), any stride. -inf is a token that cannot come; NaN and +inf are refused
/// @param step    number of the draw: the new token's position
/// @throws std::invalid_argument  as check_sampler; V = 0, a NaN, +inf, or no token that can come
[[nodiscard]] std::int64_t sample(View<const float> logits, const SamplerOptions& options,
                                  std::uint64_t step);

}  // namespace sixdays::gpt2
