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
    std::int64_t base = 0;
    Dims step;
};

using Offset = std::function<std::int64_t(const Index&)>;

std::optional<Linear> linear(const Shape& shape, const Offset& at);

/// "in[21 b + 7 t + 5]"
std::string text_of(const std::string& array, const Linear& at, const std::string& dims);
/// "in[5]"
std::string text_of(const std::string& array, std::int64_t at);
/// "out(b, t)"
std::string name_of(const std::string& out, const std::string& dims);

/// For rank 2: does every element hold the value of its transposed index, in the whole matrix or
/// within each tile? Returns the end of a sentence; "" if not.
/// `has(index, of)`: does the element at `index` hold the value that belongs to `of`?
std::string mirrored(const Shape& shape,
                     const std::function<bool(const Index&, const Index&)>& has);

}  // namespace sixdays::testing
