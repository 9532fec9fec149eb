/// @file
/// Names of the values of an enum: a table, a look-up in it, and a check that a value is one of
/// them. The table of an operation's paths also has what each of them needs.
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

/// An entry of a table of paths: a path, its name, and what it needs of a call. A Plan is what a
/// kernel of the operation gets.
template <class Path, class Plan>
struct PathEntry {
    /// The path.
    Path value;
    /// Its name; not empty.
    const char* name;
    /// Can it do this call? A null pointer: every call.
    bool (*supports)(const Plan&) = nullptr;
    /// What it needs of a call, for a message.
    std::string needs = {};
};

/// The name of this value, "" if the table has none.
/// @param table  of Named or PathEntry
template <class Entry, std::size_t N, class Enum>
[[nodiscard]] constexpr const char* name_in(const Entry (&table)[N], Enum value) {
    for (const Entry& entry : table) {
        if (entry.value == value) return entry.name;
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

/// What the path needs that the call does not have; "" if the path supports the call.
template <class Path, class Plan, std::size_t N>
[[nodiscard]] std::string missing_in(const PathEntry<Path, Plan> (&table)[N], Path path,
                                     const Plan& plan) {
    for (const PathEntry<Path, Plan>& entry : table) {
        if (entry.value != path || !entry.supports || entry.supports(plan)) continue;
        return entry.needs;
    }
    return "";
}
/// The path must support the call.
/// @param op     the operation, for the message
/// @param views  the end of the message, such as "; in has ", in.layout
/// @throws std::invalid_argument  missing_in() is not ""; the message says what the path needs
template <class Path, class Plan, std::size_t N, class... Parts>
void require_support(const char* op, const PathEntry<Path, Plan> (&table)[N], Path path,
                     const Plan& plan, const Parts&... views) {
    const std::string needs = missing_in(table, path, plan);
    if (!needs.empty()) reject(op, ": the path '", name(path), "' needs ", needs, views...);
}

}  // namespace sixdays
