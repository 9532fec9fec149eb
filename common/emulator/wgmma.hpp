/// @file
/// wgmma without the hardware: the emulated twin of the wrapper in common/gpu/ptx/wgmma.hpp. What a
/// warpgroup has begun is made when one of its threads waits for it, not before; with the fragments
/// of a that each thread gave at the call: one that changes before the wait is not told.
#pragma once

#include <cstdint>

#include "emulated/language.h"

namespace sixdays::emulator {

/// An operand in tiles of rows of 128 bytes, swizzled; or a, in each thread's registers.
struct WgmmaOperand {
    const unsigned char* first;
    std::int64_t panel_bytes;       // from 64 m's or n's to the next
    bool across;                    // rows hold m's or n's, not k's
    const std::uint32_t* fragment;  // four, or a null pointer: it lies in tiles
};

/// What the current thread has written into sums comes before the next group.
void wgmma_fence();
/// Each of a warpgroup's 128 threads calls it, with its own sums: `pairs` times 4.
/// @param add  to the sums; else they are replaced
void wgmma(const WgmmaOperand& a, const WgmmaOperand& b, bool is_bf16, int pairs, float* sums,
           bool add, Site site);
/// What this thread has begun since the last call is one group.
void wgmma_commit();
/// Until at most `groups` of this thread's latest groups are in flight. Then these sums may be
/// touched, if none of those adds to them.
void wgmma_wait(int groups, const float* sums, Site site);

}  // namespace sixdays::emulator
