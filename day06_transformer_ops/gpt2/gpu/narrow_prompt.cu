// Many tokens on tensor cores: which views go to which operation of Days 05 and 06.
#include "day06_transformer_ops/gpt2/gpu/narrow_prompt.hpp"

#include <algorithm>

#include "common/tensor/arguments.hpp"
#include "common/tensor/transform.hpp"
#include "day05_matmul/matmul_bf16.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16.hpp"
#include "day06_transformer_ops/gpt2/weights/linear.hpp"

namespace sixdays::gpt2 {
namespace {

template <class F>
bool all_matrices(const ModelWeights& model, const F& f) {
    return std::all_of(model.blocks.begin(), model.blocks.end(), [&](const BlockWeights& b) {
        return f(b.qkv.weight.type) && f(b.attention_output.weight.type) && f(b.up.weight.type) &&
               f(b.down.weight.type);
    });
}

}  // namespace

WeightType narrow_type(const ModelWeights& model) {
    const bool f16 = all_matrices(model, [](WeightType t) { return t == WeightType::f16; });
    return f16 ? WeightType::f16 : WeightType::bf16;
}

NarrowPrompt::NarrowPrompt(const ModelWeights& model, std::int64_t capacity,
                           gpu::Buffer<float>& wide)
    : config_(model.config),
      type_(narrow_type(model)),
      held_(capacity * std::max(config_.channels, config_.hidden)),
      q_(capacity * config_.channels),
      kv_(capacity * 2 * config_.channels),
      weight_(all_matrices(model, [&](WeightType t) { return t == type_; }) ? 0 : wide.size()),
      wide_(wide) {}

template <class T>
View<const T> NarrowPrompt::narrowed(const DeviceMatrix& w, gpu::Stream stream) {
    const Shape shape = {w.N, w.K};
    if (w.type == type_) return {reinterpret_cast<const T*>(w.data), shape};
    narrow_cuda(as_floats(w, wide_, stream), as<T>(weight_, shape), Before::nothing, stream);
    return as<T>(weight_, shape);
}

void NarrowPrompt::hold_norm(View<const float> x, const NormParameters& parameters,
                             gpu::Stream stream) {
    with_type(
        [&]<class T>(T) { norm_narrow_cuda(x, parameters, as<T>(held_, x.shape()), stream); });
}

void NarrowPrompt::hold_gelu(View<const float> x, gpu::Stream stream) {
    with_type([&]<class T>(T) { narrow_cuda(x, as<T>(held_, x.shape()), Before::gelu, stream); });
}

void NarrowPrompt::attend(View<const float> q, View<const float> kv, gpu::Stream stream) {
    with_type([&]<class T>(T) {
        const View<T> q16 = as<T>(q_, q.shape()), kv16 = as<T>(kv_, kv.shape());
        narrow_cuda(q, q16, Before::nothing, stream);
        narrow_cuda(kv, kv16, Before::nothing, stream);
        const View<T> tokens = as<T>(held_, {q.extent(1), q.extent(0), q.extent(2)});
        day06_transformer_ops::attention_bf16_cuda<T>(q16, select(kv16, 0, 0), select(kv16, 0, 1),
                                                      {}, permute(tokens, {1, 0, 2}), {},
                                                      {.stream = stream});
    });
}

void NarrowPrompt::product(const DeviceModel::Linear& linear, float beta, View<float> out,
                           gpu::Stream stream) {
    with_type([&]<class T>(T) {
        const View<const T> across = transpose(narrowed<T>(linear.weight.matrix(), stream), 0, 1);
        day05_matmul::Epilogue epilogue;
        epilogue.beta = beta;
        epilogue.bias = linear.bias.view({out.extent(1)});
        const View<const T> held = as<T>(held_, {out.extent(0), across.extent(0)});
        day05_matmul::matmul_bf16_cuda<T>(held, across, epilogue, out, {.stream = stream});
    });
}

}  // namespace sixdays::gpt2
