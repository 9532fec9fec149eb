/// @file
/// CUDA's C interface to asynchronous copies from global to shared memory, on async_copy.hpp.
#pragma once

#include "common/emulator/async_copy.hpp"

/// Starts copying size_and_align (4, 8 or 16) bytes; the last `zfill` bytes are zeroed instead.
inline void __pipeline_memcpy_async(void* dst_shared, const void* src_global,
                                    std::size_t size_and_align, std::size_t zfill = 0,
                                    std::source_location site = std::source_location::current()) {
    sixdays::emulator::async_copy(dst_shared, src_global, size_and_align, size_and_align - zfill,
                                  site);
}

/// Commits the copies that this thread has started as one group.
inline void __pipeline_commit() {
    sixdays::emulator::async_commit();
}

/// Waits until at most `prior` of this thread's latest groups are in flight.
inline void __pipeline_wait_prior(std::size_t prior) {
    sixdays::emulator::async_wait(static_cast<int>(prior));
}
