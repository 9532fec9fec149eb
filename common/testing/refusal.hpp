/// @file
/// What an operation says when it refuses its arguments.
///
///     CHECK(refusal([&] { add_cpu(a.view(), b.view(), out.view()); }) == "...");
///     CHECK(both_refuse([&] { add_cpu(...); }, [&] { add_cuda(...); }, "shape (2, 3)"));
#pragma once

#include <stdexcept>
#include <string>

#include "common/testing/compare.hpp"

namespace sixdays::testing {

/// The sentence of the std::invalid_argument that `call` throws, "" if it throws nothing. Any other
/// exception goes on to Catch, as a failure.
template <class Call>
[[nodiscard]] std::string refusal(const Call& call) {
    try {
        call();
    } catch (const std::invalid_argument& refused) {
        return refused.what();
    }
    return "";
}

/// Do both refuse, in the same sentence, and does it hold `words`? (Comparing two refusal() would
/// pass where neither refuses.)
Comparison same_refusal(const std::string& first, const std::string& second,
                        const std::string& words);

template <class First, class Second>
Comparison both_refuse(const First& first, const Second& second, const std::string& words) {
    return same_refusal(refusal(first), refusal(second), words);
}

}  // namespace sixdays::testing
