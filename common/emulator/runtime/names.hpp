/// @file
/// What the program's author calls a piece of memory: so that a message can say `x`, and not "an
/// allocation". Read from the launch and from the source itself.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/emulator/runtime/finding.hpp"
#include "common/emulator/runtime/memory.hpp"

namespace sixdays::emulator {

/// A launch begins, or ends (null); and how its kernel declares its parameters.
void name_launch(const Launch* what);
void name_parameters(const char* declared);

struct Parameter {
    std::string name;
    bool restricted;       // __restrict__
    bool constant;         // points to const
    std::uintptr_t value;  // of a pointer; of anything else 0
};
/// Of the launch that runs; fewer if some were left to their default values.
std::vector<Parameter> parameters();

/// Two of them that are __restrict__ and equal, and through which the kernel may write.
std::optional<std::pair<Parameter, Parameter>> equal_restricted_parameters();

/// " It is `in` of the kernel, allocated as `d_in` in main.cu:12.", as far as that is known.
std::string known_as(const Extent& allocation);
/// "n", if the call that made this allocation asks for so many bytes and may have meant elements.
std::string elements_for_bytes(const Extent& allocation);
/// "tile[y][x + 1]", which ends in this column.
std::string expression_at(const char* file, unsigned line, unsigned column);

}  // namespace sixdays::emulator
