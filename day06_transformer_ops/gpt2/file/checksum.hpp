/// @file
/// A checksum against accidental damage, not against tampering.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace sixdays::gpt2 {

/// A 64-bit checksum of any bytes, eight at a time. Each step is a bijection of the sum so far and
/// of the word (the factor is odd, and x ^ x >> 32 is invertible), so inputs that differ in only
/// one word never have the same checksum. The length is included.
/// @param sum  checksum of the preceding bytes
[[nodiscard]] inline std::uint64_t checksum_of(std::span<const std::byte> bytes,
                                               std::uint64_t sum = 0) {
    const auto step = [&sum](std::uint64_t word) {
        sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
        sum ^= sum >> 32;
    };
    const std::size_t size = bytes.size();
    for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;  // padded with zeros
        std::memcpy(&word, bytes.data() + at, std::min(sizeof word, size - at));
        step(word);
    }
    step(size);
    return sum;
}

}  // namespace sixdays::gpt2
