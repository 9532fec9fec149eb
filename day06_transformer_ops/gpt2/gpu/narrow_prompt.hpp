/// @file
/// The products and the attention of many tokens on tensor cores: their operands are rounded to 16
/// bits, their sums are float.
#pragma once

#include <vector>

#include "common/gpu/buffer.hpp"
#include "day06_transformer_ops/gpt2/file/sizes.hpp"
#include "day06_transformer_ops/gpt2/gpu/narrow.hpp"
#include "day06_transformer_ops/gpt2/weights/device_weight.hpp"

namespace sixdays::gpt2 {

/// The type of the operands: f16 for a model whose matrices are all F16, else bf16, which has the
/// range of a float. Weights of this type are used unchanged, others are rounded in each pass.
/// @param types  of all matrices of the blocks
[[nodiscard]] WeightType narrow_type(const std::vector<WeightType>& types);

/// Processes T tokens at once. Operands of products are stored here in 16 bits: the output of a
/// norm, of the MLP's activation or of attention. The results of products are float.
class NarrowPrompt {
public:
    /// @param sizes     of a model that check_tensor_cores() accepts
    /// @param cache     the shape of the keys and of the values: (layer, head, position, dim)
    /// @param types     of all matrices of the blocks
    /// @param wide      room for any matrix of a block as floats; it must outlive this
    NarrowPrompt(const Sizes& sizes, const Shape& cache, const std::vector<WeightType>& types,
                 gpu::Buffer<float>& wide);

    /// The type of the operands: f16 or bf16.
    WeightType type() const noexcept { return type_; }

    /// Stores the layer norm of x as the operand of product(). @param x  (T, K), contiguous
    void hold_norm(View<const float> x, const day06_transformer_ops::NormParameters& parameters,
                   gpu::Stream stream);
    /// Stores x, or GELU of x, as the operand of product(). @param x  (T, K), contiguous
    void hold(View<const float> x, Before before, gpu::Stream stream);
    /// Causal attention, whose result is the operand of product().
    /// @param q   (heads, T, D)
    /// @param kv  (2, kv heads, S, D): keys, then values; consecutive heads of q share one
    void attend(View<const float> q, View<const float> kv, gpu::Stream stream);
    /// out = beta * out + held . weightT + bias
    /// @param weight  (N, K) @param bias  (N), or null
    /// @param turns, turn  with turns > 1, the weight's rows turn, turn + turns, ...
    void product(const DeviceMatrix& weight, View<const float> bias, float beta, View<float> out,
                 gpu::Stream stream, int turns = 1, int turn = 0);

private:
    template <class F>
    void with_type(const F& f) {
        type_ == WeightType::f16 ? f(f16{}) : f(bf16{});
    }
    template <class T>
    View<const T> narrowed(const DeviceMatrix& w, gpu::Stream stream);

    using Bits = gpu::Buffer<std::uint16_t>;
    template <class T>
    static View<T> as(Bits& bits, const Shape& shape) {
        return {reinterpret_cast<T*>(bits.view(shape).data), shape};
    }

    WeightType type_;
    Bits held_, q_, kv_;
    Bits weight_;  // a matrix of another type, rounded: that at narrowed_
    const std::byte* narrowed_ = nullptr;
    gpu::Buffer<float>& wide_;  // and as floats before that
};

}  // namespace sixdays::gpt2
