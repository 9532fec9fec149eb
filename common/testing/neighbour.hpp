/// @file
/// Whose value is it? A wrong value that is right somewhere else tells what the index did wrong.
#pragma once

#include <functional>
#include <string>

#include "common/testing/element.hpp"

namespace sixdays::testing {

/// Looks for the element whose expected value was found at index `at`: a step away along one dim,
/// with two dims swapped, a dim of 4 or more counted from its end, rows read as columns, next in
/// memory, and at last anywhere, if only one element has it. It is a guess from one element.
/// @param is_value_of  does the value found belong to this index? To `at` it does not
/// @returns "the expected value of (2, 1): rows and columns swapped?", or "" if nothing was found
std::string belongs_to(const Index& at, const Elements& want,
                       const std::function<bool(const Index&)>& is_value_of);

}  // namespace sixdays::testing
