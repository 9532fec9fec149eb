/// @file
/// The phases of one token that differ from GPT-2's or are distributed otherwise (gpt2/gpu/decode.hpp has the others), one kernel
/// each. Nothing is checked here, because the calling backend made every view. The kernels read the
/// token's position from device memory.
#pragma once

#include <vector>

#include "day06_transformer_ops/embedding/embedding.hpp"
#include "day06_transformer_ops/gpt2/gpu/decode.hpp"

namespace sixdays::llama {

/// An RMS norm's parameters in device memory.
struct RmsNormParameters {
    const float* weight;  // (C)
    float eps;            // added to the mean of squares, inside the root
};

/// Rows of K floats that a phase with an RMS norm keeps in addition to its operand: the weight.
inline constexpr int kRmsNormKeeps = 1;

/// Queries, keys and values of one token, and where they go.
struct Projections {
    float* raw;            // (H + 2 G, D): heads of queries, of keys, of values; the rotated
                           // queries replace the first H
    std::int64_t H, G, D;  // heads of queries; heads of keys and of values; elements per head
    const float* q_norm;   // (D), the weights of the queries' norm; null: none
    const float* k_norm;   // (D), of the keys' norm; null: none
    float eps;             // of these norms
    const float* angles;   // (R): R / 2 cosines, then R / 2 sines, of the token's position
    std::int64_t R;        // elements of a head that are rotated
    day06_transformer_ops::Pairing pairing;  // which two are rotated together

    /// May launch_project_and_rotate() be called?
    bool rotates_at_once() const {
        return pairing == day06_transformer_ops::Pairing::neighbours && q_norm == nullptr &&
               k_norm == nullptr;
    }
};

/// angles (R) = the row of the table at *place, for launch_rotate() and launch_project_and_rotate()
/// of all layers: they need not wait for the position to know where the row is.
/// @param table  (capacity, R): rotary_table()
void launch_angles(const float* table, const std::int64_t* place, std::int64_t R, float* angles,
                   gpu::Stream queue);
/// The rows of queries, keys and values: one matrix, or up to three of different types.
using Parts = std::vector<gpt2::DeviceLinear>;

/// out (N) = the products of an RMS norm of the stream with all parts, plus their biases.
void launch_project(const RmsNormParameters& norm, const Parts& parts, const float* stream,
                    float* out, gpu::Stream queue);
/// The same for `of.raw`, where neighbours are rotated and no head is normalized: a warp has both
/// elements of a pair, so this replaces launch_rotate().
void launch_project_and_rotate(const RmsNormParameters& norm, const Parts& parts,
                               const float* stream, const Projections& of,
                               const gpt2::KvSlots& cache, const std::int64_t* place,
                               gpu::Stream queue);
/// Normalizes queries and keys where the model does, rotates both, and appends keys and values to
/// the cache at *place.
void launch_rotate(const Projections& of, const gpt2::KvSlots& cache, const std::int64_t* place,
                   gpu::Stream queue);
/// stream += the product of attention's combined parts.
void launch_add_attention(const gpt2::AttentionParts& parts, const gpt2::DeviceLinear& linear,
                          float* stream, gpu::Stream queue);
/// hidden (F) = silu(gate) * up, of the products of an RMS norm of the stream.
/// @param gate_up  (2 F, C): rows of gate and up in turn
void launch_gated(const RmsNormParameters& norm, const gpt2::DeviceMatrix& gate_up,
                  const float* stream, float* hidden, gpu::Stream queue);
/// stream += the product of the hidden row.
void launch_add_mlp(const float* hidden, const gpt2::DeviceLinear& linear, float* stream,
                    gpu::Stream queue);
/// logits (V). @param blocks  resident_head_blocks(), or any other number: each loops over its rows
void launch_head(const RmsNormParameters& norm, const gpt2::DeviceMatrix& head, const float* stream,
                 float* logits, unsigned blocks, gpu::Stream queue);
/// Blocks of launch_head() that are resident on the device at a time.
[[nodiscard]] unsigned resident_head_blocks(const gpt2::DeviceMatrix& head);

}  // namespace sixdays::llama
