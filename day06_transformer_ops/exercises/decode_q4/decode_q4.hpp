/// @file
/// Exercise 15 of Day 06: decode the blocks of Q4_K.
///
/// Medium, 30 minutes.
///
/// Page: docs/llama.md
///
/// A block of Q4_K holds 256 weights in 144 bytes: 8 sub-blocks of 32. Sub-block s, 0 to 7, has a
/// scale and a minimum, integers of 6 bits. The F16 number `block.scale` multiplies all eight
/// scales, and `block.minimum` all eight minima. Weight j belongs to sub-block s = j / 32 and has
/// an integer of 4 bits, its quant:
///
///     weight = (block.scale * scale[s]) * quant - (block.minimum * minimum[s])
///
/// **Quants.** Two neighbouring sub-blocks share 32 bytes, which begin at `quants[32 * (s / 2)]`.
/// Byte j % 32 of them has the quant of the even sub-block in bits 3 to 0, and that of the odd one
/// in bits 7 to 4.
///
/// **Scales and minima** are packed into `scales`, 12 bytes. The bytes of sub-blocks r and r + 4,
/// where r is 0 to 3:
///
///     byte            bits 7 and 6                    bits 5 to 0
///     scales[r]       bits 5 and 4 of scale[r + 4]    scale[r]
///     scales[r + 4]   bits 5 and 4 of minimum[r + 4]  minimum[r]
///
///     byte            bits 7 to 4                     bits 3 to 0
///     scales[r + 8]   bits 3 to 0 of minimum[r + 4]   bits 3 to 0 of scale[r + 4]
///
/// For example scales[1] = 0x85 = 10 000101, scales[5] = 0x41 = 01 000001 and scales[9] = 0x73 =
/// 0111 0011: scale[1] is 5, scale[5] is 10 0011 = 35, minimum[1] is 1, and minimum[5] is 01 0111 =
/// 23. `quants` and `scales` are arrays of std::uint8_t.
///
/// One thread block decodes one block of Q4_K. It has 256 threads, and thread j decodes weight j.
///
/// Write the kernel in my/day06_transformer_ops/decode_q4.cu, then run
/// `common/learn check day06`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"
#include "day06_transformer_ops/gpt2/weights/q4_q6.hpp"

namespace sixdays::day06_transformer_ops {

/// out(b, j) = weight j of block b. The products are exact in float, and the difference rounds
/// once. The format: block_q4_K in
/// https://github.com/ggml-org/llama.cpp/blob/master/ggml/src/ggml-common.h
/// @param in   (B), contiguous
/// @param out  (B, 256), contiguous, not overlapping `in`
/// @throws std::invalid_argument  other shapes or strides, a null pointer, overlap
void decode_q4_cpu(View<const gpt2::Q4KBlock> in, View<float> out);
void decode_q4_cuda(View<const gpt2::Q4KBlock> in, View<float> out, gpu::Stream stream = {});
void check_decode_q4(const View<const gpt2::Q4KBlock>& in, const View<float>& out);

}  // namespace sixdays::day06_transformer_ops
