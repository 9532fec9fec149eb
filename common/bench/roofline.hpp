/// @file
/// How close a run came to the limits of this machine: the roofline line of every executable.
#pragma once

#include <string>

namespace sixdays::bench {

/// The measured limits of one machine: simple copies, sums, fills and FMA loops.
struct Limits {
    std::string whose;  ///< "this CPU, one core"
    double copy = 0;    ///< bytes per second, read plus written
    double read = 0;    ///< bytes per second
    double write = 0;   ///< bytes per second
    double fma = 0;     ///< floating-point operations per second; one fma is two
};

/// The minimum work of a computation: every input byte read once, every output byte written once.
struct Work {
    double bytes_read = 0;     ///< from memory
    double bytes_written = 0;  ///< to memory
    double flops = 0;          ///< floating-point operations; one fma is two

    /// Read plus written.
    double bytes() const noexcept { return bytes_read + bytes_written; }
};

/// What limits a computation, and for how long.
struct Bound {
    std::string name;    ///< "copy", "read", "write": what most of the bytes do; or "fma"
    double seconds = 0;  ///< the minimum from device memory; from a cache it may be faster
};
/// The limit of this work: memory or arithmetic, whichever alone takes longer. This is the roofline
/// model of Williams, Waterman and Patterson (2009, https://doi.org/10.1145/1498765.1498785).
///
/// For memory, pairs of bytes read and written move at copy bandwidth, and the rest at read or at
/// write bandwidth. So work that only reads is compared with `read`, and a sum of two arrays, two
/// bytes read for one written, with a mix of `copy` and `read`.
[[nodiscard]] Bound bound(const Work& work, const Limits& limits);

/// "805 MB in 0.189 ms = 4260 GB/s, 99 % of this GPU's copy"; GFLOP/s if compute-bound.
[[nodiscard]] std::string roofline(const Work& work, double seconds, const Limits& limits);

/// "copy 4268, read 4690, write 4689 GB/s, fma 64812 GFLOP/s"
[[nodiscard]] std::string to_string(const Limits& limits);

/// This CPU, one core: memcpy, a sum, memset and an FMA loop over memory larger than its caches.
/// Takes about a quarter of a second.
[[nodiscard]] Limits measure_host_limits();

}  // namespace sixdays::bench
