// Activations as tile kernels. CUDA Tile C++ has exp and exp2 but no erf: gelu_erf is computed from
// 2^x and the polynomial that steps/functions.hpp explains. An approximate division takes few
// instructions; a correctly rounded one takes ten.
#include <type_traits>

#include "common/gpu/strided_tiles.hpp"
#include "common/tensor/simplify.hpp"
#include "common/tensor/vectorized.hpp"
#include "day06_transformer_ops/activation/tile.hpp"
#include "day06_transformer_ops/row_tiles.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

using gpu::I, gpu::strided_tiles, gpu::four;

constexpr ct::round_approximate_t kNearly{};

/// x / (1 + 2^v). Numerator and denominator are scaled by 1/4: the approximate quotient is 0 if the
/// denominator exceeds 2^126.
template <class X>
__tile__ X times_sigmoid_tile(const X& x, const X& v) {
    return ct::div(0.25f * x, 0.25f + ct::exp2(v - 2.0f), kNearly);
}

template <class X>
__tile__ X gelu_erf_tile(const X& x) {
    const X t = ct::div(1.0f, 0.3f * ct::abs(x) + 1.0f, kNearly);
    X p = 0.0383225501f * t - 0.168895295f;
    p = p * t + 0.228100809f;
    p = p * t - 0.0758669248f;
    p = p * t + 0.142093765f;
    p = p * t + 0.094871748f;
    p = p * t + 0.121872156f;
    p = p * t + 0.11949445f;
    p = p * t + 6.77149678e-6f;
    const X q = p * ct::exp2(-0.72134752f * x * x);  // tail probability beyond |x|
    return x * ct::select(x > 0.0f, 1.0f - q, q);
}

template <class X>
__tile__ X activated_tile(Activation what, const X& x) {
    X y = x;
    if (what == Activation::relu) {
        y = ct::select(x < 0.0f, ct::zeros<X>(), x);  // NaN stays
    } else if (what == Activation::gelu_erf) {
        y = gelu_erf_tile(x);
    } else if (what == Activation::gelu_tanh) {
        y = times_sigmoid_tile(x, x * (-0.10294324f * x * x - 2.3022082f));  // -2 u log2(e)
    } else {
        y = times_sigmoid_tile(x, -1.44269504f * x);  // exp(-x) = 2^(-x log2(e))
    }
    return y;
}

/// b is not read for Plain.
template <class OP, int WHOLE, int ROWS, int COLUMNS, class E>
__tile_global__ void activation_tile(int what, const E* a, const E* b, I n0, I n1, I n2, I n3, I a0,
                                     I a1, I a2, I a3, I b0, I b1, I b2, I b3, I to0, I to1, I to2,
                                     I to3, E* out) {
    const auto as = strided_tiles<WHOLE, ROWS, COLUMNS>(a, n0, n1, n2, n3, a0, a1, a2, a3);
    const auto bs = strided_tiles<WHOLE, ROWS, COLUMNS>(b, n0, n1, n2, n3, b0, b1, b2, b3);
    const auto to = strided_tiles<WHOLE, ROWS, COLUMNS>(out, n0, n1, n2, n3, to0, to1, to2, to3);
    const I down = (n2 + ROWS - 1) / ROWS, across = (n3 + COLUMNS - 1) / COLUMNS;
    const I k = ct::bid().x;
    const I w = k % across, z = k / across % down, y = k / across / down % n1,
            v = k / across / down / n1;
    auto x = ct::element_cast<float>(as.load_masked(v, y, z, w));
    if constexpr (std::is_same_v<OP, Biased>) {
        x = x + ct::element_cast<float>(bs.load_masked(v, y, z, w));
    }
    x = activated_tile(static_cast<Activation>(what), x);
    if constexpr (std::is_same_v<OP, Gated>) {
        x = x * ct::element_cast<float>(bs.load_masked(v, y, z, w));
    }
    to.store_masked(ct::element_cast<E>(x), v, y, z, w);
}

template <class OP, int WHOLE, int ROWS, int COLUMNS, class T>
void launch(Activation what, const View<const T>& a, const View<const T>& b, const View<T>& out,
            gpu::Stream stream) {
    using E = typename Element<T>::type;
    const auto n = four(out.shape(), 1), from_a = four(a.layout.strides, 0),
               from_b = four(b.layout.strides, 0), to = four(out.layout.strides, 0);
    const unsigned grid = gpu::tiles_of(n, ROWS, COLUMNS);
    activation_tile<OP, WHOLE, ROWS, COLUMNS><<<grid, 1, 0, stream>>>(
        static_cast<int>(what), reinterpret_cast<const E*>(a.data),
        reinterpret_cast<const E*>(b.data), n[0], n[1], n[2], n[3], from_a[0], from_a[1], from_a[2],
        from_a[3], from_b[0], from_b[1], from_b[2], from_b[3], to[0], to[1], to[2], to[3],
        reinterpret_cast<E*>(out.data));
    gpu::check_launch("activation_tile", grid, 1);
}

}  // namespace

template <class OP, class T>
void launch_activation_tile(Activation what, View<const T> a, View<const T> b, View<T> out,
                            gpu::Stream stream) {
    const auto layouts = simplify(out.layout, a.layout, b.layout);
    out.layout = layouts[0], a.layout = layouts[1], b.layout = layouts[2];
    constexpr int kWhole = 16 / sizeof(T);
    const bool whole = has_wider(a.data, a.layout, sizeof(T)) &&
                       has_wider(b.data, b.layout, sizeof(T)) &&
                       has_wider(out.data, out.layout, sizeof(T));
    if (out.rank() <= 1) {  // one row
        return whole ? launch<OP, kWhole, 1, 2048>(what, a, b, out, stream)
                     : launch<OP, 1, 1, 2048>(what, a, b, out, stream);
    }
    whole ? launch<OP, kWhole, 8, 256>(what, a, b, out, stream)
          : launch<OP, 1, 8, 256>(what, a, b, out, stream);
}

template void launch_activation_tile<Plain>(Activation, View<const float>, View<const float>,
                                            View<float>, gpu::Stream);
template void launch_activation_tile<Biased>(Activation, View<const float>, View<const float>,
                                             View<float>, gpu::Stream);
template void launch_activation_tile<Gated>(Activation, View<const float>, View<const float>,
                                            View<float>, gpu::Stream);
template void launch_activation_tile<Plain>(Activation, View<const bf16>, View<const bf16>,
                                            View<bf16>, gpu::Stream);
template void launch_activation_tile<Biased>(Activation, View<const bf16>, View<const bf16>,
                                             View<bf16>, gpu::Stream);
template void launch_activation_tile<Gated>(Activation, View<const bf16>, View<const bf16>,
                                            View<bf16>, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
