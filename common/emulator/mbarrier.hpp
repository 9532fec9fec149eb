/// @file
/// mbarriers, tile copies that complete on one, and tile stores, without the hardware: the emulated
/// twins of the wrappers in common/gpu/ptx/mbarrier.hpp and tma.hpp.
///
/// A tile arrives when a thread waits for its phase, not before. Until then its target is pending,
/// and a read or write there is reported with what is missing. A tile is stored when the thread that
/// requested it waits, and must not have changed until then.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulated/language.h"

namespace sixdays::emulator {

/// @param arrivals  expected in each phase
void mbarrier_init(std::uint64_t* word, unsigned arrivals, Site site);
/// Makes the mbarriers that the current thread has initialized visible to the copy engine.
void mbarriers_are_set_up();
/// @param bytes  additional bytes to expect in this phase
/// @return the phase's number
std::uint64_t mbarrier_arrive(std::uint64_t* word, std::size_t bytes, Site site,
                              unsigned arrivals = 1);
/// Returns when the phase of this parity is complete.
void mbarrier_wait(std::uint64_t* word, unsigned parity, Site site);
/// True if that phase is complete; if `waits`, returns only then. Polling a phase twice is allowed.
bool mbarrier_asks(std::uint64_t* word, unsigned parity, bool waits, Site site);

/// One or more matrices of 16-bit values or floats: the tensor map of copy_tile() and store_tile().
struct TileMap {
    const void* data = nullptr;
    std::int64_t rows = 0, columns = 0, pitch = 0;  // pitch: elements from row to row
    int rows_of_tile = 0;
    std::int64_t planes = 1, plane_pitch = 0;  // plane_pitch: elements from matrix to matrix
    int element_bytes = 2;
};
/// Starts copying the tile at this row and column, in the swizzled layout of tma.hpp.
void copy_tile(void* to_shared, const TileMap& map, std::int64_t plane, std::int64_t row,
               std::int64_t column, std::uint64_t* word, Site site);
/// Starts copying bytes unchanged: a multiple of 16, from and to multiples of 16.
void copy_bulk(void* to_shared, const void* from, std::size_t bytes, std::uint64_t* word,
               Site site);

/// Makes the thread's writes to shared memory visible to the copy engine and to wgmma.
void fence_proxy();
/// Starts storing a tile, swizzled as in tma.hpp, to this row and column.
void store_tile(const TileMap& map, std::int64_t row, std::int64_t column, const void* shared,
                Site site);
/// Commits the stores that this thread has started as one group.
void store_commit();
/// Waits until at most `groups` of this thread's latest groups still read shared memory.
void store_wait(int groups);

}  // namespace sixdays::emulator
