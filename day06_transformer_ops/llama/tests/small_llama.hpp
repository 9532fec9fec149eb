// Files for tests: small models of the Llama family, valid and invalid.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "day06_transformer_ops/gpt2/file/gguf_writer.hpp"

namespace sixdays::llama::tests {

/// The path of a test file of this room.
std::string file_of_tests(const std::string& name);

/// What a file is to hold: 1 layer, 2 heads that share 1 key and value of 4 elements, 8 channels,
/// 6 positions, 5 tokens, an MLP of 12. Tensor n, from 1 on, consists of the number n.
struct SmallLlama {
    using Value = std::variant<std::uint32_t, float, bool, std::string>;

    /// A complete model. @param architecture  llama, qwen2 or qwen3
    explicit SmallLlama(std::string architecture = "llama");

    /// Adds or replaces a key, whose name has the architecture before it.
    SmallLlama& set(const std::string& name, const Value& value);
    /// Removes a key.
    SmallLlama& without(const std::string& name);
    /// Adds or replaces a tensor. @param shape  outermost first
    SmallLlama& tensor(const std::string& name, const Shape& shape);
    /// Removes a tensor.
    SmallLlama& without_tensor(const std::string& name);

    gpt2::Bytes bytes() const;

    std::string architecture;
    std::vector<std::pair<std::string, Value>> keys;
    std::vector<std::pair<std::string, Shape>> tensors;
    std::vector<std::string> tokens;  // of the tokenizer; empty: no such key
};

/// The error message for this file; "" if it can be read.
std::string rejection_of(const SmallLlama& model);

}  // namespace sixdays::llama::tests
