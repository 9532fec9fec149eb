/// @file
/// An open model file, of any architecture: its weights and its vocabulary.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "day06_transformer_ops/gpt2/file/gguf.hpp"
#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"
#include "day06_transformer_ops/gpt2/file/model_file.hpp"
#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"
#include "day06_transformer_ops/llama/llama_file.hpp"

namespace sixdays::llama {

/// The weights of a model. Where code depends on the architecture, std::visit() and overloads choose:
/// gpt2::make_cpu_backend() or llama::make_cpu_backend().
using AnyWeights = std::variant<gpt2::ModelWeights, ModelWeights>;

/// A model file, ready to run. All views point into the mapped file, so it cannot be moved.
struct Model {
    gpt2::MappedFile mapped;      // its bytes
    Gguf file;                    // its metadata and tensors
    AnyWeights weights;           // its weights, in the mapped file
    gpt2::Vocabulary vocabulary;  // its tokens and merges

    /// @throws std::invalid_argument  a missing file, or not a model: see MappedFile, Gguf,
    /// read_model, read_llama and Vocabulary; checksums that do not match, if the file has any
    explicit Model(const std::string& path);
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    /// The sizes that all architectures have.
    const Sizes& sizes() const;

    /// Reads the file's pages from disk, so that the first token is not delayed.
    /// @param progress  receives the bytes so far, every 16 MB and at the end
    void load(const std::function<void(std::size_t)>& progress) const;
};

/// "gpt2, 12 layers, 768 channels, 50257 tokens, context 1024, weights in F16, 252 MB"
[[nodiscard]] std::string summary(const Model& model);

}  // namespace sixdays::llama
