/// @file
/// Exchanges data between the lanes of a warp, for instructions that a whole warp executes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "emulated/language.h"

namespace sixdays::emulator {

constexpr std::size_t kMostShown = 128;  // maximum bytes per lane

/// Called by every lane of the warp with its `bytes` bytes. Returns those of lanes 0 to 31, at
/// multiples of kMostShown bytes. They are valid until the warp's next exchange but one.
const unsigned char* exchange(const void* mine, std::size_t bytes, Site site);

/// Puts what the lanes of the running block have exchanged aside, or takes it back.
void exchange_shown(std::shared_ptr<void>& aside);

/// ldmatrix, after each lane has loaded 16 bytes: a row of an 8 x 8 matrix. Lanes 8 i to 8 i + 7
/// hold the rows of matrix i. Of each matrix, lane 4 r + c gets the adjacent elements 2 c and 2 c +
/// 1 of row r or, if `transposed`, of column r.
void spread_matrices(std::uint32_t (&to)[4], const void* row, bool transposed, Site site);

}  // namespace sixdays::emulator
