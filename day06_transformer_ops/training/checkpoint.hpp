/// @file
/// Files of a run: the model, its loss curve, and the state from which the run can be resumed.
/// Each is replaced atomically (gpt2/file/output_file.hpp).
#pragma once

#include <string>

#include "day06_transformer_ops/gpt2/file/output_file.hpp"
#include "day06_transformer_ops/training/model/trainer.hpp"
#include "day06_transformer_ops/training/options.hpp"

namespace sixdays::day06_transformer_ops {

using gpt2::write_whole;

/// @throws std::invalid_argument  a run or a model already exists, and neither --resume nor
/// --restart was given
void reject_to_replace(const TrainOptions& options);

/// The most disk space that a run's files need besides those that they replace, in bytes.
[[nodiscard]] std::int64_t room_of(const TrainOptions& options, const Parameters& map);
/// Checks that the disk has room for the files that save writes, besides those that they replace.
/// @throws std::runtime_error  not enough disk space
void check_room(const TrainOptions& options, const Parameters& map);

/// The model as a GGUF file, under llama.cpp's names: vectors as float32, matrices as `type`.
/// @param type  f32 or q8_0, which needs channels that are a multiple of 32
[[nodiscard]] std::vector<std::byte> model_file(const Parameters& map,
                                                const std::vector<float>& parameters,
                                                const gpt2::NewVocabulary& vocabulary,
                                                gpt2::WeightType type);
/// Writes model_file(), with matrices in the type of the options.
void write_model(const TrainOptions& options, const Parameters& map,
                 const std::vector<float>& parameters, const gpt2::NewVocabulary& vocabulary);

/// Writes the loss curve next to the model: FILE.svg.
void write_curve(const TrainOptions& options, const std::vector<float>& losses);

/// All that a run needs to resume: its progress and its options. A GGUF file with checksums.
/// @param text  the fingerprint of the training data
[[nodiscard]] std::vector<std::byte> state_file(const TrainOptions& options,
                                                const TrainingState& state, std::uint64_t text);
/// Writes state_file().
void write_state(const TrainOptions& options, const TrainingState& state, std::uint64_t text);

/// @throws std::invalid_argument  a file that is missing, damaged, of an earlier version, or of
/// another run: another text, seed, rate or size; fewer --steps than it has done. The message
/// contains both values
[[nodiscard]] TrainingState read_state(const TrainOptions& options, const Parameters& map,
                                       std::uint64_t text);
/// The same from a file's bytes.
[[nodiscard]] TrainingState state_of(std::span<const std::byte> bytes, const TrainOptions& options,
                                     const Parameters& map, std::uint64_t text);

}  // namespace sixdays::day06_transformer_ops
