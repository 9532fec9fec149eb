/// @file
/// A checksum against damage, not against intent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace sixdays::gpt2 {

/// 64 bits of any run of bytes, eight at a time. A step is a bijection of the sum so far and of the
/// word (the factor is odd, and a number can be found from x ^ x >> 32), so runs that differ in one
/// word alone never have the same checksum. The length is part of it.
/// @param sum  of what lies before, to go on from
[[nodiscard]] inline std::uint64_t checksum_of(std::span<const std::byte> bytes,
                                               std::uint64_t sum = 0) {
    const auto step = [&sum](std::uint64_t word) {
        sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
        sum ^= sum >> 32;
    };
    const std::size_t size = bytes.size();
    for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;  // behind the last byte: zeros
        std::memcpy(&word, bytes.data() + at, std::min(sizeof word, size - at));
        step(word);
    }
    step(size);
    return sum;
}

}  // namespace sixdays::gpt2
