// One loop per dim, the innermost over the dim whose neighbours are neighbours in memory.
#include "day01_flat_memory/fill.hpp"

#include "common/tensor/arguments.hpp"
#include "day01_flat_memory/offsets.hpp"

namespace sixdays::day01_flat_memory {

// --- loops ---------------------------------------------------------------------------------------
namespace {

// [fill2]
void fill2_loop(std::int64_t base, std::int64_t M, std::int64_t K, float* out) {
    for (std::int64_t m = 0; m < M; ++m) {
        for (std::int64_t k = 0; k < K; ++k) {
            const std::int64_t value = m * base + k;
            out[offset2(m, k, K)] = static_cast<float>(value);
        }
    }
}
// [fill2]

// [fill3]
void fill3_loop(std::int64_t base, std::int64_t B, std::int64_t T, std::int64_t C, float* out) {
    for (std::int64_t b = 0; b < B; ++b) {
        for (std::int64_t t = 0; t < T; ++t) {
            for (std::int64_t c = 0; c < C; ++c) {
                const std::int64_t value = (b * base + t) * base + c;
                out[offset3(b, t, c, T, C)] = static_cast<float>(value);
            }
        }
    }
}
// [fill3]

// [fill4]
void fill4_loop(std::int64_t base, std::int64_t B, std::int64_t NH, std::int64_t T, std::int64_t S,
                float* out) {
    for (std::int64_t b = 0; b < B; ++b) {
        for (std::int64_t h = 0; h < NH; ++h) {
            for (std::int64_t q = 0; q < T; ++q) {
                for (std::int64_t k = 0; k < S; ++k) {
                    const std::int64_t value = ((b * base + h) * base + q) * base + k;
                    out[offset4(b, h, q, k, NH, T, S)] = static_cast<float>(value);
                }
            }
        }
    }
}
// [fill4]

}  // namespace

void fill_cpu(std::int64_t base, View<float> out) {
    check_fill(base, out);
    const Shape& s = out.layout.shape;
    if (s.rank == 2) fill2_loop(base, s[0], s[1], out.data);
    if (s.rank == 3) fill3_loop(base, s[0], s[1], s[2], out.data);
    if (s.rank == 4) fill4_loop(base, s[0], s[1], s[2], s[3], out.data);
}

// --- what loop and port refuse, in the same words ------------------------------------------------

void check_fill(std::int64_t base, const View<float>& out) {
    if (out.rank() < 2 || out.rank() > 4) {
        refuse("fill: out has shape " + to_string(out.layout.shape) + " of rank " +
               std::to_string(out.rank()) + ", but fill is written for ranks 2, 3 and 4");
    }
    if (base < 1) refuse("fill: base is " + std::to_string(base) + ", but must be at least 1");
    if (out.rank() == 2) require_rows_fit("fill", out);
    require_contiguous("fill", "out", out);
    require_memory("fill", "out", out);
    // The largest value, at the last index, must fit; then all others do.
    std::int64_t largest = 0;
    for (int d = 0; d < out.rank(); ++d) {
        if (__builtin_mul_overflow(largest, base, &largest) ||
            __builtin_add_overflow(largest, out.extent(d) - 1, &largest)) {
            refuse("fill: with base " + std::to_string(base) + " the values of shape " +
                   to_string(out.layout.shape) + " do not fit in 64 bits");
        }
    }
}

}  // namespace sixdays::day01_flat_memory
