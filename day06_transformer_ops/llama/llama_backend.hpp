/// @file
/// The backends of the Llama family: gpt2::Backend over its weights, for gpt2::Engine. `model` must
/// outlive the backend.
#pragma once

#include <memory>

#include "day06_transformer_ops/gpt2/backend/backend.hpp"
#include "day06_transformer_ops/llama/llama_file.hpp"

namespace sixdays::llama {

/// The CPU references of six days, on float copies of all weights: the reference for other
/// backends.
/// @param capacity  positions of the KV cache: 1 .. config.context
/// @throws std::invalid_argument  another capacity
[[nodiscard]] std::unique_ptr<gpt2::Backend> make_plain_backend(const ModelWeights& model,
                                                                std::int64_t capacity);

/// Weights in the file's type, rows distributed over threads. @param threads  0: all cores
[[nodiscard]] std::unique_ptr<gpt2::Backend> make_cpu_backend(const ModelWeights& model,
                                                              std::int64_t capacity,
                                                              int threads = 0);

/// The CUDA versions, with weights and cache in device memory.
/// @throws std::runtime_error  no usable GPU, in a program built for one
/// @throws std::invalid_argument  another capacity; a model that tensor cores do not support
[[nodiscard]] std::unique_ptr<gpt2::Backend> make_cuda_backend(
    const ModelWeights& model, std::int64_t capacity,
    gpt2::Prompts prompts = gpt2::Prompts::floats);

/// gpt2::prompts_of() of this model.
[[nodiscard]] gpt2::Prompts prompts_of(const ModelWeights& model);
/// The types of all matrices of the blocks, in order.
[[nodiscard]] std::vector<gpt2::WeightType> matrix_types(const ModelWeights& model);

}  // namespace sixdays::llama
