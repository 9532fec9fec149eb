// The plain loop.
#include "day06_transformer_ops/gpt2/weights/q8_0.hpp"

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

}  // namespace sixdays::gpt2
