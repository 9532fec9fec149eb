/// @file
/// A wrong value that is right at another index shows what is wrong with the index.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/testing/element.hpp"

namespace sixdays::testing {

/// Looks for the element whose expected value was found at wrong[0]: one step along a dimension,
/// two dimensions swapped, a dimension of extent 4 or more reversed, row-major and column-major
/// confused, next in memory, and finally anywhere, if only one element has it. If several elements
/// are wrong, a step is named only if it also explains another one of them.
/// @param wrong  the wrong elements, or the first of them
/// @param is_value_of  does the value found at the one index belong to the other?
/// @returns "the expected value of (2, 1): rows and columns swapped?", or "" if nothing was found
std::string belongs_to(
    const std::vector<Index>& wrong, const Elements& want,
    const std::function<bool(const Index& found, const Index& owner)>& is_value_of);

}  // namespace sixdays::testing
