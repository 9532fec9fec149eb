// The CPU references.
#include "day06_transformer_ops/softmax/softmax.hpp"
#include "day06_transformer_ops/softmax/softmax_row.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

// [softmax]
template <class T>
void softmax_loop(const Rows<const T>& in, const Rows<T>& out) {
    for (std::int64_t r = 0; r < in.count(); ++r) {
        const Row<const T> x = in.row(r);
        const Row<T> y = out.row(r);
        float m = -INFINITY;
        for (std::int64_t i = 0; i < in.length; ++i) {
            m = std::fmax(m, float(x[i]));
        }
        float sum = 0;
        for (std::int64_t i = 0; i < in.length; ++i) {
            sum += std::exp(float(x[i]) - m);
        }
        for (std::int64_t i = 0; i < in.length; ++i) {
            y[i] = T(std::exp(float(x[i]) - m) / sum);
        }
    }
}
// [softmax]

template <class T>
void log_softmax_loop(const Rows<const T>& in, const Rows<T>& out) {
    for (std::int64_t r = 0; r < in.count(); ++r) {
        const Row<const T> x = in.row(r);
        const Row<T> y = out.row(r);
        const float m = largest_of(x, in.length);
        const float log_sum = std::log(sum_of_exp(x, in.length, m));
        for (std::int64_t i = 0; i < in.length; ++i) {
            y[i] = T(float(x[i]) - m - log_sum);
        }
    }
}

// A masked score is replaced, not added to: NaN + -infinity is NaN.
template <class T>
void masked_softmax_loop(const Rows<const T>& in, const Rows<const std::uint8_t>& mask,
                         const Rows<T>& out) {
    for (std::int64_t r = 0; r < in.count(); ++r) {
        const Row<const T> x = in.row(r);
        const Row<const std::uint8_t> seen = mask.row(r);
        const Row<T> y = out.row(r);
        float m = -INFINITY;
        for (std::int64_t i = 0; i < in.length; ++i) {
            if (seen[i] != 0) m = std::fmax(m, float(x[i]));
        }
        float sum = 0;
        for (std::int64_t i = 0; i < in.length; ++i) {
            if (seen[i] != 0) sum += std::exp(float(x[i]) - m);
        }
        for (std::int64_t i = 0; i < in.length; ++i) {
            const float e = seen[i] != 0 ? std::exp(float(x[i]) - m) : 0.0f;
            y[i] = T(e / sum);
        }
    }
}

// Row r has the scores of token r % tokens.
template <class T>
void causal_softmax_loop(const Rows<const T>& in, std::int64_t tokens, const Rows<T>& out) {
    for (std::int64_t r = 0; r < in.count(); ++r) {
        const Row<const T> x = in.row(r);
        const Row<T> y = out.row(r);
        const std::int64_t n = seen_by(r % tokens, tokens, in.length);
        const float m = largest_of(x, n);
        const float sum = sum_of_exp(x, n, m);
        for (std::int64_t i = 0; i < in.length; ++i) {
            y[i] = T(i < n ? std::exp(float(x[i]) - m) / sum : 0.0f);
        }
    }
}

}  // namespace

template <class T>
void softmax_cpu(View<const Same<T>> in, int dim, View<T> out) {
    const auto plan = plan_softmax<T>(SoftmaxKind::softmax, in, dim, out);
    if (out.size() > 0) softmax_loop(plan.in, plan.out);
}

template <class T>
void log_softmax_cpu(View<const Same<T>> in, int dim, View<T> out) {
    const auto plan = plan_softmax<T>(SoftmaxKind::log_softmax, in, dim, out);
    if (out.size() > 0) log_softmax_loop(plan.in, plan.out);
}

template <class T>
void masked_softmax_cpu(View<const Same<T>> in, View<const std::uint8_t> mask, int dim,
                        View<T> out) {
    const auto plan = plan_softmax<T>(SoftmaxKind::masked_softmax, in, dim, out, {}, mask);
    if (out.size() > 0) masked_softmax_loop(plan.in, plan.mask, plan.out);
}

template <class T>
void causal_softmax_cpu(View<const Same<T>> in, View<T> out) {
    const auto plan = plan_softmax<T>(SoftmaxKind::causal_softmax, in, -1, out);
    causal_softmax_loop(plan.in, in.extent(in.rank() - 2), plan.out);
}

template void softmax_cpu(View<const float>, int, View<float>);
template void softmax_cpu(View<const bf16>, int, View<bf16>);
template void log_softmax_cpu(View<const float>, int, View<float>);
template void log_softmax_cpu(View<const bf16>, int, View<bf16>);
template void masked_softmax_cpu(View<const float>, View<const std::uint8_t>, int, View<float>);
template void masked_softmax_cpu(View<const bf16>, View<const std::uint8_t>, int, View<bf16>);
template void causal_softmax_cpu(View<const float>, View<float>);
template void causal_softmax_cpu(View<const bf16>, View<bf16>);

}  // namespace sixdays::day06_transformer_ops
