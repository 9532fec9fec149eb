/// @file
/// The execution order: forward, reversed or shuffled, and reproducible from the seed.
#pragma once

#include <cstdint>
#include <vector>

namespace sixdays::emulator {

/// Fills block.order and the lane order within warps, for a block of `size` threads.
void order_threads(unsigned size);

/// The block that runs in position `turn` of `count`: a permutation of 0 ... count - 1.
std::uint64_t block_of_turn(std::uint64_t turn, std::uint64_t count);

}  // namespace sixdays::emulator
