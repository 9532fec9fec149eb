/// @file
/// The inputs of all timed products: a part of noise(), generated once on the host and repeated.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "common/lesson/arena.hpp"
#include "day05_matmul/bench/samples.hpp"

namespace sixdays::day05_matmul {

inline constexpr std::int64_t kPart = 1000003;
inline constexpr std::uint64_t kSeedA = 1, kSeedB = 77777777, kSeedBias = 5;

/// Inputs 0 and 1 of every set, a and b.
template <class T>
void fill_operands(lesson::Arena& arena) {
    for (const int input : {0, 1}) {
        const std::uint64_t seed = input == 0 ? kSeedA : kSeedB;
        std::vector<T> part(kPart);
        for (std::int64_t i = 0; i < kPart; ++i) {
            part[static_cast<std::size_t>(i)] = T(noise(seed, i));
        }
        arena.fill(input, part.data(), kPart * std::int64_t{sizeof(T)});
    }
}

/// @param then  the epilogue, of (sum, n)
/// @param out   device memory, (M, N), row-major
/// @throws std::runtime_error  the result that timed runs are compared with is
/// wrong
template <class Then>
void require_right(const std::string& op, const Sizes& s, const Layout& a, const Layout& b,
                   const Then& then, const float* out) {
    const auto input = [](std::uint64_t seed, const Layout& layout) {
        return [seed, &layout](std::int64_t i, std::int64_t j) {
            return noise(seed, offset(layout, i, j) % kPart);
        };
    };
    const auto row = [&](std::int64_t m) {
        std::vector<float> host(static_cast<std::size_t>(s.N));
        gpu::detail::copy_to_host(host.data(), out + m * s.N, host.size() * sizeof(float));
        return host;
    };
    const std::string wrong = wrong_sample(s, input(kSeedA, a), input(kSeedB, b), then, row);
    if (!wrong.empty()) throw std::runtime_error(op + ": " + wrong);
}

}  // namespace sixdays::day05_matmul
