#include "common/bench/roofline.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "common/bench/measure.hpp"

namespace sixdays::bench {
namespace {

// Three significant digits: 4268, 98.1, 3.07, 0.189.
std::string digits(double value) {
    char text[32];
    const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3;
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

std::string time_text(double seconds) {
    if (seconds < 1e-3) return digits(seconds * 1e6) + " us";
    if (seconds < 1) return digits(seconds * 1e3) + " ms";
    return digits(seconds) + " s";
}

std::string bytes_text(double bytes) {
    if (bytes < 1e6) return digits(bytes / 1e3) + " kB";
    if (bytes < 1e9) return digits(bytes / 1e6) + " MB";
    return digits(bytes / 1e9) + " GB";
}

}  // namespace

Bound bound(const Work& work, const Limits& limits) {
    const double paired = std::min(work.bytes_read, work.bytes_written);
    const double only_read = work.bytes_read - paired, only_written = work.bytes_written - paired;
    Bound memory{"copy",
                 2 * paired / limits.copy + only_read / limits.read + only_written / limits.write};
    if (only_read > 2 * paired) memory.name = "read";
    if (only_written > 2 * paired) memory.name = "write";
    const Bound arithmetic{"fma", work.flops / limits.fma};
    return arithmetic.seconds > memory.seconds ? arithmetic : memory;
}

std::string roofline(const Work& work, double seconds, const Limits& limits) {
    const Bound b = bound(work, limits);
    const bool arithmetic = b.name == "fma";
    const double rate = (arithmetic ? work.flops : work.bytes()) / seconds;
    return (arithmetic ? digits(work.flops / 1e9) + " GFLOP" : bytes_text(work.bytes())) + " in " +
           time_text(seconds) + " = " + digits(rate / 1e9) +
           (arithmetic ? " GFLOP/s, " : " GB/s, ") +
           std::to_string(std::lround(100 * b.seconds / seconds)) + " % of " + limits.whose +
           "'s " + b.name;
}

std::string to_string(const Limits& limits) {
    return "copy " + digits(limits.copy / 1e9) + ", read " + digits(limits.read / 1e9) +
           ", write " + digits(limits.write / 1e9) + " GB/s, fma " + digits(limits.fma / 1e9) +
           " GFLOP/s";
}

// --- this CPU ------------------------------------------------------------------------------------
namespace {

// Keeps the optimizer from dropping an unused result.
volatile double kept;

// Four floats in one SIMD register, which every current CPU has.
typedef float Lanes __attribute__((vector_size(16)));

// Eight independent sums: a single one would be bound by the latency of an addition.
float sum_of(const std::vector<float>& x) {
    const auto four = [&](std::size_t i) {
        Lanes lanes;
        std::memcpy(&lanes, x.data() + i, sizeof lanes);
        return lanes;
    };
    Lanes s0 = {}, s1 = {}, s2 = {}, s3 = {}, s4 = {}, s5 = {}, s6 = {}, s7 = {};
    for (std::size_t i = 0; i + 32 <= x.size(); i += 32) {
        s0 += four(i);
        s1 += four(i + 4);
        s2 += four(i + 8);
        s3 += four(i + 12);
        s4 += four(i + 16);
        s5 += four(i + 20);
        s6 += four(i + 24);
        s7 += four(i + 28);
    }
    const Lanes all = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7;
    return all[0] + all[1] + all[2] + all[3];
}

// Multiply-adds in eight independent chains, which hide their latency. Eight variables, not an
// array: with an array the compiler may swap the loops and run one chain at a time.
double flops_of_chains(std::int64_t steps) {
    const Lanes a = {0.999f, 0.999f, 0.999f, 0.999f}, b = {0.001f, 0.001f, 0.001f, 0.001f};
    Lanes x0 = b, x1 = a, x2 = b + b, x3 = a + a, x4 = a + b, x5 = a - b, x6 = a * b, x7 = -a;
    for (std::int64_t i = 0; i < steps; ++i) {
        x0 = x0 * a + b;
        x1 = x1 * a + b;
        x2 = x2 * a + b;
        x3 = x3 * a + b;
        x4 = x4 * a + b;
        x5 = x5 * a + b;
        x6 = x6 * a + b;
        x7 = x7 * a + b;
    }
    const Lanes all = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7;
    kept = static_cast<double>(all[0] + all[1] + all[2] + all[3]);
    return 8.0 * 4 * 2 * static_cast<double>(steps);
}

}  // namespace

Limits measure_host_limits() {
    constexpr std::size_t kElements = std::size_t{16} << 20;  // 64 MB each
    constexpr double kBytes = kElements * sizeof(float);
    std::vector<float> from(kElements, 1.0f), to(kElements, 2.0f);
    Limits limits;
    limits.whose = "this CPU core";
    constexpr int kRuns = 5;
    limits.copy = 2 * kBytes / host_seconds(kRuns, [&] {
                                   std::memcpy(to.data(), from.data(), kElements * sizeof(float));
                                   kept = static_cast<double>(to[kElements / 2]);
                               }).p10;
    limits.read =
        kBytes / host_seconds(kRuns, [&] { kept = static_cast<double>(sum_of(from)); }).p10;
    limits.write = kBytes / host_seconds(kRuns, [&] {
                                std::memset(to.data(), 0, kElements * sizeof(float));
                                kept = static_cast<double>(to[kElements / 2]);
                            }).p10;
    constexpr std::int64_t kSteps = 300000;
    double flops = 0;
    const double seconds = host_seconds(kRuns, [&] { flops = flops_of_chains(kSteps); }).p10;
    limits.fma = flops / seconds;
    return limits;
}

}  // namespace sixdays::bench
