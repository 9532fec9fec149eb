#include "day06_transformer_ops/exercises/decode_q4/decode_q4.hpp"

namespace sixdays::day06_transformer_ops {

void decode_q4_cpu(View<const gpt2::Q4KBlock> in, View<float> out) {
    check_decode_q4(in, out);
    for (std::int64_t b = 0; b < in.extent(0); ++b) {
        const gpt2::Q4KBlock& block = in(b);
        std::uint8_t scales[8], minima[8];
        gpt2::six_bits(block, scales, minima);  // 8 scales, 8 minima
        for (std::int64_t s = 0; s < 8; ++s) {
            const float scale = static_cast<float>(block.scale) * scales[s];
            const float minimum = static_cast<float>(block.minimum) * minima[s];
            for (std::int64_t j = 0; j < 32; ++j) {
                const int both = block.quants[s / 2 * 32 + j];
                const int quant = s % 2 == 0 ? both & 15 : both >> 4;
                out(b, s * 32 + j) = scale * static_cast<float>(quant) - minimum;
            }
        }
    }
}

}  // namespace sixdays::day06_transformer_ops
