/// @file
/// Names of the values of an enum: a table, a look-up in it, and a check that a value is one of
/// them.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>

#include "common/tensor/sentence.hpp"

namespace sixdays {

/// An entry of a table of names: a value of an enum and what messages and benchmark rows call it.
template <class Enum>
struct Named {
    /// One value of the enum.
    Enum value;
    /// Its name; not empty.
    const char* name;
};

/// The name of this value, "" if the table has none.
template <class Enum, std::size_t N>
[[nodiscard]] constexpr const char* name_in(const Named<Enum> (&table)[N], Enum value) {
    for (const Named<Enum>& named : table) {
        if (named.value == value) return named.name;
    }
    return "";
}

/// A value must be one of the enum's: an enum can hold any number, and a switch without a case for
/// it does nothing.
/// @param op    the operation, for the message
/// @param kind  what the enum names: "path"
/// @throws std::invalid_argument  name(value), found by argument-dependent lookup, is ""; the
/// message lists the names
template <class Enum>
void require_known(const std::string& op, const std::string& kind, Enum value) {
    if (*name(value) != '\0') return;
    std::string known;
    for (int n = 0; *name(static_cast<Enum>(n)) != '\0'; ++n) {
        known += (n == 0 ? "" : ", ") + std::string(name(static_cast<Enum>(n)));
    }
    reject(op, ": ", kind, " ", static_cast<int>(value),
           " does not exist; it must be one of: ", known);
}
/// A path must be one of the enum's values; an empty one is accepted.
/// @param op  the operation, for the message
/// @throws std::invalid_argument  name(*path) is ""
template <class Enum>
void require_known_path(const std::string& op, const std::optional<Enum>& path) {
    if (path) require_known(op, "path", *path);
}

}  // namespace sixdays
