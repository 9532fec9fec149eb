/// @file
/// An open model file: its weights and its vocabulary.
#pragma once

#include <functional>
#include <string>

#include "day06_transformer_ops/gpt2/file/gguf.hpp"
#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"
#include "day06_transformer_ops/gpt2/file/model_file.hpp"
#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

namespace sixdays::gpt2 {

/// A model file, ready to run. All views point into the mapped file, so it cannot be moved.
struct Model {
    MappedFile mapped;      // its bytes
    Gguf file;              // its metadata and tensors
    ModelWeights weights;   // its weights, in the mapped file
    Vocabulary vocabulary;  // its tokens and merges

    /// @throws std::invalid_argument  a missing file, or not a GPT-2: see MappedFile, Gguf,
    /// read_model and Vocabulary; checksums that do not match, if the file has any
    explicit Model(const std::string& path)
        : mapped(path),
          file(checked(mapped.bytes(), path)),
          weights(read_model(file)),
          vocabulary(file) {}
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    /// Reads the file's pages from disk, so that the first token is not delayed.
    /// @param progress  receives the bytes so far, every 16 MB and at the end
    void load(const std::function<void(std::size_t)>& progress) const;

private:
    static Gguf checked(std::span<const std::byte> bytes, const std::string& path);
};

/// "12 layers, 768 channels, 50257 tokens, context 1024, weights in F16, 252 MB"
[[nodiscard]] std::string summary(const Model& model);

}  // namespace sixdays::gpt2
