/// @file
/// Files of a run: the model, and the state from which the run can go on. Each is written beside
/// its place and then renamed, which a file system does as a whole or not at all: whoever pulls the
/// plug, one of the two is there.
#pragma once

#include <string>

#include "day06_transformer_ops/training/model/trainer.hpp"
#include "day06_transformer_ops/training/options.hpp"

namespace sixdays::day06_transformer_ops {

/// @throws std::runtime_error  no room, no right to write there; what was there before still is
void write_whole(const std::string& path, const std::vector<std::byte>& bytes);

/// The model as a GGUF file, under llama.cpp's names: vectors as float32, matrices as `type`.
/// @param type  f32 or q8_0, which wants channels that are a multiple of 32
[[nodiscard]] std::vector<std::byte> model_file(const Parameters& map,
                                                const std::vector<float>& parameters,
                                                const gpt2::NewVocabulary& vocabulary,
                                                gpt2::WeightType type);
/// The same, written: matrices as the options ask for.
void write_model(const TrainOptions& options, const Parameters& map,
                 const std::vector<float>& parameters, const gpt2::NewVocabulary& vocabulary);

/// The losses as a picture, beside the model: FILE.svg.
void write_curve(const TrainOptions& options, const std::vector<float>& losses);

/// All that a run needs to go on: where it is, and what it was asked for.
/// @param text  the fingerprint of what it learns
void write_state(const TrainOptions& options, const TrainingState& state, std::uint64_t text);

/// @throws std::invalid_argument  a file that is missing, damaged, of an earlier version, or of
/// another run: another text, seed or size; the sentence holds both values
[[nodiscard]] TrainingState read_state(const TrainOptions& options, const Parameters& map,
                                       std::uint64_t text);

}  // namespace sixdays::day06_transformer_ops
