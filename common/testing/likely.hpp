/// @file
/// For the cases of exercises: a wrong result that is exactly what a known mistake makes says which
/// mistake it was.
///
///     const std::string cause = likely_mistake(got.values(), want, {
///         {"the sum was not divided by C", without_division}, ... }).cause;
///     INFO(cause);
///     REQUIRE(got.close_to(want, bound));
#pragma once

#include <cmath>
#include <exception>
#include <functional>
#include <initializer_list>
#include <string>

#include "common/tensor/tensor.hpp"

namespace sixdays::testing {

struct Mistake {
    std::string sentence;
    Tensor<double> result;  // what the mistake makes
};

/// As good as equal in every element, to three digits; a NaN is equal to a NaN.
[[nodiscard]] inline bool looks_like(const Tensor<double>& a, const Tensor<double>& b) {
    bool all = a.shape() == b.shape();
    for (std::int64_t i = 0; all && i < a.size(); ++i) {
        const double x = a.data()[i], y = b.data()[i];
        all = std::isnan(x) ? std::isnan(y) : std::abs(x - y) <= 1e-3 * (std::abs(y) + 1e-3);
    }
    return all;
}

/// Is what was got right, and if not, what is the sentence of the only mistake that makes it? "" if
/// none does, or if two do that have sentences of their own.
struct Told {
    bool right = true;
    std::string cause;
};

[[nodiscard]] inline Told likely_mistake(const Tensor<float>& got, const Tensor<double>& want,
                                         std::initializer_list<Mistake> mistakes) {
    Tensor<double> wide(got.shape());
    for (std::int64_t i = 0; i < got.size(); ++i) wide.data()[i] = got.data()[i];
    if (looks_like(wide, want)) return {};
    std::string found;
    for (const Mistake& mistake : mistakes) {
        if (!looks_like(wide, mistake.result)) continue;
        if (!found.empty() && found != mistake.sentence) return {false, ""};
        found = mistake.sentence;
    }
    return {false, found};
}

/// In a small case several mistakes may come to the same. So the cause that was found `here` counts
/// only if a larger case has it, too, or is right; otherwise that one's does, and none where it
/// stops.
[[nodiscard]] inline std::string confirmed(const Told& here, const std::function<Told()>& larger) {
    if (here.right) return "";
    try {
        const Told there = larger();
        return there.right ? here.cause : there.cause;
    } catch (const std::exception&) {
        return "";
    }
}

}  // namespace sixdays::testing
