/// @file
/// For the cases of exercises: names the mistake if a wrong result is exactly what a known mistake
/// produces.
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

/// A known mistake: its sentence, and what it produces.
struct Mistake {
    /// What to say to the learner.
    std::string sentence;
    Tensor<double> result;  ///< what the mistake produces
};

/// Equal to three digits in every element; a NaN equals a NaN.
[[nodiscard]] inline bool looks_like(const Tensor<double>& a, const Tensor<double>& b) {
    bool all = a.shape() == b.shape();
    for (std::int64_t i = 0; all && i < a.size(); ++i) {
        const double x = a.data()[i], y = b.data()[i];
        all = std::isnan(x) ? std::isnan(y) : std::abs(x - y) <= 1e-3 * (std::abs(y) + 1e-3);
    }
    return all;
}

/// What is known of a result.
struct Told {
    /// Whether the result is right.
    bool right = true;
    /// The sentence; "" if unknown.
    std::string cause;
};

/// Whether the result is right, and if not, the sentence of the only mistake that produces it; ""
/// if none does, or if several with different sentences do.
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

/// In a small case several mistakes may give the same result. So if a larger case is wrong too, its
/// cause counts instead of the one found `here`; "" if it throws.
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
