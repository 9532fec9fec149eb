/// @file
/// Stateless random numbers: Philox4x32-10 turns (key, counter) into four random words. Draw 1000
/// of a seed does not need the 999 before it, so any thread can compute any of them.
///
/// Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include <cstdint>

#include "common/tensor/host_device.hpp"

namespace sixdays::gpt2 {

/// The counter, and the random words made of it. Not std::array: kernels cannot call its functions.
struct Philox4 {
    std::uint32_t word[4];  // the lowest first
    friend constexpr bool operator==(const Philox4&, const Philox4&) = default;
};
/// The key, which selects a sequence of random numbers.
struct PhiloxKey {
    std::uint32_t word[2];  // the lowest first
};

/// Philox4x32-10 (Salmon and others, SC 2011): four random words from a counter and a key. Ten
/// rounds: multiply two words, swap the halves of the products crosswise, mix in the key.
[[nodiscard]] SIXDAYS_HD constexpr Philox4 philox(Philox4 x, PhiloxKey key) noexcept {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53} * x.word[0];
        const std::uint64_t b = std::uint64_t{0xCD9E8D57} * x.word[2];
        x = {static_cast<std::uint32_t>(b >> 32) ^ x.word[1] ^ key.word[0],
             static_cast<std::uint32_t>(b),
             static_cast<std::uint32_t>(a >> 32) ^ x.word[3] ^ key.word[1],
             static_cast<std::uint32_t>(a)};
        key.word[0] += 0x9E3779B9;  // the golden ratio
        key.word[1] += 0xBB67AE85;  // the root of 3
    }
    return x;
}

/// Draw number `step` of a seed: 53 random bits as a double in [0, 1).
[[nodiscard]] SIXDAYS_HD constexpr double uniform(std::uint64_t seed, std::uint64_t step) noexcept {
    const Philox4 words =
        philox({static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32), 0, 0},
               {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    const std::uint64_t bits = std::uint64_t{words.word[1]} << 32 | words.word[0];
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace sixdays::gpt2
