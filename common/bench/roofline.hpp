/// @file
/// How near a run came to what this machine can do: the roofline line of every executable.
#pragma once

#include <string>

namespace sixdays::bench {

/// What one machine reaches in plain copies, sums, fills and FMA loops, measured and not looked up.
struct Limits {
    std::string whose;  // "this CPU, one core"
    double copy = 0;    // bytes per second, read plus written
    double read = 0;    // bytes per second
    double write = 0;   // bytes per second
    double fma = 0;     // floating-point operations per second; one fma is two
};

/// What a computation cannot avoid: every input byte read once, every output byte written once.
struct Work {
    double bytes_read = 0;
    double bytes_written = 0;
    double flops = 0;

    double bytes() const noexcept { return bytes_read + bytes_written; }
};

/// The limit that holds this work back: memory or arithmetic, whichever alone takes longer.
///
/// For memory, bytes read and bytes written pair up and go at the rate of a copy; those left over
/// go at the rate of reading or of writing alone. So work that only reads is held against `read`,
/// and a sum of two arrays, two bytes read for one written, against something in between.
struct Bound {
    std::string name;    // "copy", "read", "write": what most of the bytes do; or "fma"
    double seconds = 0;  // from device memory no run is faster; what lies in a cache may be
};
[[nodiscard]] Bound bound(const Work& work, const Limits& limits);

/// "805 MB in 0.189 ms = 4260 GB/s, 99 % of this GPU's copy"; GFLOP/s where arithmetic is the
/// limit.
[[nodiscard]] std::string roofline(const Work& work, double seconds, const Limits& limits);

/// "copy 4268, read 4690, write 4689 GB/s, fma 64812 GFLOP/s"
[[nodiscard]] std::string to_string(const Limits& limits);

/// This CPU, one core: memcpy, a sum, memset and an FMA loop over memory larger than its caches.
/// Takes about a quarter of a second.
[[nodiscard]] Limits measure_host_limits();

}  // namespace sixdays::bench
