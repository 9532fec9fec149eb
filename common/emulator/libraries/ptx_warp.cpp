/// @file
/// mma.sync: matrices are distributed over a warp's registers as specified in the PTX manual.
#include "emulated/ptx.h"

#include <cstring>

#include "common/emulator/libraries/exchange.hpp"
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace sixdays::emulator {

void spread_matrices(std::uint32_t (&to)[4], const void* row, bool transposed, Site site) {
    const unsigned char* const all = exchange(row, 16, site);
    const int lane = static_cast<int>(ptx::lane_id());
    const auto element = [&](int matrix, int r, int c) {
        std::uint16_t bits;
        std::memcpy(&bits, all + static_cast<std::size_t>(8 * matrix + r) * kMostShown + 2 * c, 2);
        return std::uint32_t{bits};
    };
    for (int i = 0; i < 4; ++i) {
        const int r = lane / 4, c = lane % 4 * 2;
        to[i] = transposed ? element(i, c, r) | element(i, c + 1, r) << 16
                           : element(i, r, c) | element(i, r, c + 1) << 16;
    }
}

}  // namespace sixdays::emulator

namespace sixdays::emulator::ptx {

namespace {

constexpr int kMostK = 16;

struct Shown {
    std::uint32_t a[4], b[2];
};

/// The fragments of all lanes, accessed by matrix element.
class Warp {
public:
    Warp(Factor factor, int k, const std::uint32_t* a, const std::uint32_t* b, Site site)
        : factor_(factor), in_eight_(factor == Factor::tf32 ? 4 : 8) {
        const auto of_a = static_cast<std::size_t>(factor == Factor::tf32 ? k / 2 : k / 4);
        Shown mine{};
        std::memcpy(mine.a, a, of_a * sizeof(*a));
        std::memcpy(mine.b, b, of_a / 2 * sizeof(*b));
        all_ = exchange(&mine, sizeof(mine), site);
    }
    float a(int row, int k) const {
        const int lane = row % 8 * 4 + place(k), part = row / 8 + 2 * (k / in_eight_);
        return value(of(lane).a[part], k);
    }
    float b(int k, int column) const {
        return value(of(column * 4 + place(k)).b[k / in_eight_], k);
    }

private:
    const Shown& of(int lane) const {
        return *reinterpret_cast<const Shown*>(all_ + static_cast<std::size_t>(lane) * kMostShown);
    }
    /// Which of four lanes holds it: each has two adjacent 16-bit values, or one of 32 bits.
    int place(int k) const { return factor_ == Factor::tf32 ? k % 4 : k % 8 / 2; }
    float value(std::uint32_t word, int k) const {
        if (factor_ == Factor::tf32) return __builtin_bit_cast(float, word & 0xffffe000u);
        const auto half = static_cast<std::uint16_t>(k % 2 == 0 ? word : word >> 16);
        return factor_ == Factor::f16 ? static_cast<float>(__half::from_bits(half))
                                      : static_cast<float>(__nv_bfloat16::from_bits(half));
    }

    Factor factor_;
    int in_eight_;  // number of k in the first register
    const unsigned char* all_;
};

}  // namespace

void mma_float(Factor factor, int k, const std::uint32_t* a, const std::uint32_t* b, const float* c,
               float* d, Site site) {
    const Warp warp(factor, k, a, b, site);
    const int t = static_cast<int>(lane_id());
    float rows[2][kMostK], columns[2][kMostK];  // the lane's four outputs are their products
    for (int j = 0; j < k; ++j) {
        for (int i = 0; i < 2; ++i) {
            rows[i][j] = warp.a(t / 4 + 8 * i, j);
            columns[i][j] = warp.b(j, 2 * (t % 4) + i);
        }
    }
    for (int i = 0; i < 4; ++i) {
        float sum = c[i];
        for (int j = 0; j < k; ++j) sum += rows[i / 2][j] * columns[i % 2][j];
        d[i] = sum;
    }
}

void mma_half(int k, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c,
              std::uint32_t* d, Site site) {
    float in[4], out[4];
    for (int i = 0; i < 4; ++i) {
        in[i] = __half::from_bits(static_cast<std::uint16_t>(c[i / 2] >> (i % 2 * 16)));
    }
    mma_float(Factor::f16, k, a, b, in, out, site);
    for (int i = 0; i < 2; ++i) {
        d[i] = std::uint32_t{__half(out[2 * i]).bits} | std::uint32_t{__half(out[2 * i + 1]).bits}
                                                            << 16;
    }
}

}  // namespace sixdays::emulator::ptx
