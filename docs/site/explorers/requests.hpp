/// @file
/// Kernels of one warp that make one request each; cases.cpp has the emulator count them. Each
/// works out its own addresses, so that the live pictures' arithmetic is held against another's.
#pragma once

namespace sixdays::explorers {

/// Lane l loads element first + l * stride of `bytes` bytes; or, `wide`, the 16 bytes that lie
/// l * stride such loads behind element `first`.
void load(const char* data, int stride, int bytes, int first, bool wide, char* out);

/// A tile of `unit` words a place, 1 or 4, in shared memory.
struct Tile {
    int width, pad;  // words
    bool swizzle;
    int unit;
};
/// Lane l stores to the l-th place from (number, 0) on, row after row; or, down a column, to row
/// l * unit of it, and where the tile ends to the next column.
void store(const Tile& tile, bool column, int number);

/// Eight threads, eight numbers: after each round of a tree in shared memory, or of a butterfly of
/// shuffles, what each thread holds, and for the largest the place where it was found.
/// @param held  (4, 8) numbers, then as many places
void join_eight(const int* numbers, bool sum, bool butterfly, int* held);

}  // namespace sixdays::explorers
