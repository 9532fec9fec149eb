/// @file
/// What a stride costs, worked out before anything is measured.
///
/// Memory moves in units, not in elements: between a multiprocessor and the cache in sectors of 32
/// bytes, between the cache and device memory in pieces that depend on the machine. A unit moves
/// whole, whether one of its floats was asked for or all. So count the units that a walk touches:
///
///     stride (floats)     1    2    4    8   16   32
///     bytes apart         4    8   16   32   64  128
///     of 32, used        32   16    8    4    4    4    from 8 on a sector a float: 1/8 is used
///     of 64, used        64   32   16    8    4    4    from 16 on: 1/16
#pragma once

#include <cstdint>

#include "common/bench/roofline.hpp"
#include "common/tensor/layout.hpp"

namespace sixdays::day02_strides {

inline constexpr std::int64_t kSector = 32;  // bytes
inline constexpr std::int64_t kHalf = 64;    // two sectors: half of a cache line of 128 bytes

/// Units of memory that a walk over floats touches.
struct Units {
    std::int64_t touched = 0;  // one element or more of them
    std::int64_t whole = 0;    // every element of them
};

/// Counts each unit once, however often it is touched: what must move if a cache keeps it.
/// @param layout  of floats; where simplify() leaves more than one dim, at most 2^22 elements
/// @param unit    bytes, a power of two from 4 on
/// @param lowest  where the lowest offset lies: elements past a multiple of `unit` bytes
/// @throws std::invalid_argument  another unit, lowest < 0, too many elements to count
[[nodiscard]] Units count_units(const Layout& layout, std::int64_t unit, std::int64_t lowest = 0);

/// Counts per request, as the emulator does: for each j, each warp of 32 neighbours t asks once,
/// and a sector counts for every request that touches it.
/// @param layout  (J, T) of floats, walked as sum_columns and ramp do
[[nodiscard]] std::int64_t sectors_asked_for(const Layout& layout, std::int64_t lowest = 0);

/// How a machine's memory moves. The defaults are an H200's. Its profiler counts the first three:
/// at stride 16 and beyond, 64 bytes come from device memory for each float read, and 32 come and
/// 32 go for each float written. The last two are fitted to the times of the sweep: a walk that
/// visits many blocks of 256 bytes and takes little from each is slower than its bytes explain.
struct Memory {
    std::int64_t read_unit = kHalf;     // bytes that come from device memory at once
    std::int64_t write_unit = kSector;  // bytes that go to it at once
    bool fills_partly_written = true;   // must a unit that is written in part be read first?
    std::int64_t block = 256;           // bytes
    std::int64_t visit = 64;            // bytes that a visit of a block costs on top of those moved
};

/// Bytes that really move when all of `layout` is read once, or written once, and nothing of it is
/// in a cache. bench::bound() makes seconds of them.
[[nodiscard]] bench::Work moved_by_reading(const Layout& layout, const Memory& memory = {});
[[nodiscard]] bench::Work moved_by_writing(const Layout& layout, const Memory& memory = {});

/// Seconds for all of `layout`, read once: moved bytes and visits, at a rate where a walk without
/// gaps takes bytes / limits.read. Within 6 % of what an H200 takes at strides 1 to 129.
[[nodiscard]] double seconds_to_read(const Layout& layout, const bench::Limits& limits,
                                     const Memory& memory = {});

/// Seconds for all of `layout`, written once: units written whole at limits.write, units filled
/// first at limits.copy. An H200 keeps to it up to stride 10 or so; beyond, it takes up to 4 times
/// as long, and we have no model of that.
[[nodiscard]] double seconds_to_write(const Layout& layout, const bench::Limits& limits,
                                      const Memory& memory = {});

/// Share of the moved bytes that were asked for: the bandwidth left, 1 at stride 1.
[[nodiscard]] double useful_share(const Layout& layout, const bench::Work& moved);

}  // namespace sixdays::day02_strides
