/// @file
/// cp.async without the hardware: the emulated twin of the wrappers in common/gpu/ptx.hpp.
///
/// A copy completes when the thread that started it waits, not before. Until then its target is
/// pending, and a read or write there is reported as a missing wait.
#pragma once

#include <cstddef>
#include <source_location>

namespace sixdays::emulator {

/// Starts copying `bytes` (4, 8 or 16) from device to shared memory; both aligned to `bytes`.
/// @param valid_bytes  bytes to read; the rest of the target is filled with zeros
void async_copy(void* to_shared, const void* from_global, std::size_t bytes,
                std::size_t valid_bytes,
                std::source_location site = std::source_location::current());
inline void async_copy(void* to_shared, const void* from_global, std::size_t bytes,
                       std::source_location site = std::source_location::current()) {
    async_copy(to_shared, from_global, bytes, bytes, site);
}

/// Copies the part of thread `me` of a copy that is shared by `threads` threads, in pieces of 16, 8
/// or 4 bytes as alignment allows. Remaining bytes are copied immediately.
[[gnu::always_inline]] inline void start_copy(
    void* to, const void* from, std::size_t bytes, std::size_t me, std::size_t threads,
    std::source_location site = std::source_location::current()) {
    auto* target = static_cast<unsigned char*>(to);
    const auto* source = static_cast<const unsigned char*>(from);
    const auto both = reinterpret_cast<std::size_t>(to) | reinterpret_cast<std::size_t>(from);
    const std::size_t piece = both % 16 == 0 ? 16 : both % 8 == 0 ? 8 : both % 4 == 0 ? 4 : 1;
    const std::size_t whole = piece == 1 ? 0 : bytes / piece;
    for (std::size_t i = me; i < whole; i += threads) {
        async_copy(target + i * piece, source + i * piece, piece, site);
    }
    for (std::size_t i = whole * piece + me; i < bytes; i += threads) target[i] = source[i];
}

/// Commits the copies that this thread has started as one group (cp.async.commit_group).
void async_commit();

/// Waits until at most `groups` of this thread's latest groups are in flight (cp.async.wait_group).
void async_wait(int groups);

/// Waits for all of this thread's copies, committed or not (cp.async.wait_all).
void async_wait_all();

}  // namespace sixdays::emulator
