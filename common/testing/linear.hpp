/// @file
/// Which elements a wrong kernel takes, as a formula of the index, and that formula in words.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/tensor/layout.hpp"

namespace sixdays::testing {

/// base + the sum over d of step[d] * index[d]; the step along an extent of 1 is not known.
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

/// Of indices of two dims: does each, instead of its own, have what belongs to its mirror image, in
/// the whole matrix or in each of its tiles? In a sentence's words; "" if it is not so.
/// `has(index, of)`: does it have what belongs to `of`?
std::string mirrored(const Shape& shape,
                     const std::function<bool(const Index&, const Index&)>& has);

}  // namespace sixdays::testing
