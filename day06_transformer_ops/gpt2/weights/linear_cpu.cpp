// The CPU reference.
#include "day06_transformer_ops/gpt2/weights/linear.hpp"

#include "common/tensor/tensor.hpp"
#include "common/tensor/transform.hpp"

namespace sixdays::gpt2 {
namespace {

// w(n, k): a weight as a float.
template <class W>
void linear(const W& w, View<const float> x, View<const float> bias, View<float> out) {
    for (std::int64_t t = 0; t < out.extent(0); ++t) {
        for (std::int64_t n = 0; n < out.extent(1); ++n) {
            float sum = bias.data != nullptr ? bias(n) : 0;
            for (std::int64_t k = 0; k < x.extent(1); ++k) {
                sum += w(n, k) * x(t, k);
            }
            out(t, n) = sum;
        }
    }
}

template <class T>
void linear_of(View<const T> w, View<const float> x, View<const float> bias, View<float> out) {
    linear([&](auto n, auto k) { return static_cast<float>(w(n, k)); }, x, bias, out);
}

// Types whose weights are unpacked many at a time: one row of floats after the other.
void linear_of_runs(const Weight& w, View<const float> x, View<const float> bias, View<float> out) {
    Tensor<float> row({1, w.shape[1]});
    for (std::int64_t n = 0; n < w.shape[0]; ++n) {
        to_float_cpu(rows(w, n, n + 1), row.view());
        const View<const float> b = bias.data != nullptr ? slice(bias, 0, n, n + 1) : bias;
        linear_of(std::as_const(row).view(), x, b, slice(out, 1, n, n + 1));
    }
}

}  // namespace

void linear_cpu(const Weight& w, View<const float> x, View<const float> bias, View<float> out) {
    check_linear(w, x, bias, out);
    switch (w.type) {
        case WeightType::f32:
            return linear_of(w.as_f32(), x, bias, out);
        case WeightType::f16:
            return linear_of(w.as_f16(), x, bias, out);
        case WeightType::bf16:
            return linear_of(w.as_bf16(), x, bias, out);
        case WeightType::q8_0: {
            const View<const Q8Block> blocks = w.as_q8_0();
            return linear(
                [&](auto n, auto k) {
                    const Q8Block& block = blocks(n, k / kQ8Block);
                    const float quant = block.quants[k % kQ8Block];
                    return static_cast<float>(block.scale) * quant;
                },
                x, bias, out);
        }
        case WeightType::q4_0:
        case WeightType::q5_0:
        case WeightType::q4_k:
        case WeightType::q5_k:
        case WeightType::q6_k:
            return linear_of_runs(w, x, bias, out);
    }
}

}  // namespace sixdays::gpt2
