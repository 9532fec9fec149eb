/// @file
/// The command line of `gpt2_train`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "day06_transformer_ops/gpt2/file/model_file.hpp"
#include "day06_transformer_ops/training/adamw/adamw.hpp"
#include "day06_transformer_ops/training/data.hpp"

namespace sixdays::day06_transformer_ops {

struct TrainOptions {
    std::string text, out, backend = "cpu";
    std::int64_t vocab = 0;    // tokens to learn from the text; 0: its bytes
    std::int64_t strides = 0;  // instead of a text: lines about shapes, up to this rank
    std::int64_t layers = 2, channels = 64, heads = 4, context = 64;
    std::int64_t batch = 8, accumulate = 1;  // sequences per batch, and batches per step
    std::int64_t steps = 200, warm_up = 20, save_every = 100;
    std::int64_t sample_every = 0;  // steps; 0: no samples
    std::int64_t threads = 0;       // of the CPU; 0: one per core
    std::int64_t gpus = 1;          // GPUs that share a batch
    std::uint64_t seed = 0;
    double rate = 3e-3;
    float decay = 0.1f;
    gpt2::WeightType weights = gpt2::WeightType::f32;  // of the matrices in the file
    bool bf16 = false;                                 // products on tensor cores
    bool resume = false, restart = false, help = false;

    [[nodiscard]] gpt2::Config config(std::int64_t vocabulary) const;
    [[nodiscard]] Batching batching() const { return {batch, context, seed}; }
    [[nodiscard]] Schedule schedule() const { return {rate, 0, warm_up, steps}; }
    [[nodiscard]] std::string state() const { return out + ".state"; }  // read by --resume
    [[nodiscard]] std::vector<std::string> files() const { return {out, out + ".svg", state()}; }
};

/// @param arguments  without the program's name
/// @throws std::invalid_argument  an unknown flag; a missing or invalid value; a text that the
/// run's own files would overwrite
[[nodiscard]] TrainOptions parse_training(const std::vector<std::string>& arguments);

/// What --help prints.
[[nodiscard]] std::string training_usage();

}  // namespace sixdays::day06_transformer_ops
