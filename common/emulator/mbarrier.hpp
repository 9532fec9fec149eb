/// @file
/// mbarriers, and copies of tiles that end with one, without the hardware: the emulated twins of
/// the wrappers in common/gpu/ptx/mbarrier.hpp and tma.hpp.
///
/// A requested tile arrives when a thread waits for its phase, not before. Until then its target is
/// pending: a read or write there is reported, with what is missing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulated/language.h"

namespace sixdays::emulator {

/// @param arrivals  of each phase
void mbarrier_init(std::uint64_t* word, unsigned arrivals, Site site);
/// The copy engine sees all that the current thread has set up.
void mbarriers_are_set_up();
/// @param bytes  that are told to come in this phase, besides
/// @return the phase's number
std::uint64_t mbarrier_arrive(std::uint64_t* word, std::size_t bytes, Site site,
                              unsigned arrivals = 1);
/// Until the phase of this parity is complete.
void mbarrier_wait(std::uint64_t* word, unsigned parity, Site site);
/// Is it? One that `waits` comes back when it is. Asking twice for one phase is no mistake here.
bool mbarrier_asks(std::uint64_t* word, unsigned parity, bool waits, Site site);

/// Matrices of 16-bit numbers, or one, as copy_tile() is told of them.
struct TileMap {
    const void* data = nullptr;
    std::int64_t rows = 0, columns = 0, pitch = 0;  // pitch: numbers from row to row
    int rows_of_tile = 0;
    std::int64_t planes = 1, plane_pitch = 0;  // plane_pitch: numbers from matrix to matrix
};
/// Asks for the tile of 64 columns that begins at this row and column. It lies swizzled: see
/// tma.hpp.
void copy_tile(void* to_shared, const TileMap& map, std::int64_t plane, std::int64_t row,
               std::int64_t column, std::uint64_t* word, Site site);
/// Asks for bytes as they lie: a multiple of 16, as both addresses are.
void copy_bulk(void* to_shared, const void* from, std::size_t bytes, std::uint64_t* word,
               Site site);

}  // namespace sixdays::emulator
