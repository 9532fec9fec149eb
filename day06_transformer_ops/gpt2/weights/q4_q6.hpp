/// @file
/// Q4_0, Q5_0, Q4_K, Q5_K and Q6_K: weights in 4.5, 5.5 and 6.6 bits. A file called Q4_K_M or Q5_K_M
/// mixes them: most matrices are Q4_K or Q5_K, and those that suffer most from rounding are Q6_K.
/// Where rows are not a multiple of 256, Q4_K_M has Q5_0 instead of Q4_K.
///
/// All store unsigned quants of 4 to 6 bits, and weight = scale * (quant - zero) - minimum.
///
///     Q4_0    f16 scale | 16 bytes of quants                                          18 bytes
///             32 weights, zero is 8, no minimum
///
///     Q5_0    f16 scale | 4 bytes of high bits | 16 bytes of low bits                 22 bytes
///             As Q4_0, with a fifth bit for each quant; zero is 16.
///
///     Q4_K    f16 scale | f16 minimum | 12 bytes of scales | 128 bytes of quants     144 bytes
///             256 weights: 8 sub-blocks of 32. Sub-block s has a scale and a minimum of 6 bits,
///             and its weights are (scale * scale[s]) * quant - (minimum * minimum[s]).
///
///     Q5_K    f16 scale | f16 minimum | 12 bytes of scales | 32 bytes of high bits
///             | 128 bytes of low bits                                                176 bytes
///             As Q4_K, with a fifth bit for each quant.
///
///     Q6_K    128 bytes of low bits | 64 bytes of high bits | 16 scales | f16 scale  210 bytes
///             256 weights: 16 sub-blocks of 16. Sub-block s has a scale of 8 bits, signed, and its
///             weights are (scale * scale[s]) * (quant - 32).
///
/// **Where a quant is.** Blocks within blocks are strides again. Split a weight's index within its
/// block into the dimensions below, the last one contiguous. Two dot products with strides give the
/// byte, and the bit within the byte where its 4 low bits (or its 1 or 2 high bits) begin:
///
///                        dimensions      byte             bit
///     Q4_0  quants       (2, 16)         (0, 1)           (4, 0)
///     Q5_0  low bits     (2, 16)         (0, 1)           (4, 0)
///     Q5_0  high bits    (4, 8)          (1, 0)           (0, 1)
///     Q4_K  quants       (4, 2, 32)      (32, 0, 1)       (0, 4, 0)
///     Q5_K  low bits     (4, 2, 32)      (32, 0, 1)       (0, 4, 0)
///     Q5_K  high bits    (8, 32)         (0, 1)           (1, 0)
///     Q6_K  low bits     (2, 2, 2, 32)   (64, 0, 32, 1)   (0, 4, 0, 0)
///     Q6_K  high bits    (2, 4, 32)      (32, 0, 1)       (0, 2, 0)
///
/// So one byte of Q4_0 has quant j in its low half and quant j + 16 in its high half, and one byte
/// of Q6_K's high bits serves four weights that are 32 apart. The fifth bits are consecutive in Q5_0;
/// in Q5_K, a byte has those of eight weights that are 32 apart.
///
/// **The 12 bytes of Q4_K and Q5_K**, in bits 7 to 0, for r = 0 to 3. The upper 2 bits of the later
/// sub-blocks' numbers fill the gaps that the 6 bits of the earlier ones leave:
///
///     byte r        scale[r + 4]: bits 5, 4     | scale[r]
///     byte r + 4    minimum[r + 4]: bits 5, 4   | minimum[r]
///     byte r + 8    minimum[r + 4]: bits 3 to 0 | scale[r + 4]: bits 3 to 0
///
/// **Rounding.** An f16 has 11 significant bits, a scale at most 7 (-128 has one), a quant at most
/// 5: all products fit in a float's 24 and are exact. Only the difference in Q4_K and Q5_K rounds,
/// once. So any order of the products gives the same bits, and a fused multiply-add does, too.
///
/// The formats: block_q4_0, block_q5_0, block_q4_K, block_q5_K and block_q6_K in
/// https://github.com/ggml-org/llama.cpp/blob/master/ggml/src/ggml-common.h, decoded in
/// https://github.com/ggml-org/llama.cpp/blob/master/gguf-py/gguf/quants.py
#pragma once

#include <cstdint>
#include <cstring>

#include "common/tensor/half.hpp"

namespace sixdays::gpt2 {

/// Neighbouring weights that are unpacked together: a block of Q4_0 and Q5_0, an eighth of the
/// others.
inline constexpr int kRun = 32;

/// 32 weights in 18 bytes.
struct Q4Block {
    static constexpr int kWeights = 32, kRuns = kWeights / kRun;  // of a block
    static constexpr int kHigh = 0;                               // bits of a quant beyond 4
    static constexpr int kZero = 8;                               // the quant of weight 0

    f16 scale;                // of all 32
    std::uint8_t quants[16];  // 4 bits each
};
static_assert(sizeof(Q4Block) == 18 && alignof(Q4Block) == 2);

/// 32 weights in 22 bytes.
struct Q5Block {
    static constexpr int kWeights = 32, kRuns = kWeights / kRun;  // of a block
    static constexpr int kHigh = 1;                               // bits of a quant beyond 4
    static constexpr int kZero = 16;                              // the quant of weight 0

    f16 scale;                // of all 32
    std::uint8_t high[4];     // the upper bit of each quant
    std::uint8_t quants[16];  // the lower 4 bits
};
static_assert(sizeof(Q5Block) == 22 && alignof(Q5Block) == 2);

/// 256 weights in 144 bytes.
struct Q4KBlock {
    static constexpr int kWeights = 256, kRuns = kWeights / kRun;  // of a block
    static constexpr int kHigh = 0;                                // bits of a quant beyond 4
    static constexpr int kZero = 0;                                // a minimum takes its part

    f16 scale, minimum;        // of the sub-blocks' scales and minima
    std::uint8_t scales[12];   // of 8 sub-blocks: scales and minima, 6 bits each
    std::uint8_t quants[128];  // 4 bits each
};
static_assert(sizeof(Q4KBlock) == 144 && alignof(Q4KBlock) == 2);

/// 256 weights in 176 bytes.
struct Q5KBlock {
    static constexpr int kWeights = 256, kRuns = kWeights / kRun;  // of a block
    static constexpr int kHigh = 1;                                // bits of a quant beyond 4
    static constexpr int kZero = 0;                                // a minimum takes its part

    f16 scale, minimum;        // of the sub-blocks' scales and minima
    std::uint8_t scales[12];   // of 8 sub-blocks: scales and minima, 6 bits each
    std::uint8_t high[32];     // the upper bit of each quant
    std::uint8_t quants[128];  // the lower 4 bits
};
static_assert(sizeof(Q5KBlock) == 176 && alignof(Q5KBlock) == 2);

/// 256 weights in 210 bytes.
struct Q6KBlock {
    static constexpr int kWeights = 256, kRuns = kWeights / kRun;  // of a block
    static constexpr int kHigh = 2;                                // bits of a quant beyond 4
    static constexpr int kZero = 32;                               // the quant of weight 0

    std::uint8_t low[128];   // the lower 4 bits of each quant
    std::uint8_t high[64];   // the upper 2 bits
    std::int8_t scales[16];  // of 16 sub-blocks
    f16 scale;               // of the scales
};
static_assert(sizeof(Q6KBlock) == 210 && alignof(Q6KBlock) == 2);

/// Blocks whose sub-blocks have a minimum: Q4_K and Q5_K.
template <class B>
concept HasMinimum = requires(const B& block) {
    block.minimum;
};

/// The 12 bytes of Q4_K and Q5_K, unpacked: each sub-block's scale and minimum.
template <HasMinimum B>
[[gnu::always_inline]] inline void six_bits(const B& block, std::uint8_t (&scale)[8],
                                            std::uint8_t (&minimum)[8]) {
    for (int r = 0; r < 4; ++r) {
        const std::uint8_t a = block.scales[r], b = block.scales[r + 4], c = block.scales[r + 8];
        scale[r] = a & 63;
        minimum[r] = b & 63;
        scale[r + 4] = static_cast<std::uint8_t>((c & 15) | a >> 6 << 4);
        minimum[r + 4] = static_cast<std::uint8_t>(c >> 4 | b >> 6 << 4);
    }
}

/// What a run's quants are multiplied by, exact: weight j of the run is
/// scale[j / 16] * (quant - kZero) - minimum.
struct RunScales {
    float scale[2];  // of weights 0 to 15, and of 16 to 31
    float minimum;   // of all 32
};
/// The scales and the minimum of run number `run` of a block.
template <class B>
[[gnu::always_inline]] inline RunScales run_scales(const B& block, int) {
    const float scale = static_cast<float>(block.scale);
    return {{scale, scale}, 0};
}
template <HasMinimum B>
[[gnu::always_inline]] inline RunScales run_scales(const B& block, int run) {
    std::uint8_t scales[8], minima[8];
    six_bits(block, scales, minima);
    const float scale = static_cast<float>(block.scale) * scales[run];
    return {{scale, scale}, static_cast<float>(block.minimum) * minima[run]};
}
[[gnu::always_inline]] inline RunScales run_scales(const Q6KBlock& block, int run) {
    const float scale = static_cast<float>(block.scale);
    return {{scale * block.scales[2 * run], scale * block.scales[2 * run + 1]}, 0};
}

/// Quant number j of a run, without its lower 4 bits.
template <class B>
[[gnu::always_inline]] inline int upper_bits(const B&, int, int) {
    return 0;
}
[[gnu::always_inline]] inline int upper_bits(const Q5Block& block, int, int j) {
    std::uint32_t all;  // as one little-endian word, for a loop that can be vectorized
    std::memcpy(&all, block.high, sizeof all);
    return static_cast<int>(all >> j & 1) << 4;
}
[[gnu::always_inline]] inline int upper_bits(const Q5KBlock& block, int run, int j) {
    return (block.high[j] >> run & 1) << 4;
}
[[gnu::always_inline]] inline int upper_bits(const Q6KBlock& block, int run, int j) {
    return (block.high[run / 4 * 32 + j] >> run % 4 * 2 & 3) << 4;
}

/// The quants of run number `run` of a block, one per byte.
template <class B>
[[gnu::always_inline]] inline void unpack(const B& block, int run, std::uint8_t (&out)[kRun]) {
    const auto put = [&](int j, int low) {
        out[j] = static_cast<std::uint8_t>((low & 15) | upper_bits(block, run, j));
    };
    for (int j = 0; j < 16; ++j) put(j, block.quants[j]);
    for (int j = 0; j < 16; ++j) put(16 + j, block.quants[j] >> 4);
}
template <HasMinimum B>
[[gnu::always_inline]] inline void unpack(const B& block, int run, std::uint8_t (&out)[kRun]) {
    const std::uint8_t* const in = block.quants + run / 2 * 32;
    const int bit = run % 2 * 4;
    for (int j = 0; j < kRun; ++j) {
        out[j] = static_cast<std::uint8_t>((in[j] >> bit & 15) | upper_bits(block, run, j));
    }
}
[[gnu::always_inline]] inline void unpack(const Q6KBlock& block, int run,
                                          std::uint8_t (&out)[kRun]) {
    const std::uint8_t* const in = block.low + run / 4 * 64 + run % 2 * 32;
    const int bit = run / 2 % 2 * 4;
    for (int j = 0; j < kRun; ++j) {
        out[j] = static_cast<std::uint8_t>((in[j] >> bit & 15) | upper_bits(block, run, j));
    }
}

}  // namespace sixdays::gpt2
