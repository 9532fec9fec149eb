/// @file
/// The command line of `gpt2`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "day06_transformer_ops/gpt2/backend/backend.hpp"

namespace sixdays::gpt2 {

struct Options {
    std::string model;
    std::optional<std::string> prompt;
    std::optional<std::int64_t> n;        // else kTokens, or as many as fit
    std::optional<std::int64_t> context;  // else the model's, kContext at most
    SamplerOptions sampler = {1, 40, 1, 0};
    std::string backend = "cpu";
    int threads = 0;  // 0: all cores
    bool interactive = false, chat = false, stats = false, compare = false, help = false;
    std::optional<std::string> system;      // of a conversation
    Prompts prompts = Prompts::as_weights;  // of the cuda backend
    std::optional<std::string> perplexity;  // a file

    static constexpr std::int64_t kTokens = 40;
    static constexpr std::int64_t kContext = 4096;  // keys and values of 131,072 take many GB
};

/// @param arguments  without the program's name
/// @throws std::invalid_argument  an unknown flag; a missing or invalid value
[[nodiscard]] Options parse(const std::vector<std::string>& arguments);

/// What --help prints.
[[nodiscard]] std::string usage();

}  // namespace sixdays::gpt2
