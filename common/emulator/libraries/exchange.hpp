/// @file
/// What the lanes of a warp show each other, for instructions that a whole warp makes together.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulated/language.h"

namespace sixdays::emulator {

constexpr std::size_t kMostShown = 128;  // bytes that one lane can show

/// Every lane of the warp calls this, and shows `bytes` bytes; afterwards each may look at what the
/// lanes 0 to 31 have shown, one every kMostShown bytes, until the warp's next exchange but one.
const unsigned char* exchange(const void* mine, std::size_t bytes, Site site);

/// What ldmatrix does with the 16 bytes that each lane has fetched, a row of a matrix of 8 x 8:
/// lanes 8 i to 8 i + 7 have those of matrix i. Lane 4 r + c gets of each the neighbours
/// 2 c and 2 c + 1 of row r, or if `transposed`, of column r.
void spread_matrices(std::uint32_t (&to)[4], const void* row, bool transposed, Site site);

}  // namespace sixdays::emulator
