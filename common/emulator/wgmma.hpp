/// @file
/// wgmma without the hardware: the emulated twin of the wrapper in common/gpu/ptx/wgmma.hpp. A
/// warpgroup's product is computed when one of its threads waits for it, not before. Fragments of a
/// are copied at the call, so changing one before the wait is not reported.
#pragma once

#include <cstdint>

#include "emulated/language.h"

namespace sixdays::emulator {

/// An operand: swizzled tiles with rows of 128 bytes, or (a only) registers of each thread.
struct WgmmaOperand {
    const unsigned char* first;
    std::int64_t panel_bytes;       // distance between blocks of 64 rows (of a) or columns (of b)
    bool across;                    // MN-major: a row holds 64 m or n; otherwise K-major
    const std::uint32_t* fragment;  // four registers; null: the operand is in shared memory
};

/// Orders the current thread's writes to its accumulators before the next group.
void wgmma_fence();
/// Called by all 128 threads of a warpgroup, each with its own 4 * `pairs` accumulators.
/// @param add  true: accumulate; false: overwrite
void wgmma(const WgmmaOperand& a, const WgmmaOperand& b, bool is_bf16, int pairs, float* sums,
           bool add, Site site);
/// Commits this thread's wgmmas since the last call as one group.
void wgmma_commit();
/// Waits until at most `groups` of this thread's latest groups are in flight. Then these
/// accumulators may be accessed, unless one of those groups adds to them.
void wgmma_wait(int groups, const float* sums, Site site);

}  // namespace sixdays::emulator
