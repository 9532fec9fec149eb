/// @file
/// The cost of a stride, computed before it is measured.
///
/// Memory moves in units, not in elements: between an SM and the L2 cache in 32-byte sectors,
/// between the cache and device memory in units that depend on the GPU. A unit moves as a whole,
/// whether one of its floats is used or all of them. So count the units that a strided access
/// touches:
///
///     stride (floats)     1    2    4    8   16   32
///     bytes apart         4    8   16   32   64  128
///     of 32, used        32   16    8    4    4    4    from 8: one sector per float, 1/8 is used
///     of 64, used        64   32   16    8    4    4    from 16: 1/16
#pragma once

#include <cstdint>

#include "common/bench/roofline.hpp"
#include "common/tensor/layout.hpp"

namespace sixdays::day02_strides {

/// bytes that move between an SM and the L2 cache at once
inline constexpr std::int64_t kSector = 32;
inline constexpr std::int64_t kHalf = 64;  ///< bytes: two sectors, half of a 128-byte cache line

/// Units of memory that an access to floats touches.
struct Units {
    std::int64_t touched = 0;  ///< at least one element is used
    std::int64_t whole = 0;    ///< every element is used
};

/// Counts the units of `unit` bytes that an access to every element touches, each once, however
/// often it is touched: the traffic if a cache keeps it.
/// @param layout  of floats; where simplify() leaves more than one dimension, at most 2^22 elements
/// @param unit    bytes, a power of two, at least 4
/// @param lowest  position of the lowest offset: elements past a multiple of `unit` bytes
/// @throws std::invalid_argument  another unit, lowest < 0, too many elements to count
[[nodiscard]] Units count_units(const Layout& layout, std::int64_t unit, std::int64_t lowest = 0);

/// Counts sectors per request, as the emulator does: for each j, each warp of 32 neighbouring t
/// makes one request, and a sector counts once for each request that touches it.
/// @param layout  (J, T) of floats, accessed as by sum_columns_cuda() and ramp_cuda()
/// @param lowest  position of the lowest offset: elements past a multiple of 32 bytes
/// @throws std::invalid_argument  a rank other than 2
[[nodiscard]] std::int64_t sectors_asked_for(const Layout& layout, std::int64_t lowest = 0);

/// The memory system of a GPU. The defaults are an H200's. The first three come from its profiler:
/// at stride 16 and above, 64 bytes are read from device memory for each float read, and 32 are
/// read and 32 written for each float written. The last two are fitted to the times of the sweep:
/// an access to many blocks of 256 bytes that uses little of each is slower than its bytes explain.
struct Memory {
    std::int64_t read_unit = kHalf;     ///< bytes per read of device memory
    std::int64_t write_unit = kSector;  ///< bytes per write
    bool fills_partly_written = true;   ///< a partly written unit is read first
    std::int64_t block = 256;           ///< bytes
    std::int64_t visit = 64;            ///< extra cost of each block, in bytes
};

/// Bytes that actually move when all of `layout`, of floats, is read once and none of it is cached.
/// bench::bound() converts them to seconds.
/// @throws std::invalid_argument  as count_units()
[[nodiscard]] bench::Work moved_by_reading(const Layout& layout, const Memory& memory = {});
/// Bytes that actually move when all of `layout`, of floats, is written once and none of it is
/// cached; partly written units are read first.
/// @throws std::invalid_argument  as count_units()
[[nodiscard]] bench::Work moved_by_writing(const Layout& layout, const Memory& memory = {});

/// Seconds to read all of `layout` once: moved bytes plus block costs, at a rate such that an
/// access without gaps takes bytes / limits.read. Within 6 % of an H200's time at strides 1 to 129.
[[nodiscard]] double seconds_to_read(const Layout& layout, const bench::Limits& limits,
                                     const Memory& memory = {});

/// Seconds to write all of `layout` once: whole units at limits.write, units that are read first at
/// limits.copy. An H200 agrees up to a stride of about 10. Above that it takes up to 4 times as
/// long, which this model does not explain.
[[nodiscard]] double seconds_to_write(const Layout& layout, const bench::Limits& limits,
                                      const Memory& memory = {});

/// Fraction of the moved bytes that are used, which is the effective bandwidth: 1 at stride 1.
[[nodiscard]] double useful_fraction(const Layout& layout, const bench::Work& moved);

}  // namespace sixdays::day02_strides
