/// @file
/// The order of turns: forward, reversed or shuffled, always the same for the same seed.
#pragma once

#include <cstdint>
#include <vector>

namespace sixdays::emulator {

/// Fills block.order and the order of lanes within warps, for a block of `size` threads.
void order_threads(unsigned size);

/// Which block runs as number `turn` of `count`. A permutation of 0 ... count - 1.
std::uint64_t block_of_turn(std::uint64_t turn, std::uint64_t count);

}  // namespace sixdays::emulator
