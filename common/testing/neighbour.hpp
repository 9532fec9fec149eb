/// @file
/// Whose value is it? A wrong value that is right somewhere else tells what the index did wrong.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/testing/element.hpp"

namespace sixdays::testing {

/// Looks for the element whose expected value was found at wrong[0]: a step away along one dim,
/// with two dims swapped, a dim of 4 or more counted from its end, rows read as columns, next in
/// memory, and at last anywhere, if only one element has it. What may have happened is a guess:
/// where several are wrong, a step is named only if it explains another one of them, too.
/// @param wrong  the wrong elements, or the first of them
/// @param is_value_of  does the value found at the one index belong to the other?
/// @returns "the expected value of (2, 1): rows and columns swapped?", or "" if nothing was found
std::string belongs_to(
    const std::vector<Index>& wrong, const Elements& want,
    const std::function<bool(const Index& found, const Index& owner)>& is_value_of);

}  // namespace sixdays::testing
