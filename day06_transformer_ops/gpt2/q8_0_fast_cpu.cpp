// The same product in an order that vector registers like.
#include "common/tensor/arguments.hpp"
#include "day06_transformer_ops/gpt2/q8_0.hpp"

namespace sixdays::gpt2 {
namespace {

// One row. Place j of every block adds to sum j, so 32 sums grow side by side and none waits for
// another. Compiled twice; the program takes the copy with 256-bit registers where the CPU has
// them.
#if defined(__x86_64__)
[[gnu::target_clones("avx2", "default")]]
#endif
float dot(const Q8Block* row, const float* x, std::int64_t blocks) {
    float sums[kQ8Block] = {};
    for (std::int64_t b = 0; b < blocks; ++b) {
        const float scale = static_cast<float>(row[b].scale);
        for (std::int64_t j = 0; j < kQ8Block; ++j) {
            sums[j] += scale * static_cast<float>(row[b].quants[j]) * x[b * kQ8Block + j];
        }
    }
    // In halves: 32 sums become 16, 8, 4, 2, 1.
    for (std::int64_t half = kQ8Block / 2; half > 0; half /= 2) {
        for (std::int64_t j = 0; j < half; ++j) sums[j] += sums[j + half];
    }
    return sums[0];
}

}  // namespace

void matvec_q8_0_fast_cpu(View<const Q8Block> in, View<const float> x, View<float> out) {
    check_matvec_q8_0(in, x, out);
    require_contiguous("matvec_q8_0_fast", "x", x);
    if (in.extent(1) > 1 && in.stride(1) != 1) {
        refuse("matvec_q8_0_fast: the blocks of a row of in lie " + std::to_string(in.stride(1)) +
               " blocks apart, but this loop wants them side by side");
    }
    for (std::int64_t n = 0; n < in.extent(0); ++n) {
        out(n) = dot(in.data + n * in.stride(0), x.data, in.extent(1));
    }
}

}  // namespace sixdays::gpt2
