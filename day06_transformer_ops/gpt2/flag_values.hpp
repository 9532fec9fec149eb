/// @file
/// Values of a command's flags.
#pragma once

#include <charconv>
#include <string>
#include <system_error>

#include "common/tensor/arguments.hpp"

namespace sixdays::gpt2 {

/// All of the text as a number.
template <class Number>
Number number(const std::string& flag, const std::string& text, const char* wanted) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end)
        refuse(flag + " is '" + text + "', but must be " + wanted);
    return value;
}

template <class Number>
Number at_least(Number least, const std::string& flag, const std::string& text,
                const char* wanted) {
    const auto value = number<Number>(flag, text, wanted);
    if (value < least) refuse(flag + " is " + text + ", but must be " + wanted);
    return value;
}

inline constexpr const char* kCount = "a whole number, 0 or more";
inline constexpr const char* kAboveNone = "a whole number, 1 or more";

}  // namespace sixdays::gpt2
