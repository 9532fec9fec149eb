/// @file
/// An open model file, of any architecture: its weights and its vocabulary.
#pragma once

#include <string>
#include <variant>

#include "day06_transformer_ops/gpt2/file/model_file.hpp"
#include "day06_transformer_ops/gpt2/file/model_files.hpp"
#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"
#include "day06_transformer_ops/llama/llama_file.hpp"

namespace sixdays::llama {

/// The weights of a model. Where code depends on the architecture, std::visit() and overloads choose:
/// gpt2::make_cpu_backend() or llama::make_cpu_backend().
using AnyWeights = std::variant<gpt2::ModelWeights, ModelWeights>;

/// A model file, ready to run. All views point into the mapped files, so it cannot be moved.
struct Model {
    gpt2::ModelFiles files;       // its bytes
    const Gguf& file;             // its metadata and tensors, of all parts
    AnyWeights weights;           // its weights, in the mapped files
    gpt2::Vocabulary vocabulary;  // its tokens and merges

    /// @throws std::invalid_argument  a missing file, or not a model: see ModelFiles, read_model,
    /// read_llama and Vocabulary
    explicit Model(const std::string& path);
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    /// The sizes that all architectures have.
    const Sizes& sizes() const;
};

/// "gpt2, 12 layers, 768 channels, 50257 tokens, context 1024, weights in F16, 252 MB"
[[nodiscard]] std::string summary(const Model& model);

}  // namespace sixdays::llama
