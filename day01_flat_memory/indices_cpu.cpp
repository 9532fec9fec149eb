// One loop per dimension; the innermost runs along the dimension with stride 1.
#include "day01_flat_memory/indices.hpp"

#include "day01_flat_memory/offsets.hpp"

namespace sixdays::day01_flat_memory {

// --- loops ---------------------------------------------------------------------------------------
namespace {

// [indices2]
void indices2_loop(std::int64_t base, std::int64_t M, std::int64_t K, float* out) {
    for (std::int64_t m = 0; m < M; ++m) {
        for (std::int64_t k = 0; k < K; ++k) {
            const std::int64_t value = m * base + k;
            out[offset2(m, k, K)] = static_cast<float>(value);
        }
    }
}
// [indices2]

void indices3_loop(std::int64_t base, std::int64_t B, std::int64_t T, std::int64_t C, float* out) {
    for (std::int64_t b = 0; b < B; ++b) {
        for (std::int64_t t = 0; t < T; ++t) {
            for (std::int64_t c = 0; c < C; ++c) {
                const std::int64_t value = (b * base + t) * base + c;
                out[offset3(b, t, c, T, C)] = static_cast<float>(value);
            }
        }
    }
}

void indices4_loop(std::int64_t base, std::int64_t B, std::int64_t H, std::int64_t T,
                   std::int64_t S, float* out) {
    for (std::int64_t b = 0; b < B; ++b) {
        for (std::int64_t h = 0; h < H; ++h) {
            for (std::int64_t q = 0; q < T; ++q) {
                for (std::int64_t k = 0; k < S; ++k) {
                    const std::int64_t value = ((b * base + h) * base + q) * base + k;
                    out[offset4(b, h, q, k, H, T, S)] = static_cast<float>(value);
                }
            }
        }
    }
}

}  // namespace

void indices_cpu(std::int64_t base, View<float> out) {
    check_indices(base, out);
    if (out.size() == 0) return;  // (2^20, 2^20, 0) would loop 2^40 times over nothing
    const Shape& s = out.layout.shape;
    if (s.rank == 2) indices2_loop(base, s[0], s[1], out.data);
    if (s.rank == 3) indices3_loop(base, s[0], s[1], s[2], out.data);
    if (s.rank == 4) indices4_loop(base, s[0], s[1], s[2], s[3], out.data);
}

}  // namespace sixdays::day01_flat_memory
