/// @file
/// Samples of what a model writes during training.
#pragma once

#include <span>
#include <string>

#include "day06_transformer_ops/training/data.hpp"

namespace sixdays::day06_transformer_ops {

/// The source's prompt and the model's continuation, from gpt2's engine on the CPU: about 32
/// sampled tokens (temperature 0.8); or, if it learns answers, its answer: the likeliest tokens up
/// to the end. Formatted by in_one_line().
/// @param model    a GGUF file's bytes
/// @param seed     of the draws: the same model and seed give the same text
/// @param threads  of the CPU; 0: one per core
[[nodiscard]] std::string sample_of(std::span<const std::byte> model, const Source& source,
                                    std::uint64_t seed, int threads);

/// Text as one line. Control characters and invalid UTF-8 become escapes: `\n` for a line end, `\t`
/// for a tab, `\x` and two digits for others. A backslash becomes two, so different texts look
/// different. All other characters are unchanged.
[[nodiscard]] std::string in_one_line(std::string_view text);

}  // namespace sixdays::day06_transformer_ops
