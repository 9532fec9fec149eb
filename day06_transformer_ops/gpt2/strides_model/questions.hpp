/// @file
/// What the shipped model is asked, and what common/tensor answers: three kinds of question about
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

/// What is to be told. The kinds that begin with an offset or an index are each other's inverse.
enum class Asked { strides, offset, index };
inline constexpr Asked kAsked[] = {Asked::strides, Asked::offset, Asked::index};
[[nodiscard]] const char* name(Asked asked);

struct Question {
    Asked asked;
    Shape shape;  // 1 to 4 dims of 1 to 9
    Index index;  // of the element that it is about; unused when strides are asked for
};

/// "shape 3 4 5 index 1 2 3 ->", what the model is given.
[[nodiscard]] std::string text_of(const Question& question);

/// " strides 20 5 1 -> 20 + 10 + 3 -> offset 33", from row_major() and offset().
[[nodiscard]] std::string answer_to(const Question& question);

/// Reads what a person types. Brackets, commas and spaces between numbers are all the same to it,
/// and the arrow may be left out.
/// @throws std::invalid_argument  no question of the three kinds, more than 4 dims, an extent
/// outside of 1 to 9, an index or offset outside of the shape
[[nodiscard]] Question read_question(std::string_view text);

/// Was every line about this shape left out of the training? A hash of its digits says so, for
/// about one shape in ten.
[[nodiscard]] bool held_out(const Shape& shape);

/// The shapes of one rank that are held out, or all others; the last dim varies fastest.
/// @throws std::invalid_argument  rank not in 1 to 4
[[nodiscard]] std::vector<Shape> shapes_of(int rank, bool held);

/// Questions about held-out shapes of one rank, all shapes equally often; the same for a seed.
/// @throws std::invalid_argument  rank not in 1 to 4
[[nodiscard]] std::vector<Question> held_out_questions(Asked asked, int rank, std::int64_t count,
                                                       std::uint64_t seed);

}  // namespace sixdays::gpt2
