/// @file
/// What a model writes while it still learns.
#pragma once

#include <span>
#include <string>

#include "day06_transformer_ops/training/data.hpp"

namespace sixdays::day06_transformer_ops {

/// The source's prompt and how the model goes on, by the engine of gpt2 on the CPU: some 32 tokens,
/// each drawn (temperature 0.8); or its answer, if it learns answers: the likeliest tokens, up to
/// the end. As in_one_line() writes it.
/// @param model    a GGUF file's bytes
/// @param seed     of the draws: the same model and seed, the same text
/// @param threads  of the CPU; 0: all that it has
[[nodiscard]] std::string sample_of(std::span<const std::byte> model, const Source& source,
                                    std::uint64_t seed, int threads);

/// Text as one line. Control characters and bytes that are no UTF-8 are written as escapes: a line
/// end as a backslash and n, a tab as one and t, others as one, x and two digits. A backslash
/// becomes two, so no text looks like another. All else stays as it is.
[[nodiscard]] std::string in_one_line(std::string_view text);

}  // namespace sixdays::day06_transformer_ops
