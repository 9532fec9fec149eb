/// @file
/// Declarations of variables, taken apart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/emulator/translate/source.hpp"

namespace sixdays::translate {

/// Without the words that say where the variables live.
struct Declaration {
    struct Name {
        std::string pointer, name, extents;  // "**", "p", "[2][3]"
        bool has_value = false;              // an initializer, or a function's parameters, follow
    };
    std::string type, alignment;
    std::vector<Name> names;
    bool is_extern = false;
};

/// The declaration from `begin` to the `;` at `end`, if it can be read.
std::optional<Declaration> read_declaration(const Source& in, Index begin, Index end);

}  // namespace sixdays::translate
