// The argument checks of a linear layer's backward pass.
#include "day06_transformer_ops/training/backward/linear_backward.hpp"

#include "common/tensor/half.hpp"
#include "day06_transformer_ops/training/reject.hpp"

namespace sixdays::day06_transformer_ops {
template <class T>
View<T> as_matrix(const View<T>& x) {
    std::int64_t rows = 1;
    for (int d = 0; d + 1 < x.rank(); ++d) rows *= x.extent(d);
    return reshape(x, {rows, x.extent(x.rank() - 1)});
}
template View<float> as_matrix(const View<float>&);
template View<const float> as_matrix(const View<const float>&);
template View<bf16> as_matrix(const View<bf16>&);
template View<const bf16> as_matrix(const View<const bf16>&);

namespace {

template <class T>
void require_matrix(const char* op, const char* name, const View<T>& v) {
    (void)with_prefix(std::string(op) + ": " + name, [&] { return as_matrix(v); });
}

template <class T>
void require_shapes(const char* op, const View<const T>& in, const View<const T>& weight,
                    const View<const T>& grad, const LinearGradients& d) {
    require_rank(op, "weight", weight, 2);
    const std::int64_t K = weight.extent(0), N = weight.extent(1);
    if (in.rank() == 0 || in.extent(in.rank() - 1) != K) {
        reject(op, ": in has shape ", in.shape(), ", but weight ", weight.shape(),
               "; a row of in must have ", K, " elements");
    }
    Shape out = in.shape();
    out[out.rank - 1] = N;
    require_extents(op, "grad", grad, out);
    require_extents(op, "d_weight", d.weight, weight.shape());
    require_matrix(op, "in", in);
    require_matrix(op, "grad", grad);
}

}  // namespace

template <class T, class In>
void require_linear_backward(const char* op, const View<const T>& in, const View<const T>& weight,
                             const View<const T>& grad, const View<In>& d_in,
                             const LinearGradients& d) {
    require_shapes(op, in, weight, grad, d);
    require_memory(op, "weight", weight);
    require_memory(op, "in", in);
    require_memory(op, "grad", grad);
    require_gradient(op, "d_in", d_in, in.shape());
    require_gradient(op, "d_weight", d.weight, weight.shape());
    const auto apart = [&](const char* name, const auto& written) {
        require_apart(op, "in", in, name, written);
        require_apart(op, "weight", weight, name, written);
        require_apart(op, "grad", grad, name, written);
    };
    apart("d_in", d_in);
    apart("d_weight", d.weight);
    require_apart(op, "d_in", d_in, "d_weight", d.weight);
    if (d.bias.data != nullptr) {
        require_gradient(op, "d_bias", d.bias, {weight.extent(1)});
        apart("d_bias", d.bias);
        require_apart(op, "d_in", d_in, "d_bias", d.bias);
        require_apart(op, "d_weight", d.weight, "d_bias", d.bias);
    }
    require_matrix(op, "d_in", d_in);
}
template void require_linear_backward(const char*, const View<const bf16>&, const View<const bf16>&,
                                      const View<const bf16>&, const View<float>&,
                                      const LinearGradients&);
template void require_linear_backward(const char*, const View<const bf16>&, const View<const bf16>&,
                                      const View<const bf16>&, const View<bf16>&,
                                      const LinearGradients&);

void check_linear_shapes(const View<const float>& in, const View<const float>& weight,
                         const View<const float>& grad, const LinearGradients& d) {
    require_shapes("linear_backward", in, weight, grad, d);
}
void check_linear_backward(const View<const float>& in, const View<const float>& weight,
                           const View<const float>& grad, const View<float>& d_in,
                           const LinearGradients& d) {
    require_linear_backward("linear_backward", in, weight, grad, d_in, d);
}

template <class T>
void check_bias_backward(const View<const T>& grad, const View<float>& d_bias) {
    constexpr const char* kOp = "bias_backward";
    require_rows(kOp, "grad", grad);
    require_memory(kOp, "grad", grad);
    require_gradient(kOp, "d_bias", d_bias, {grad.extent(grad.rank() - 1)});
    require_apart(kOp, "grad", grad, "d_bias", d_bias);
    require_matrix(kOp, "grad", grad);
}
template void check_bias_backward(const View<const float>&, const View<float>&);
template void check_bias_backward(const View<const bf16>&, const View<float>&);

}  // namespace sixdays::day06_transformer_ops
