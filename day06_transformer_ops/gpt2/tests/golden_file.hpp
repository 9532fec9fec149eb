// The files of text_golden.py.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"
#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"
#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

namespace sixdays::gpt2::tests {

using Tokens = std::vector<std::int64_t>;

/// A vocabulary, and what other programs make of texts with it.
struct GoldenFile {
    /// @param name  "smollm", "llama3", "qwen2" or "llama2"
    explicit GoldenFile(const std::string& name)
        : mapped(file_of_tests("golden_" + name + ".gguf")),
          file(mapped.bytes(), name),
          vocabulary(file) {}
    MappedFile mapped;
    Gguf file;
    Vocabulary vocabulary;

    /// The key golden.<key>.
    Tokens numbers(const std::string& key) const {
        return file.integers("golden." + key, 0, UINT16_MAX);
    }
    std::vector<std::string_view> texts(const std::string& key) const {
        return file.texts("golden." + key);
    }
};

}  // namespace sixdays::gpt2::tests
