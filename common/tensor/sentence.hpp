/// @file
/// Messages of errors, made of words and values.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace sixdays {

/// The parts in one string: text as it is, numbers as std::to_string() writes them, and shapes,
/// layouts and others as their to_string() does.
template <class... Parts>
[[nodiscard]] std::string sentence(const Parts&... parts) {
    std::string all;
    const auto add = [&all](const auto& part) {
        using Part = std::decay_t<decltype(part)>;
        if constexpr (std::is_same_v<Part, char>) {
            all += part;
        } else if constexpr (std::is_convertible_v<const Part&, std::string_view>) {
            all += std::string_view(part);
        } else {
            using std::to_string;
            all += to_string(part);
        }
    };
    (add(parts), ...);
    return all;
}

/// Rejects a call: the parts are a sentence() that names the operation, the values and what is
/// allowed.
/// @throws std::invalid_argument  always
template <class... Parts>
[[noreturn]] void reject(const Parts&... parts) {
    throw std::invalid_argument(sentence(parts...));
}

}  // namespace sixdays
