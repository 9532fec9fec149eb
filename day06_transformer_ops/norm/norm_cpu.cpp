// The CPU references.
#include "day06_transformer_ops/norm/norm.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

// [layer_norm]
template <class T>
void layer_norm_loop(const Rows<const T>& in, const NormParameters& parameters,
                     const Rows<T>& out) {
    for (std::int64_t r = 0; r < in.count(); ++r) {
        const Row<const T> x = in.row(r);
        const Row<T> y = out.row(r);
        const float N = static_cast<float>(in.length), first = float(x[0]);
        float sum = 0;
        for (std::int64_t i = 0; i < in.length; ++i) {
            sum += float(x[i]) - first;
        }
        const float mean = first + sum / N;
        float squares = 0;
        for (std::int64_t i = 0; i < in.length; ++i) {
            const float d = float(x[i]) - mean;
            squares += d * d;
        }
        const float scale = 1 / std::sqrt(squares / N + parameters.eps);
        for (std::int64_t i = 0; i < in.length; ++i) {
            const float z = (float(x[i]) - mean) * scale;
            y[i] = T(parameters(z, i));
        }
    }
}
// [layer_norm]

template <class T>
void rms_norm_loop(const Rows<const T>& in, const NormParameters& parameters, const Rows<T>& out) {
    for (std::int64_t r = 0; r < in.count(); ++r) {
        const Row<const T> x = in.row(r);
        const Row<T> y = out.row(r);
        float squares = 0;
        for (std::int64_t i = 0; i < in.length; ++i) {
            squares += float(x[i]) * float(x[i]);
        }
        const float N = static_cast<float>(in.length);
        const float scale = 1 / std::sqrt(squares / N + parameters.eps);
        for (std::int64_t i = 0; i < in.length; ++i) {
            y[i] = T(parameters(float(x[i]) * scale, i));
        }
    }
}

template <class T>
void add_loop(const Rows<const T>& in, const Rows<T>& residual) {
    for (std::int64_t r = 0; r < in.count(); ++r) {
        const Row<const T> x = in.row(r);
        const Row<T> s = residual.row(r);
        for (std::int64_t i = 0; i < in.length; ++i) {
            s[i] = T(float(s[i]) + float(x[i]));
        }
    }
}

}  // namespace

template <class T>
void layer_norm_cpu(View<const Same<T>> in, const NormParameters& parameters, View<T> out) {
    const auto plan = plan_norm<T>("layer_norm", in, parameters, out);
    if (out.size() > 0) layer_norm_loop(plan.in, parameters, plan.out);
}

template <class T>
void rms_norm_cpu(View<const Same<T>> in, const NormParameters& parameters, View<T> out) {
    const auto plan = plan_norm<T>("rms_norm", in, parameters, out);
    if (out.size() > 0) rms_norm_loop(plan.in, parameters, plan.out);
}

template <class T>
void add_layer_norm_cpu(View<const Same<T>> in, const NormParameters& parameters,
                        View<Same<T>> residual, View<T> out) {
    const auto plan = plan_norm<T>("add_layer_norm", in, parameters, out, {}, residual);
    if (out.size() == 0) return;
    add_loop(plan.in, plan.residual);
    layer_norm_loop(plan.sum(), parameters, plan.out);
}

template void layer_norm_cpu(View<const float>, const NormParameters&, View<float>);
template void rms_norm_cpu(View<const float>, const NormParameters&, View<float>);
template void add_layer_norm_cpu(View<const float>, const NormParameters&, View<float>,
                                 View<float>);
template void layer_norm_cpu(View<const bf16>, const NormParameters&, View<bf16>);
template void rms_norm_cpu(View<const bf16>, const NormParameters&, View<bf16>);
template void add_layer_norm_cpu(View<const bf16>, const NormParameters&, View<bf16>, View<bf16>);

}  // namespace sixdays::day06_transformer_ops
