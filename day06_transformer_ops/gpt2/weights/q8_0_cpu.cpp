// The CPU references.
#include "day06_transformer_ops/gpt2/weights/q8_0.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/tensor/arguments.hpp"
#include "day06_transformer_ops/gpt2/weights/quantise.hpp"

namespace sixdays::gpt2 {

// [dequantise]
void dequantise_q8_0_cpu(View<const Q8Block> in, View<float> out) {
    check_dequantise_q8_0(in, out);
    for (std::int64_t n = 0; n < in.extent(0); ++n) {
        for (std::int64_t b = 0; b < in.extent(1); ++b) {
            const Q8Block& block = in(n, b);
            const float scale = static_cast<float>(block.scale);
            for (std::int64_t j = 0; j < kQ8Block; ++j) {
                const float quant = block.quants[j];
                out(n, b * kQ8Block + j) = scale * quant;
            }
        }
    }
}
// [dequantise]

void quantise_q8_0_cpu(View<const float> in, View<Q8Block> out) {
    check_quantise_q8_0(in, out);
    for (std::int64_t n = 0; n < out.extent(0); ++n) {
        for (std::int64_t b = 0; b < out.extent(1); ++b) {
            float largest = 0;
            for (std::int64_t j = 0; j < kQ8Block; ++j) {
                const float weight = in(n, b * kQ8Block + j);
                // 65519 is the largest that rounds to a finite f16
                if (!(std::fabs(weight) <= 127 * 65519.0f)) {
                    reject("quantise_q8_0: the weight at (", n, ", ", b * kQ8Block + j, ") is ",
                           weight, ", but a scale of 16 bits reaches 8320913");
                }
                largest = std::max(largest, std::fabs(weight));
            }
            const float scale = largest / 127;
            // Below the smallest normal number 1 / scale may be infinite, and the f16 is 0 anyway.
            const bool some = scale >= std::numeric_limits<float>::min();
            const float per_scale = some ? 1 / scale : 0;
            out(n, b).scale = f16(scale);
            for (std::int64_t j = 0; j < kQ8Block; ++j) {
                const float quant = std::round(in(n, b * kQ8Block + j) * per_scale);
                out(n, b).quants[j] = static_cast<std::int8_t>(quant);
            }
        }
    }
}

}  // namespace sixdays::gpt2
