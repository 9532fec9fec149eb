/// @file
/// The products and the attention of many tokens on tensor cores: their operands are rounded to 16
/// bits, their sums are float.
#pragma once

#include "day06_transformer_ops/gpt2/gpu/device_model.hpp"
#include "day06_transformer_ops/gpt2/gpu/narrow.hpp"

namespace sixdays::gpt2 {

/// What the operands are rounded to: f16 for a model whose matrices all are F16, else bf16, which
/// holds numbers of any size. Weights of this type are not changed, all others are rounded in each
/// pass.
[[nodiscard]] WeightType narrow_type(const ModelWeights& model);

/// Of T tokens at once. Each call reads floats and leaves floats, but for attend(), whose answer
/// stays here, in 16 bits.
class NarrowPrompt {
public:
    /// @param model     one that check_tensor_cores() has not refused
    /// @param capacity  the most tokens
    /// @param wide      room for any matrix of a block as floats; it must outlive this
    NarrowPrompt(const ModelWeights& model, std::int64_t capacity, gpu::Buffer<float>& wide);

    WeightType type() const noexcept { return type_; }

    /// out = beta * out + x . weightT + bias
    /// @param x       (T, K), floats
    /// @param before  what becomes of x before it is rounded
    void product(View<const float> x, Before before, const DeviceModel::Linear& linear, float beta,
                 View<float> out, gpu::Stream stream);

    /// Causal attention. @param q  (heads, T, D) @param k, v  (heads, S, D)
    void attend(View<const float> q, View<const float> k, View<const float> v, gpu::Stream stream);
    /// The same as product(), whose x is what attend() found last.
    void product_of_attended(const DeviceModel::Linear& linear, float beta, View<float> out,
                             gpu::Stream stream);

private:
    template <class F>
    void with_type(const F& f) {
        type_ == WeightType::f16 ? f(f16{}) : f(bf16{});
    }
    template <class T>
    View<const T> narrowed(const DeviceMatrix& w, gpu::Stream stream);
    template <class T>
    void multiply(View<const T> x, const DeviceModel::Linear& linear, float beta, View<float> out,
                  gpu::Stream stream);

    using Bits = gpu::Buffer<std::uint16_t>;
    template <class T>
    static View<T> as(Bits& bits, const Shape& shape) {
        return {reinterpret_cast<T*>(bits.view(shape).data), shape};
    }

    Config config_;
    WeightType type_;
    Bits x_, q_, k_, v_, attended_;
    Bits weight_;               // a matrix of another type, rounded
    gpu::Buffer<float>& wide_;  // and before that as floats
};

}  // namespace sixdays::gpt2
