/// @file
/// Checks samples of a result that is too large for the CPU reference: the expected value of each
/// sampled element is computed on its own. A kernel that is wrong in the same way in every run ends
/// the bench with a message.
///
///     trial.sampled = [=] {
///         return lesson::sampled(out, [&](const Index& at) { return loop_of_one_line(at); });
///     };
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include "common/gpu/buffer.hpp"
#include "common/tensor/index.hpp"

namespace sixdays::lesson {

/// The expected value of an element, and its error bound, which is derived from the operation.
struct Near {
    double value,  ///< in double
        bound;     ///< the largest accepted difference
};

/// The number of sampled elements of an output.
inline constexpr int kSamples = 64;

/// The position of sample number `sample` among `size` elements: the first, the last, then
/// pseudo-random ones.
[[nodiscard]] inline std::int64_t sample_of(std::int64_t size, int sample) {
    if (sample < 2) return sample == 0 ? 0 : size - 1;
    const std::uint64_t bits = static_cast<std::uint64_t>(sample) * 0x9E3779B97F4A7C15u;
    return static_cast<std::int64_t>((bits ^ bits >> 29) % static_cast<std::uint64_t>(size));
}

/// "" if the sampled elements of `out`, in device memory, match want(index): a T, for equality, or
/// a Near. Else a message with the first that does not.
template <class T, class Want>
[[nodiscard]] std::string sampled(const View<T>& out, const Want& want) {
    for (int sample = 0; sample < kSamples && out.size() > 0; ++sample) {
        const Index at = unravel(sample_of(out.size(), sample), out.shape());
        std::remove_const_t<T> element{};
        gpu::detail::copy_to_host(&element, &out(at), sizeof element);
        const auto expected = want(at);
        Near near{};
        if constexpr (std::is_same_v<std::decay_t<decltype(expected)>, Near>) {
            near = expected;
        } else {
            near.value = static_cast<double>(expected);
        }
        const auto got = static_cast<double>(element);
        if (std::fabs(got - near.value) <= near.bound) continue;  // false for a NaN
        const std::string bound =
            near.bound > 0 ? ", at most " + std::to_string(near.bound) + " from it" : "";
        return "at " + to_string(at) + " a timed run wrote " + std::to_string(got) +
               ", but it must be " + std::to_string(near.value) + bound;
    }
    return "";
}

}  // namespace sixdays::lesson
