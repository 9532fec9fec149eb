/// @file
/// Questions for the shipped model, and common/tensor's answers: three kinds of question about
/// row-major shapes, each one line.
///
///     shape 3 4 5 -> strides 20 5 1
///     shape 3 4 5 index 1 2 3 -> strides 20 5 1 -> 20 + 10 + 3 -> offset 33
///     shape 3 4 5 offset 33 -> strides 20 5 1 -> 20 + 10 + 3 -> index 1 2 3
///
/// The question ends with the first arrow. The rest is the answer, and shows its working: the
/// strides, then what each index contributes to the offset. lines.py writes the same lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/tensor/layout.hpp"

namespace sixdays::gpt2 {

inline constexpr int kMostDims = 4;
inline constexpr std::int64_t kMostExtent = 9;

/// What is asked for. Offset and index are inverses of each other.
enum class Asked { strides, offset, index };
inline constexpr Asked kAsked[] = {Asked::strides, Asked::offset, Asked::index};
[[nodiscard]] const char* name(Asked asked);

struct Question {
    Asked asked;
    Shape shape;  // 1 to 4 extents of 1 to 9
    Index index;  // of the element in question; unused for strides
};

/// "shape 3 4 5 index 1 2 3 ->", the model's input.
[[nodiscard]] std::string text_of(const Question& question);

/// " strides 20 5 1 -> 20 + 10 + 3 -> offset 33", from row_major() and offset().
[[nodiscard]] std::string answer_to(const Question& question);

/// Parses what a person types. Brackets, commas and spaces between numbers are equivalent, and the
/// arrow may be omitted.
/// @throws std::invalid_argument  not one of the three kinds, more than 4 dimensions, an extent
/// outside of 1 to 9, an index or offset outside of the shape
[[nodiscard]] Question read_question(std::string_view text);

/// Was this shape held out from training? A hash of its digits decides, for
/// about one shape in ten.
[[nodiscard]] bool held_out(const Shape& shape);

/// The held-out shapes of one rank, or all others; the last dimension varies fastest.
/// @throws std::invalid_argument  rank not in 1 to 4
[[nodiscard]] std::vector<Shape> shapes_of(int rank, bool held);

/// Questions about held-out shapes of one rank, all shapes equally often; deterministic for a seed.
/// @throws std::invalid_argument  rank not in 1 to 4
[[nodiscard]] std::vector<Question> held_out_questions(Asked asked, int rank, std::int64_t count,
                                                       std::uint64_t seed);

}  // namespace sixdays::gpt2
