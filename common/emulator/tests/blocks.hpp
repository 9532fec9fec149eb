/// @file
/// Blocks that wait for each other: correct and buggy kernels, and their launches.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "common/gpu/ptx/relaxed.hpp"

namespace sixdays::emulator::tests {

/// Device memory, all 0 before a launch.
struct Board {
    gpu::Words slots[2], meetings[8][2];
    unsigned flags[128], data[128], out[128];
    unsigned count, word;
};
struct BlocksCase {
    const char* name;          // the line of a bug has the comment `MARK name`
    void (*launch)(Board* m);  // two blocks of 64 threads, if not said otherwise
};
std::vector<BlocksCase> right_blocks();
std::vector<BlocksCase> wrong_blocks();
/// Waits for a flag that the host would set.
void wait_for_host(volatile unsigned* flag, unsigned* out, cudaStream_t stream = nullptr);

/// One operation by which a block signals another one, or waits for it (memory_order.cu).
enum class Strength : std::uint8_t {
    ordered,  // release or acquire: needs no fence
    relaxed,  // relaxed or volatile: needs one
    weak      // a plain access: always a race
};
struct OrderCase {
    const char* name;
    Strength strength;
    void (*launch)(Board* m, bool fences);
};
std::vector<OrderCase> order_cases();
/// Stores what cuda::atomic_ref returns to `out`.
void launch_returned_values(Board* m);

}  // namespace sixdays::emulator::tests
