/// @file
/// The message of an operation that rejects its arguments.
///
///     CHECK(rejection([&] { add_cpu(a.view(), b.view(), out.view()); }) == "...");
///     CHECK(both_reject([&] { add_cpu(...); }, [&] { add_cuda(...); }, "shape (2, 3)"));
#pragma once

#include <stdexcept>
#include <string>

#include "common/testing/compare.hpp"

namespace sixdays::testing {

/// The message of the std::invalid_argument that `call` throws, "" if it throws nothing. Any other
/// exception propagates to Catch as a failure.
template <class Call>
[[nodiscard]] std::string rejection(const Call& call) {
    try {
        call();
    } catch (const std::invalid_argument& rejected) {
        return rejected.what();
    }
    return "";
}

/// Whether both messages are the same, not empty, and contain `words`. (Comparing two rejection()
/// results would pass if neither rejects.)
Comparison same_rejection(const std::string& first, const std::string& second,
                          const std::string& words);

/// Whether both calls reject with the same message, and it contains `words`.
template <class First, class Second>
Comparison both_reject(const First& first, const Second& second, const std::string& words) {
    return same_rejection(rejection(first), rejection(second), words);
}

}  // namespace sixdays::testing
