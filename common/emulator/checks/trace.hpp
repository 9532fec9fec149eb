/// @file
/// Records the memory requests of warps. The public interface is trace.hpp, one folder up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/emulator/machine/aside.hpp"
#include "common/emulator/memory/access.hpp"

namespace sixdays::emulator {

void trace_launch(const char* kernel);
/// Records an access of the current thread.
void trace_access(const Region& region, std::uintptr_t address, std::size_t bytes, AccessKind what,
                  const void* code);
/// Completes requests that some lanes never joined.
void trace_block_end();
/// A block that polls is put aside, or goes on: swaps its incomplete requests.
void exchange_requests(std::shared_ptr<void>& aside);

/// One request of one warp.
struct Request {
    std::uint32_t lanes = 0;  // as a bit mask
    std::uint32_t bytes = 0;  // per lane
    std::array<std::uint64_t, 32> addresses{};
};

struct Count {
    std::uint64_t bytes_used = 0;  // distinct bytes
    std::uint64_t units = 0;       // sectors of global memory, wavefronts of shared memory
    std::uint64_t fewest = 0;
};
Count count_sectors(const Request& request);
/// @param atomic  lanes that update the same word are serialized
Count count_passes(const Request& request, bool atomic);

}  // namespace sixdays::emulator
