/// @file
/// Host and device kept apart, as nvcc keeps them: which function may call which, and whose
/// variables it may use. The emulator compiles all of it in one pass, so g++ cannot tell.
///
/// What can be told from one file alone is told: of free functions and of variables of the file
/// that have one meaning there. Where a macro may hide a word, nothing is said.
#pragma once

#include <string>
#include <vector>

#include "common/emulator/translate/source.hpp"

namespace sixdays::translate {

struct WrongSide {
    Index at;
    std::string sentence;
};
[[nodiscard]] std::vector<WrongSide> wrong_sides(const Source& in);

}  // namespace sixdays::translate
