/// @file
/// Random numbers without a state: Philox4x32-10 turns (key, counter) into four random words.
/// Number 1000 of a seed needs none of the 999 before it, so any thread can make any of them.
///
/// Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include <array>
#include <cstdint>

namespace sixdays::gpt2 {

using Philox4 = std::array<std::uint32_t, 4>;

/// Ten rounds: multiply two words, swap the halves of the products crosswise, mix in the key.
[[nodiscard]] constexpr Philox4 philox(Philox4 x, std::array<std::uint32_t, 2> key) noexcept {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53} * x[0];
        const std::uint64_t b = std::uint64_t{0xCD9E8D57} * x[2];
        x = {static_cast<std::uint32_t>(b >> 32) ^ x[1] ^ key[0], static_cast<std::uint32_t>(b),
             static_cast<std::uint32_t>(a >> 32) ^ x[3] ^ key[1], static_cast<std::uint32_t>(a)};
        key[0] += 0x9E3779B9;  // the golden ratio
        key[1] += 0xBB67AE85;  // the root of 3
    }
    return x;
}

/// Draw number `step` of a seed: 53 random bits as a double in [0, 1).
[[nodiscard]] constexpr double uniform(std::uint64_t seed, std::uint64_t step) noexcept {
    const Philox4 words =
        philox({static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32), 0, 0},
               {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    const std::uint64_t bits = std::uint64_t{words[1]} << 32 | words[0];
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace sixdays::gpt2
