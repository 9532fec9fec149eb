/// @file
/// The phases of one token, one kernel each. Nothing is checked here, because the calling backend
/// made every view. The kernels read the token's position from device memory.
#pragma once

#include <optional>

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"
#include "day06_transformer_ops/gpt2/backend/kv_cache.hpp"
#include "day06_transformer_ops/gpt2/weights/device_weight.hpp"
#include "day06_transformer_ops/norm/norm.hpp"

namespace sixdays::gpt2 {

using day06_transformer_ops::NormParameters;

/// A matrix and its bias (N).
struct DeviceLinear {
    DeviceMatrix weight;          // (N, K)
    const float* bias = nullptr;  // (N); null: none
};

/// Blocks that share the positions of a head in attention.
inline constexpr int kSplits = 8;
/// Attention's partial results: each of kSplits blocks of a head processes some of the positions.
/// The next phase combines them.
struct AttentionParts {
    float* sums;     // (head, split, D): sum of exp(score - largest) * value
    float* tops;     // (head, split, 2): the largest score, and the sum of exp(score - largest)
    std::int64_t D;  // elements of a head
};

/// Do the kernels of this file support heads of width D?
[[nodiscard]] constexpr bool takes_head(std::int64_t D) {
    return D % 4 == 0 && D >= kSplits && D <= 128;
}

/// Rows of K floats that a phase keeps in addition to its operand: a norm's weight and bias.
inline constexpr int kNormKeeps = 2;

/// Do the kernels of this file support these weights: alignment, and rows that fit in shared
/// memory?
[[nodiscard]] bool phase_takes(const DeviceMatrix& w, int rows_kept);
/// The four matrices of a block.
struct BlockMatrices {
    DeviceMatrix qkv, attention_output, up, down;  // (3 C, C); (C, C); (F, C); (C, F)
};
/// phase_takes() for all four matrices of a block.
[[nodiscard]] bool phases_take(const BlockMatrices& block);

/// stream(t) = token row + position row, for T tokens, the last of which is at *place.
/// @param positions  without it, no row is added
void launch_embed(const DeviceMatrix& tokens, const std::optional<DeviceMatrix>& positions,
                  const std::int64_t* ids, const std::int64_t* place, View<float> stream,
                  gpu::Stream queue);

/// query (C), and a row of each head's keys and values (head, capacity, D), at *place.
void launch_query_key_value(const NormParameters& norm, const DeviceLinear& linear,
                            const float* stream, float* query, const KvSlots& cache,
                            const std::int64_t* place, gpu::Stream queue);
/// The partial results of each head for the query, over the cached positions up to *place.
/// @param group  consecutive heads of the query that share a head of keys and values
void launch_attend(const float* query, const KvSlots& cache, const std::int64_t* place,
                   const AttentionParts& parts, gpu::Stream queue, int group = 1);
/// stream += product.
void launch_add_attention(const AttentionParts& parts, const DeviceLinear& linear, float* stream,
                          gpu::Stream queue);
/// hidden (F) = GELU of the product of a norm of the stream.
void launch_widen(const NormParameters& norm, const DeviceLinear& linear, const float* stream,
                  float* hidden, gpu::Stream queue);
/// stream += product.
void launch_add_mlp(const float* hidden, const DeviceLinear& linear, float* stream,
                    gpu::Stream queue);
/// logits (V). @param blocks  resident_head_blocks(), or any other number: each loops over its rows
void launch_head(const NormParameters& norm, const DeviceMatrix& head, const float* stream,
                 float* logits, unsigned blocks, gpu::Stream queue);
/// Blocks of launch_head() that are resident on the device at a time. Fewer registers per weight
/// type allow more: on an H200 three per SM in F32, four in F16, five in Q8_0.
[[nodiscard]] unsigned resident_head_blocks(const DeviceMatrix& head);

}  // namespace sixdays::gpt2
