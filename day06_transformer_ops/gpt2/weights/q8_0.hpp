/// @file
/// Q8_0: weights in about 8.5 bits. 32 neighbours in a row share one scale, so a weight takes 34/32
/// bytes instead of 4, and a matrix-vector product, which is memory-bound, reads about
/// a quarter of the bytes.
///
///     block   scale (f16)  q0 q1 q2 ... q31 (signed bytes)        34 bytes
///     weight j of the block = scale * qj
///
/// A row of K weights is K/32 blocks. Rows follow each other without a gap, so a matrix (N, K) of
/// weights is a matrix (N, K/32) of blocks, and blocks are aligned to 2 bytes only.
#pragma once

#include <cstdint>

#include "common/tensor/half.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::gpt2 {

inline constexpr std::int64_t kQ8Block = 32;  // weights

/// As stored in the file. The usual writer divides by 127 and never writes -128, but it is legal.
struct Q8Block {
    f16 scale;                     // of all 32
    std::int8_t quants[kQ8Block];  // weight = scale * quant
};
static_assert(sizeof(Q8Block) == 34 && alignof(Q8Block) == 2);

/// out(n, k) = scale * quant, exact: 11 significant bits times 8 fit into a float's 24.
/// @param in   blocks (N, K/32), any strides
/// @param out  (N, K), injective
/// @throws std::invalid_argument  shapes that do not match, out not injective, a null pointer
void dequantise_q8_0_cpu(View<const Q8Block> in, View<float> out);

void check_dequantise_q8_0(const View<const Q8Block>& in, const View<float>& out);

}  // namespace sixdays::gpt2
