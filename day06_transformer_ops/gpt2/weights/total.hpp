/// @file
/// The last step of a sum that was made in several parts, one for each lane of SIMD registers.
#pragma once

#include <cstdint>
#include <cstring>

namespace sixdays::gpt2 {

/// The sum of N sums by a tree: 32 become 16, 8, 4, 2, 1, so log2(N) roundings. N is a power of 2.
template <std::int64_t N>
[[gnu::always_inline]] inline float total(const float (&sums)[N]) {
    static_assert((N & (N - 1)) == 0);
    if constexpr (N <= 4) {
        float sum = sums[0] + sums[N / 2];
        if constexpr (N == 4) sum += sums[1] + sums[3];
        return sum;
    } else {
        typedef float Half __attribute__((vector_size(N / 2 * sizeof(float))));
        Half lower, upper;  // as vectors, because GCC adds the elements of arrays one by one
        std::memcpy(&lower, sums, sizeof lower);
        std::memcpy(&upper, sums + N / 2, sizeof upper);
        lower += upper;
        float halves[N / 2];
        std::memcpy(halves, &lower, sizeof halves);
        return total(halves);
    }
}

}  // namespace sixdays::gpt2
