/// @file
/// Weights as a model file stores them: nine types, rows of a matrix consecutive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/tensor/view.hpp"
#include "day06_transformer_ops/gpt2/weights/q4_q6.hpp"
#include "day06_transformer_ops/gpt2/weights/q8_0.hpp"

namespace sixdays::gpt2 {

/// The types this engine reads, with ggml's numbers, as in the file.
enum class WeightType : std::uint32_t {
    f32 = 0,    // float
    f16 = 1,    // IEEE 754 half precision: 11 significant bits
    q4_0 = 2,   // blocks of 32 quants of 4 bits with a scale
    q5_0 = 6,   // blocks of 32 quants of 5 bits with a scale
    q8_0 = 8,   // blocks of 32 signed bytes with a scale
    q4_k = 12,  // blocks of 8 sub-blocks of 32 quants of 4 bits, which have a scale and a minimum
    q5_k = 13,  // the same with quants of 5 bits
    q6_k = 14,  // blocks of 16 sub-blocks of 16 quants of 6 bits, which have a scale
    bf16 = 30   // the upper half of a float: 8 significant bits
};
/// Does the type consist of runs of quants (q4_q6.hpp)?
[[nodiscard]] constexpr bool in_runs(WeightType type) {
    return type == WeightType::q4_0 || type == WeightType::q5_0 || type == WeightType::q4_k ||
           type == WeightType::q5_k || type == WeightType::q6_k;
}
/// All of them, in the order of their numbers.
[[nodiscard]] std::span<const WeightType> weight_types();

/// A type's memory layout: elements per block, and bytes per block.
struct Storage {
    const char* name;       // "F16"
    std::int64_t elements;  // of a block
    std::int64_t bytes;     // of a block
};
/// The layout of a type.
/// @throws std::invalid_argument  not one of weight_types(); the message lists them
const Storage& storage_of(WeightType type);

/// Bytes of a tensor of this shape, whose last dimension is divided into blocks.
/// @throws std::invalid_argument  the last extent is not a multiple of the block's elements, or the
/// number of bytes does not fit in 63 bits
[[nodiscard]] std::int64_t bytes_of(WeightType type, const Shape& shape);

/// A tensor of weights in memory that it does not own (the mapped file), row-major without gaps.
struct Weight {
    WeightType type = WeightType::f32;  // how `data` is read
    const std::byte* data = nullptr;    // the first block of the first row
    Shape shape;                        // outermost first: the token embedding is (V, C)

    /// As blocks of its type: for Q8_0 the last extent is 1/32 of the shape's, for Q4_K 1/256.
    /// @throws std::invalid_argument  another type than the weight's, or an address that is not
    /// aligned for the type
    View<const float> as_f32() const;
    View<const f16> as_f16() const;
    View<const bf16> as_bf16() const;
    View<const Q8Block> as_q8_0() const;
    View<const Q4Block> as_q4_0() const;
    View<const Q5Block> as_q5_0() const;
    View<const Q4KBlock> as_q4_k() const;
    View<const Q5KBlock> as_q5_k() const;
    View<const Q6KBlock> as_q6_k() const;
};

/// Rows begin to end of a matrix: the part of one thread.
/// @throws std::invalid_argument  not a matrix, or not 0 <= begin <= end <= rows
[[nodiscard]] Weight rows(const Weight& matrix, std::int64_t begin, std::int64_t end);

/// out = the weights as floats, bit for bit those of PyPI's gguf. Every type converts exactly, except
/// that a weight of Q4_K or Q5_K is a difference and is rounded once.
/// @param out  of w's shape, injective
/// @throws std::invalid_argument  another shape, out not injective, a null pointer
void to_float_cpu(const Weight& w, View<float> out);

}  // namespace sixdays::gpt2
