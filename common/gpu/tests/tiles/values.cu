#include "common/gpu/tests/tiles/values.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_tf32.h>
#include <cuda_tile.h>

#include <type_traits>

#include "common/gpu/launch.hpp"

namespace sixdays::gpu::tests {
namespace {

namespace ct = cuda::tiles;
using namespace ct::literals;

template <int LENGTH, class T>
__tile__ auto tiles(T* data, int n) {
    return ct::partition_view{ct::tensor_span{data, ct::extents{n}}, ct::shape<LENGTH>{}};
}

/// Row after row of LENGTH elements.
template <int LENGTH, class T>
struct Rows {
    T* out;
    int count = 0;
    template <class X>
    __tile__ void put(const X& x) {
        const auto row = ct::element_cast<T>(ct::reshape<ct::shape<LENGTH>>(x));
        tiles<LENGTH>(out, (count + 1) * LENGTH).store(row, count);
        ++count;
    }
};

// --- element by element --------------------------------------------------------------------------
template <class T>
__tile_global__ void rules(const T* xs, const T* ys, T* out) {
    const auto x = tiles<kTileValues>(xs, kTileValues).load(0);
    const auto y = tiles<kTileValues>(ys, kTileValues).load(0);
    Rows<kTileValues, T> rows{out};
    rows.put(x + y);
    rows.put(x - y);
    rows.put(x * y);
    rows.put(x / y);
    rows.put(-x);
    rows.put(ct::abs(x));
    rows.put(ct::max(x, y));
    rows.put(ct::min(x, y));
    rows.put(x < y);
    rows.put(x == y);
    rows.put(x != y);
    rows.put(ct::element_cast<float>(x));
    if constexpr (std::is_integral_v<T>) {
        rows.put(x % y);
        rows.put(ct::ceildiv(x, y));
        rows.put(x & y);
        rows.put(x | y);
        rows.put(x ^ y);
    } else {
        rows.put(x * x - y);
        rows.put(ct::fma(x, x, -y));
        rows.put(ct::max(x, y, ct::propagate_nan_t{}));
        rows.put(ct::min(x, y, ct::propagate_nan_t{}));
        rows.put(ct::isnan(x));
        rows.put(ct::isinf(x));
        rows.put(ct::floor(x));
        rows.put(ct::ceil(x));
        rows.put(ct::sqrt(x));
        rows.put(ct::element_cast<__half>(x));
        rows.put(ct::element_cast<__nv_bfloat16>(x));
        rows.put(ct::element_cast<__nv_tf32>(x));
        rows.put(ct::element_bitcast<float>(ct::element_bitcast<int>(x)));
        rows.put(ct::exp(x));
        rows.put(ct::exp2(x));
        rows.put(ct::log(x));
        rows.put(ct::log2(x));
        rows.put(ct::rsqrt(x));
        rows.put(ct::tanh(x));
        rows.put(ct::pow(x, y));
        rows.put(ct::sin(x));
        rows.put(ct::cos(x));
    }
}

// --- along a dim ---------------------------------------------------------------------------------
template <class T>
__tile_global__ void reductions(const T* in, T* out) {
    const auto x = ct::reshape<ct::shape<4, 4>>(tiles<16>(in, 16).load(0));
    Rows<4, T> rows{out};
    rows.put(ct::sum(x, 0_ic));
    rows.put(ct::sum(x, 1_ic));
    rows.put(ct::prod(x, 0_ic));
    rows.put(ct::prod(x, 1_ic));
    rows.put(ct::reduce_max(x, 0_ic));
    rows.put(ct::reduce_max(x, 1_ic));
    rows.put(ct::reduce_min(x, 0_ic));
    rows.put(ct::reduce_min(x, 1_ic));
    rows.put(ct::all_of(x > ct::full<decltype(x)>(0), 1_ic));
    rows.put(ct::any_of(x > ct::full<decltype(x)>(0), 0_ic));
    if constexpr (std::is_same_v<T, float>) {
        rows.put(ct::reduce_max(x, 1_ic, ct::propagate_nan_t{}));
        rows.put(ct::reduce_min(x, 0_ic, ct::propagate_nan_t{}));
    }
}

__tile_global__ void paddings(const float* in, float* out) {
    const auto view = tiles<8>(in, 10);
    Rows<8, float> rows{out};
    rows.put(view.load_masked(1));
    rows.put(view.load_masked(ct::view_padding_zero_t{}, 1));
    rows.put(view.load_masked(ct::view_padding_negative_zero_t{}, 1));
    rows.put(view.load_masked(ct::view_padding_positive_inf_t{}, 1));
    rows.put(view.load_masked(ct::view_padding_negative_inf_t{}, 1));
    rows.put(view.load_masked(ct::view_padding_nan_t{}, 1));
    const auto at = 8 + ct::iota<ct::tile<int, ct::shape<8>>>();
    rows.put(ct::load_masked(in + at, at < 10, 3.0f));
}

// --- another order -------------------------------------------------------------------------------
__tile_global__ void shapes(int* out) {
    const auto all = ct::iota<ct::tile<int, ct::shape<16>>>();
    const auto x = ct::reshape<ct::shape<2, 4, 2>>(all);
    const auto square = ct::reshape<ct::shape<4, 4>>(all);
    const auto some = ct::iota<ct::tile<int, ct::shape<4, 2>>>();
    Rows<16, int> rows{out};
    rows.put(x);
    rows.put(ct::transpose(square));
    rows.put(ct::transpose(x));
    rows.put(ct::permute<ct::dimension_map<2, 0, 1>>(x));
    rows.put(ct::cat(some, 100 + some, 0_ic));
    rows.put(ct::cat(some, 100 + some, 1_ic));
    rows.put(ct::broadcast<ct::shape<4, 4>>(ct::iota<ct::tile<int, ct::shape<4, 1>>>()));
    rows.put(ct::iota<ct::tile<int, ct::shape<4, 1>>>() * 10 +
             ct::iota<ct::tile<int, ct::shape<1, 4>>>());
    int n = 0;
    for (const auto i : ct::irange(3, 20, 5)) n = 100 * n + i;  // 3, 8, 13, 18
    rows.put(ct::full<ct::tile<int, ct::shape<16>>>(n));
}

// --- products ------------------------------------------------------------------------------------
template <class E, class S, class X>
__tile__ auto product(const X& a, const X& b) {
    const auto zeros = ct::zeros<ct::tile<S, ct::shape<16, 16>>>();
    return ct::mma(ct::element_cast<E>(a), ct::element_cast<E>(b), zeros);
}
__tile_global__ void products(const float* as, const float* bs, float* out) {
    const auto a = ct::reshape<ct::shape<16, 16>>(tiles<256>(as, 256).load(0));
    const auto b = ct::reshape<ct::shape<16, 16>>(tiles<256>(bs, 256).load(0));
    Rows<256, float> rows{out};
    rows.put(product<float, float>(a, b));
    rows.put(product<__nv_tf32, float>(a, b));
    rows.put(product<__half, float>(a, b));
    rows.put(product<__half, __half>(a, b));
    rows.put(product<__nv_bfloat16, float>(a, b));
    rows.put(product<signed char, int>(a, b));
    rows.put(ct::matmul(a, b));
}

}  // namespace

template <class T>
void tile_rules(View<const T> x, View<const T> y, View<T> out) {
    rules<T><<<1, 1>>>(x.data, y.data, out.data);
    check_launch("tile_rules", 1, 1);
}
template void tile_rules(View<const float>, View<const float>, View<float>);
template void tile_rules(View<const int>, View<const int>, View<int>);
template void tile_rules(View<const std::int8_t>, View<const std::int8_t>, View<std::int8_t>);
template void tile_rules(View<const std::uint8_t>, View<const std::uint8_t>, View<std::uint8_t>);

template <class T>
void tile_reductions(View<const T> in, View<T> out) {
    reductions<T><<<1, 1>>>(in.data, out.data);
    check_launch("tile_reductions", 1, 1);
}
template void tile_reductions(View<const float>, View<float>);
template void tile_reductions(View<const int>, View<int>);

void tile_paddings(View<const float> in, View<float> out) {
    paddings<<<1, 1>>>(in.data, out.data);
    check_launch("tile_paddings", 1, 1);
}
void tile_shapes(View<int> out) {
    shapes<<<1, 1>>>(out.data);
    check_launch("tile_shapes", 1, 1);
}
void tile_products(View<const float> a, View<const float> b, View<float> out) {
    products<<<1, 1>>>(a.data, b.data, out.data);
    check_launch("tile_products", 1, 1);
}

}  // namespace sixdays::gpu::tests
