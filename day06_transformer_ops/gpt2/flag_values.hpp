/// @file
/// Values of a command's flags. An error message contains the value, truncated to 80 characters,
/// and the range.
#pragma once

#include <charconv>
#include <string>
#include <system_error>
#include <type_traits>

#include "common/tensor/arguments.hpp"
#include "day06_transformer_ops/gpt2/file/byte_reader.hpp"

namespace sixdays::gpt2 {

/// The shortest decimal text that identifies a number.
template <class Number>
std::string digits_of(Number number) {
    char digits[40];
    return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}

/// The whole text as a number. @param wanted  the requirement, for the error message
template <class Number>
Number number(const std::string& flag, const std::string& text, const std::string& wanted) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end) {
        reject(flag, " is ", gpt2::quoted(text), ", but must be ", wanted);
    }
    return value;
}

/// A number in [least, most]; rejects NaN.
template <class Number>
Number number_within(Number least, Number most, const std::string& flag, const std::string& text) {
    const std::string wanted =
        std::string(std::is_integral_v<Number> ? "a whole number" : "a number") + " from " +
        digits_of(least) + " to " + digits_of(most);
    const auto value = number<Number>(flag, text, wanted);
    if (!(value >= least && value <= most)) {
        reject(flag, " is ", digits_of(value), ", but must be ", wanted);
    }
    return value;
}

/// Also the limit for sizes in a file (model_file.cpp).
inline constexpr std::int64_t kMostTokens = std::int64_t{1} << 24;
/// CPU threads: more than any machine has, but few enough for a system to start.
inline constexpr int kMostThreads = 1024;

}  // namespace sixdays::gpt2
