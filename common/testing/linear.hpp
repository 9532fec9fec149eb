/// @file
/// Which elements a wrong kernel takes, as a linear formula of the index, and its text.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/tensor/layout.hpp"

namespace sixdays::testing {

/// base + sum over d of step[d] * index[d]; the step along an extent of 1 is unknown.
struct Linear {
    /// The value at index (0, 0, ...).
    std::int64_t base = 0;
    /// One per dimension; 0 where it is unknown.
    Dims step;
};

/// An element's position as a function of the output's index.
using Offset = std::function<std::int64_t(const Index&)>;

/// The linear formula of this function over the whole shape; none if it has none.
std::optional<Linear> linear(const Shape& shape, const Offset& at);

/// The element of an array at a formula of the indices `dims`: "in[21 b + 7 t + 5]".
std::string text_of(const std::string& array, const Linear& at, const std::string& dims);
/// The element of an array at this index: "in[5]".
std::string text_of(const std::string& array, std::int64_t at);
/// The element of an output at its indices: "out(b, t)".
std::string name_of(const std::string& out, const std::string& dims);

/// For rank 2: whether every element holds the value of its transposed index, in the whole matrix
/// or within each tile. Returns the end of a sentence; "" if not.
/// @param has  has(index, of): does the element at `index` hold the value that belongs to `of`?
std::string mirrored(const Shape& shape,
                     const std::function<bool(const Index&, const Index&)>& has);

}  // namespace sixdays::testing
