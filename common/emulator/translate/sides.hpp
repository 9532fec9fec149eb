/// @file
/// Separates host from device code as nvcc does: which function may call which, and which variables
/// it may use. g++ cannot check this, since the emulator compiles everything in one pass.
///
/// Checks what is certain from one file alone: free functions, and variables of the file whose name
/// has a single meaning there. Code that may contain macros is not checked.
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
    std::vector<std::pair<Index, Index>> of_host;  // the braces of host functions
};
[[nodiscard]] Sides sides_of(const Source& in);

}  // namespace sixdays::translate
