/// @file
/// Recording what warps touch; trace.hpp, one folder up, is what users see.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/emulator/runtime/memory.hpp"

namespace sixdays::emulator {

extern bool tracing;

void trace_launch(const char* kernel);
/// The current thread's access.
void trace_access(const Region& region, std::uintptr_t address, std::size_t bytes, AccessKind what,
                  const void* code);
/// Requests that some lanes never joined are complete now.
void trace_block_end();

/// One request of one warp.
struct Request {
    std::uint32_t lanes = 0;  // as a mask
    std::uint32_t bytes = 0;  // per lane
    std::array<std::uint64_t, 32> addresses{};
};

struct Count {
    std::uint64_t bytes_used = 0;  // different ones
    std::uint64_t units = 0;       // sectors of global memory, passes of shared memory
    std::uint64_t fewest = 0;
};
Count count_sectors(const Request& request);
/// @param atomic  lanes that update the same word then take turns
Count count_passes(const Request& request, bool atomic);

}  // namespace sixdays::emulator
