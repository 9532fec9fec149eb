/// @file
/// Host and device kept apart, as nvcc keeps them: which function may call which, and whose
/// variables it may use. The emulator compiles all of it in one pass, so g++ cannot tell.
///
/// What can be told from one file alone is told: of free functions and of variables of the file
/// that have one meaning there. Where a macro may hide a word, nothing is said.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/emulator/translate/source.hpp"

namespace sixdays::translate {

struct WrongSide {
    Index at;
    std::string sentence;
};
struct Sides {
    std::vector<WrongSide> wrong;
    std::vector<std::pair<Index, Index>> of_host;  // the braces of functions that are the host's
};
[[nodiscard]] Sides sides_of(const Source& in);

}  // namespace sixdays::translate
