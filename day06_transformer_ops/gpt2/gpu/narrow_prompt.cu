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

bool all_are(const std::vector<WeightType>& types, WeightType type) {
    return std::all_of(types.begin(), types.end(), [&](WeightType t) { return t == type; });
}

}  // namespace

WeightType narrow_type(const std::vector<WeightType>& types) {
    return all_are(types, WeightType::f16) ? WeightType::f16 : WeightType::bf16;
}

NarrowPrompt::NarrowPrompt(const Sizes& sizes, const Shape& cache,
                           const std::vector<WeightType>& types, gpu::Buffer<float>& wide)
    : type_(narrow_type(types)),
      held_(cache[2] * std::max({sizes.channels, sizes.heads * cache[3], sizes.hidden})),
      q_(cache[2] * sizes.heads * cache[3]),
      kv_(cache[2] * 2 * cache[1] * cache[3]),
      weight_(all_are(types, type_) ? 0 : wide.size()),
      wide_(wide) {}

template <class T>
View<const T> NarrowPrompt::narrowed(const DeviceMatrix& w, gpu::Stream stream) {
    const Shape shape = {w.N, w.K};
    if (w.type == type_) return {reinterpret_cast<const T*>(w.data), shape};
    if (w.data != narrowed_) {  // gate and up are rows of one matrix
        narrow_cuda(as_floats(w, wide_, stream), as<T>(weight_, shape), Before::nothing, stream);
        narrowed_ = w.data;
    }
    return as<T>(weight_, shape);
}

void NarrowPrompt::hold_norm(View<const float> x,
                             const day06_transformer_ops::NormParameters& parameters,
                             gpu::Stream stream) {
    with_type(
        [&]<class T>(T) { norm_narrow_cuda(x, parameters, as<T>(held_, x.shape()), stream); });
}

void NarrowPrompt::hold(View<const float> x, Before before, gpu::Stream stream) {
    with_type([&]<class T>(T) { narrow_cuda(x, as<T>(held_, x.shape()), before, stream); });
}

void NarrowPrompt::attend(View<const float> q, View<const float> kv, gpu::Stream stream) {
    with_type([&]<class T>(T) {
        const View<T> q16 = as<T>(q_, q.shape()), kv16 = as<T>(kv_, kv.shape());
        narrow_cuda(q, q16, Before::nothing, stream);
        narrow_cuda(kv, kv16, Before::nothing, stream);
        const std::int64_t H = q.extent(0), G = kv.extent(1), T_ = q.extent(1), D = q.extent(2);
        const View<T> tokens = permute(as<T>(held_, {T_, H, D}), {1, 0, 2});
        const auto groups = [&](const View<T>& of) { return reshape(of, {G, H / G, T_, D}); };
        const auto shared = [&](int which) { return unsqueeze(select(kv16, 0, which), 1); };
        day06_transformer_ops::attention_bf16_cuda<T>(groups(q16), shared(0), shared(1), {},
                                                      groups(tokens), {}, {.stream = stream});
    });
}

void NarrowPrompt::product(const DeviceMatrix& weight, View<const float> bias, float beta,
                           View<float> out, gpu::Stream stream, int turns, int turn) {
    with_type([&]<class T>(T) {
        const View<const T> rows = slice(narrowed<T>(weight, stream), 0, turn, weight.N, turns);
        const View<const T> across = transpose(rows, 0, 1);
        day05_matmul::Epilogue epilogue;
        epilogue.beta = beta;
        epilogue.bias = bias;
        const View<const T> held = as<T>(held_, {out.extent(0), across.extent(0)});
        day05_matmul::matmul_bf16_cuda<T>(held, across, epilogue, out, {.stream = stream});
    });
}

}  // namespace sixdays::gpt2
