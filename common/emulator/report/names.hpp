/// @file
/// The name of a piece of memory in the program, so that a message can say `x` instead of "an
/// allocation". It is read from the launch and from the source.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/emulator/memory/memory.hpp"
#include "common/emulator/report/finding.hpp"

namespace sixdays::emulator {

/// A launch starts, or ends (null); and the declaration of its kernel's parameters.
void name_launch(const Launch* what);
void name_parameters(const char* declared);

struct Parameter {
    std::string name;
    bool restricted;       // __restrict__
    bool constant;         // points to const
    std::uintptr_t value;  // of a pointer, otherwise 0
};
/// Of the running launch; fewer if some were left at their default values.
std::vector<Parameter> parameters();

/// Two equal __restrict__ pointers through which the kernel may write.
std::optional<std::pair<Parameter, Parameter>> equal_restricted_parameters();

/// " `in` and `out` are the same array: ...": two pointers passed to the kernel, which point to it; empty
/// if there are none.
std::string equal_parameters(const Extent& allocation);
/// " It is `in` of the kernel, allocated as `d_in` in main.cu:12.", as far as known.
std::string known_as(const Extent& allocation);
/// True if cudaMallocPitch made it, as far as known.
bool is_pitched(const Extent& allocation);
/// "n", if the call that made this allocation passed n bytes and probably meant n elements.
std::string elements_for_bytes(const Extent& allocation);
/// "tile[y][x + 1]": the expression that ends in this column.
std::string expression_at(const char* file, unsigned line, unsigned column);

}  // namespace sixdays::emulator
