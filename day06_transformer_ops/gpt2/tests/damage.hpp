// Damages files at random, for tests of readers.
#pragma once

#include <functional>
#include <string>

#include "day06_transformer_ops/gpt2/file/gguf_writer.hpp"

namespace sixdays::gpt2::tests {

/// What became of damaged files. `silent`: rejected with a message too short to say why.
struct Outcome {
    int whole = 0, rejected = 0, silent = 0;
};

/// Damages `good` in `files` ways, most of them before byte `head`, where the numbers are.
/// @param read  reads everything in a file, and returns the error message, or ""
Outcome damage_often(const Bytes& good, std::size_t head, int files, std::uint64_t seed,
                     const std::function<std::string(const Bytes&)>& read);

}  // namespace sixdays::gpt2::tests
