/// @file
/// Parses declarations of variables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/emulator/translate/source.hpp"

namespace sixdays::translate {

/// A declaration without its memory-space and storage specifiers.
struct Declaration {
    struct Name {
        std::string pointer, name, extents;  // "**", "p", "[2][3]"
        bool has_value = false;              // an initializer or a parameter list follows
    };
    std::string type, alignment;
    std::vector<Name> names;
    bool is_extern = false;
};

/// The declaration from `begin` to the `;` at `end`, if it can be parsed.
std::optional<Declaration> read_declaration(const Source& in, Index begin, Index end);

}  // namespace sixdays::translate
