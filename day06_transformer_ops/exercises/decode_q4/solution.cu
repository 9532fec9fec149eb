// Exercise 15: decode the blocks of Q4_K.
// Specification:    day06_transformer_ops/exercises/decode_q4/decode_q4.hpp
// CPU reference:    day06_transformer_ops/exercises/decode_q4/decode_q4_cpu.cpp
// Hints:            common/learn hint day06 decode_q4
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/exercises/decode_q4/decode_q4.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = gpt2::Q4KBlock::kWeights;  // one thread block per block of weights

__global__ void decode_q4_kernel(const gpt2::Q4KBlock* in, float* out) {
    const gpt2::Q4KBlock& block = in[blockIdx.x];
    const int j = threadIdx.x;
    int scale = 0, minimum = 0, quant = 0;
    // your code: scale[s] and minimum[s], and the quant of weight j
    const int s = j / 32;
    if (s < 4) {
        scale = block.scales[s] & 63;
        minimum = block.scales[s + 4] & 63;
    } else {
        scale = (block.scales[s + 4] & 15) | block.scales[s - 4] >> 6 << 4;
        minimum = block.scales[s + 4] >> 4 | block.scales[s] >> 6 << 4;
    }
    quant = block.quants[s / 2 * 32 + j % 32] >> s % 2 * 4 & 15;
    // wrong 12345678: const int s = j / 32;
    // wrong 1: scale = block.scales[s < 4 ? s : s + 4];
    // wrong 1: minimum = block.scales[s + 4];
    // wrong 1: if (s >= 4) scale = (scale & 15) | block.scales[s - 4] >> 6 << 4;
    // wrong 1: if (s >= 4) minimum = minimum >> 4 | block.scales[s] >> 6 << 4;
    // wrong 2345678: scale = block.scales[s < 4 ? s : s + 4] & 63;
    // wrong 2345678: minimum = block.scales[s + 4] & 63;
    // wrong 2: if (s >= 4) scale = block.scales[s + 4] & 15;
    // wrong 2: if (s >= 4) minimum = block.scales[s + 4] >> 4;
    // wrong 3: if (s >= 4) scale = block.scales[s + 4] >> 4 | block.scales[s - 4] >> 6 << 4;
    // wrong 3: if (s >= 4) minimum = (block.scales[s + 4] & 15) | block.scales[s] >> 6 << 4;
    // wrong 45678: if (s >= 4) scale = (block.scales[s + 4] & 15) | block.scales[s - 4] >> 6 << 4;
    // wrong 4567: if (s >= 4) minimum = block.scales[s + 4] >> 4 | block.scales[s] >> 6 << 4;
    // wrong 8: if (s >= 4) minimum = block.scales[s + 4] >> 4 | block.scales[s - 4] >> 6 << 4;
    // wrong 1238: quant = block.quants[s / 2 * 32 + j % 32] >> s % 2 * 4 & 15;
    // wrong 4: quant = block.quants[j / 2] >> j % 2 * 4 & 15;
    // wrong 5: quant = block.quants[s / 2 * 32 + j % 32] >> (1 - s % 2) * 4 & 15;
    // wrong 6: quant = block.quants[j % 128] >> j / 128 * 4 & 15;
    // wrong 7: quant = block.quants[s / 2 * 32 + j % 32] >> s % 2 * 4;
    // told: contains bits 5 and 4 of a later sub-block
    // told 2: Bits 5 and 4 of the later sub-blocks are missing
    // told 3: The lower bits of the later scales and minima are exchanged
    // told 4: Neighbouring weights do not share a byte
    // told 5: Lower and upper halves of the bytes are exchanged
    // told 6: A byte holds weights that are 32 apart, not 128
    // told 7: also contains that of the odd one
    // told 8: The upper bits of the later minima were taken from the scales
    // end of your code
    const float by = static_cast<float>(block.scale) * static_cast<float>(scale);
    const float less = static_cast<float>(block.minimum) * static_cast<float>(minimum);
    out[std::int64_t{blockIdx.x} * kThreads + j] = by * static_cast<float>(quant) - less;
}

}  // namespace

void decode_q4_cuda(View<const gpt2::Q4KBlock> in, View<float> out, gpu::Stream stream) {
    check_decode_q4(in, out);
    if (in.size() == 0) return;
    const unsigned grid = gpu::blocks_for(in.size(), 1);
    decode_q4_kernel<<<grid, kThreads, 0, stream>>>(in.data, out.data);
    gpu::check_launch("decode_q4_kernel", grid, kThreads);
}

}  // namespace sixdays::day06_transformer_ops
