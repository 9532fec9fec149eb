/// @file
/// The products and the attention of many tokens on tensor cores: their operands are rounded to 16
/// bits, their sums are float.
#pragma once

#include "day06_transformer_ops/gpt2/gpu/device_model.hpp"
#include "day06_transformer_ops/gpt2/gpu/narrow.hpp"

namespace sixdays::gpt2 {

/// The type of the operands: f16 for a model whose matrices are all F16, else bf16, which has the
/// range of a float. Weights of this type are used unchanged, others are rounded in each pass.
[[nodiscard]] WeightType narrow_type(const ModelWeights& model);

/// Processes T tokens at once. Operands of products are stored here in 16 bits: the output of a
/// norm, of GELU or of attention. The results of products are float.
class NarrowPrompt {
public:
    /// @param model     one that check_tensor_cores() accepts
    /// @param capacity  maximum number of tokens
    /// @param wide      room for any matrix of a block as floats; it must outlive this
    NarrowPrompt(const ModelWeights& model, std::int64_t capacity, gpu::Buffer<float>& wide);

    /// The type of the operands: f16 or bf16.
    WeightType type() const noexcept { return type_; }

    /// Stores the layer norm of x as the operand of product(). @param x  (T, K), contiguous
    void hold_norm(View<const float> x, const NormParameters& parameters, gpu::Stream stream);
    /// Stores GELU of x as the operand of product(). @param x  (T, K), contiguous
    void hold_gelu(View<const float> x, gpu::Stream stream);
    /// Causal attention. @param q  (heads, T, D) @param kv  (2, heads, S, D): keys, then values
    void attend(View<const float> q, View<const float> kv, gpu::Stream stream);
    /// out = beta * out + held . weightT + bias
    void product(const DeviceModel::Linear& linear, float beta, View<float> out,
                 gpu::Stream stream);

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

    Config config_;
    WeightType type_;
    Bits held_, q_, kv_;
    Bits weight_;               // a matrix of another type, rounded
    gpu::Buffer<float>& wide_;  // and as floats before that
};

}  // namespace sixdays::gpt2
