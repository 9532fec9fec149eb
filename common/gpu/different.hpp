/// @file
/// Compares two arrays on the device: a gigabyte in less than a millisecond, where copying it back
/// to the host would take a hundred. For executables that check what they timed. Tests compare on
/// the host, where they can report which element differs.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "common/gpu/buffer.hpp"
#include "common/tensor/sentence.hpp"

namespace sixdays::gpu {

/// How many of the first `bytes` bytes of two arrays in device memory differ. Bits decide: a NaN
/// equals a NaN of the same bits, and +0 differs from -0. Waits for the work queued before.
/// @throws std::invalid_argument  bytes < 0, or a null pointer and bytes > 0
[[nodiscard]] std::int64_t count_different(const void* a, const void* b, std::int64_t bytes);

/// The number of bytes that differ between two whole buffers, as count_different() of their memory.
/// @throws std::invalid_argument  their sizes differ
template <class T>
[[nodiscard]] std::int64_t count_different(const Buffer<T>& a, const Buffer<T>& b) {
    if (a.size() != b.size()) {
        reject("count_different: one buffer has ", a.size(), " elements, the other ", b.size());
    }
    return count_different(a.data(), b.data(), a.size() * static_cast<std::int64_t>(sizeof(T)));
}

}  // namespace sixdays::gpu
