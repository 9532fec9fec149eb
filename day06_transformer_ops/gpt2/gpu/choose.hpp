/// @file
/// The sampler on the device: sampler.hpp's rules, so that tokens never go through the host.
///
/// Logits are compared exactly, so greedy choices and top-k equal the CPU's. Weights are
/// exp() in float here and in double there, and each is rounded to a multiple of 2^-31 of their
/// sum: then sums are sums of integers, whose order does not matter. A draw within
/// kChooseBound of the border between two tokens, or a top-p within it of a sum of probabilities,
/// may go the other way.
#pragma once

#include <string>

#include "common/gpu/stream.hpp"
#include "day06_transformer_ops/gpt2/backend/sampler.hpp"

namespace sixdays::gpt2 {

/// exp in float: 2^-22 of a probability that decays as e^-x, for x up to 20; rounding of V = 2^18
/// weights: at most 2^-13, if all go to the same side.
inline constexpr double kChooseBound = 0x1p-13;

/// The value in place of a token if none can be chosen: -1 - v if logit v is NaN or infinite,
/// and this if none is finite.
inline constexpr std::int64_t kNoToken = INT64_MIN;

/// tokens[*place + 1] = the next token, and ++*place. The draw's step is its position.
/// @param logits   (V), contiguous, from a multiple of 16 bytes on
/// @param options  in device memory, so that they may change under a captured graph
/// @throws std::invalid_argument  logits at another address
void launch_choose(View<const float> logits, const SamplerOptions* options, std::int64_t* tokens,
                   std::int64_t* place, gpu::Stream queue = {});

/// The error message for such a token. @param advice  text to append
/// @throws std::invalid_argument  always
[[noreturn]] void reject_logits(std::int64_t instead_of_token, std::int64_t V,
                                const std::string& advice = "");

}  // namespace sixdays::gpt2
