/// @file
/// What the values of an enum are called: a table, and the look-up in it.
#pragma once

#include <cstddef>

namespace sixdays {

template <class Enum>
struct Named {
    Enum value;
    const char* name;
};

/// The name beside this value, "" if the table has none.
template <class Enum, std::size_t N>
[[nodiscard]] constexpr const char* name_in(const Named<Enum> (&table)[N], Enum value) {
    for (const Named<Enum>& named : table) {
        if (named.value == value) return named.name;
    }
    return "";
}

}  // namespace sixdays
