/// @file
/// For the cases of exercises whose kernel only moves numbers: which element did it take, and which
/// one should it have taken? The kernel runs once more on arrays with room on both sides, whose
/// elements all differ, so that even one past the end says where it comes from:
///
///     moved_wrongly({"out", "bt", {B, T}, {{"in", B * T * C, at}}}, launch)
///     // "Each out(b, t) gets in[3 b + t]; it should get in[21 b + 7 t + 5]."
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/tensor/layout.hpp"

namespace sixdays::testing {

/// An array that is read, and which of its elements belongs to an index.
struct Source {
    std::string name;
    std::int64_t size = 0;  // elements, from the first to the last that may be read
    std::function<std::int64_t(const Index&)> at;
};

/// Element to(index) of `out` gets the sum of one element of each source.
struct Moves {
    std::string out, dims;  // "out", and a letter for each dim of `shape`
    Shape shape;
    std::vector<Source> sources;
    std::function<std::int64_t(const Index&)> to = {};  // empty: row-major
    std::int64_t out_size = 0;                          // 0: that of `shape`
    std::string element = {};                           // empty: "out(b, t)"
};
using LaunchMoves = std::function<void(const std::vector<const float*>& sources, float* out)>;

/// What the launch does otherwise, in a sentence; "" if it cannot be said, or if all is right.
std::string moved_wrongly(const Moves& moves, const LaunchMoves& launch);

}  // namespace sixdays::testing
