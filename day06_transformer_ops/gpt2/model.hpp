/// @file
/// An open model file: its weights and its vocabulary.
#pragma once

#include <string>

#include "day06_transformer_ops/gpt2/file/model_file.hpp"
#include "day06_transformer_ops/gpt2/file/model_files.hpp"
#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

namespace sixdays::gpt2 {

/// A model file, ready to run. All views point into the mapped files, so it cannot be moved.
struct Model {
    ModelFiles files;       // its bytes
    const Gguf& file;       // its metadata and tensors, of all parts
    ModelWeights weights;   // its weights, in the mapped files
    Vocabulary vocabulary;  // its tokens and merges

    /// @throws std::invalid_argument  a missing file, or not a GPT-2: see ModelFiles, read_model
    /// and Vocabulary
    explicit Model(const std::string& path)
        : files(path), file(files.file()), weights(read_model(file)), vocabulary(file) {}
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;
};

/// "12 layers, 768 channels, 50257 tokens, context 1024, weights in F16, 252 MB"
[[nodiscard]] std::string summary(const Model& model);

}  // namespace sixdays::gpt2
