/// @file
/// The execution order: forward, reversed or shuffled, and reproducible from the seed.
#pragma once

#include <cstdint>
#include <vector>

#include "emulated/launch.h"

namespace sixdays::emulator {

/// Fills block.order and the lane order within warps, for a block of `size` threads.
void order_threads(unsigned size);

/// The block that runs in position `turn` of `count`: a permutation of 0 ... count - 1.
std::uint64_t block_of_turn(std::uint64_t turn, std::uint64_t count);

/// A launch of `count` blocks starts. Returns how many of them run (only_blocks()).
std::uint64_t choose_blocks(std::uint64_t count);
/// blockIdx of the block that runs in position `turn` of this launch.
uint3 index_of_block(std::uint64_t turn);

}  // namespace sixdays::emulator
