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

/// Appends rows of LENGTH elements.
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

// --- rounding ------------------------------------------------------------------------------------
template <class T, class Mode>
__tile__ void put_rounded(Rows<kTileValues, T>& rows, const T* xs, const T* ys, Mode mode) {
    const auto x = tiles<kTileValues>(xs, kTileValues).load(0);
    const auto y = tiles<kTileValues>(ys, kTileValues).load(0);
    rows.put(ct::add(x, y, mode));
    rows.put(ct::sub(x, y, mode));
    rows.put(ct::mul(x, y, mode));
    rows.put(ct::div(x, y, mode));
    rows.put(ct::fma(x, y, x, mode));
    rows.put(ct::sqrt(ct::abs(x), mode));
}
template <class T>
__tile_global__ void roundings(const T* xs, const T* ys, T* out) {
    Rows<kTileValues, T> rows{out};
    put_rounded(rows, xs, ys, ct::round_ties_to_even_t{});
    put_rounded(rows, xs, ys, ct::round_toward_zero_t{});
    put_rounded(rows, xs, ys, ct::round_toward_negative_t{});
    put_rounded(rows, xs, ys, ct::round_toward_positive_t{});
}

__tile_global__ void casts(const double* xs, float* out) {
    const auto x = tiles<kTileValues>(xs, kTileValues).load(0);
    const auto f = ct::element_cast<float>(x);
    Rows<kTileValues, float> rows{out};
    rows.put(ct::element_cast<float>(x, ct::round_ties_to_even_t{}));
    rows.put(ct::element_cast<float>(x, ct::round_toward_zero_t{}));
    rows.put(ct::element_cast<float>(x, ct::round_toward_negative_t{}));
    rows.put(ct::element_cast<float>(x, ct::round_toward_positive_t{}));
    rows.put(ct::element_cast<__half>(f, ct::round_ties_to_even_t{}));
    rows.put(ct::element_cast<__half>(f, ct::round_toward_zero_t{}));
    rows.put(ct::element_cast<__nv_bfloat16>(f, ct::round_ties_to_even_t{}));
    rows.put(ct::element_cast<__nv_bfloat16>(f, ct::round_toward_zero_t{}));
    rows.put(ct::element_cast<__nv_tf32>(f, ct::round_ties_to_even_t{}));
    rows.put(ct::element_cast<__nv_tf32>(f, ct::round_toward_zero_t{}));
    rows.put(ct::element_cast<__nv_tf32>(f, ct::round_ties_to_away_t{}));
    rows.put(ct::element_cast<float>(ct::element_cast<__half>(f), ct::round_ties_to_away_t{}));
}

__tile_global__ void flushed(const float* xs, const float* ys, float* out) {
    const auto x = tiles<kTileValues>(xs, kTileValues).load(0);
    const auto y = tiles<kTileValues>(ys, kTileValues).load(0);
    const ct::round_ties_to_even_t even{};
    const ct::round_subnormals_to_zero_t flush{};
    Rows<kTileValues, float> rows{out};
    rows.put(ct::add(x, y, even, flush));
    rows.put(ct::sub(x, y, even, flush));
    rows.put(ct::mul(x, y, even, flush));
    rows.put(ct::div(x, y, even, flush));
    rows.put(ct::fma(x, y, x, even, flush));
    rows.put(ct::max(x, y, ct::suppress_nan_t{}, flush));
    rows.put(ct::min(x, y, ct::suppress_nan_t{}, flush));
    rows.put(ct::add(x, y, ct::round_toward_positive_t{}, ct::preserve_subnormals_t{}));
}

// --- along a dimension ---------------------------------------------------------------------------
template <class T>
__tile_global__ void scans(const T* in, T* out) {
    const auto x = ct::reshape<ct::shape<2, 4, 2>>(tiles<16>(in, 16).load(0));
    Rows<16, T> rows{out};
    rows.put(ct::partial_sum(x, 0_ic));
    rows.put(ct::partial_sum(x, 1_ic));
    rows.put(ct::partial_sum(x, 2_ic));
    rows.put(ct::partial_sum(x, 0_ic, ct::scan_backward_t{}));
    rows.put(ct::partial_sum(x, 1_ic, ct::scan_backward_t{}));
    rows.put(ct::partial_sum(x, 2_ic, ct::scan_backward_t{}));
    rows.put(ct::partial_sum<1>(x, {}, ct::scan_forward_t{}));
    rows.put(ct::partial_prod(x, 0_ic));
    rows.put(ct::partial_prod(x, 1_ic));
    rows.put(ct::partial_prod(x, 1_ic, ct::scan_backward_t{}));
}

// Inexact sums of one long line, rounded down and up: bounds for every order of summation.
__tile_global__ void rounded_sums(const float* in, float* out) {
    const auto x = tiles<kTileLine>(in, kTileLine).load(0);
    Rows<kTileLine, float> rows{out};
    rows.put(ct::partial_sum(x, 0_ic, ct::round_toward_negative_t{}));
    rows.put(ct::partial_sum(x, 0_ic));
    rows.put(ct::partial_sum(x, 0_ic, ct::round_toward_positive_t{}));
    rows.put(ct::partial_sum(x, 0_ic, ct::round_toward_negative_t{}, ct::preserve_subnormals_t{},
                             ct::scan_backward_t{}));
    rows.put(ct::partial_sum(x, 0_ic, ct::scan_backward_t{}));
    rows.put(ct::partial_sum(x, 0_ic, ct::round_toward_positive_t{}, ct::preserve_subnormals_t{},
                             ct::scan_backward_t{}));
    const auto all = ct::shape<kTileLine>{};
    rows.put(ct::broadcast(ct::sum(x, 0_ic, ct::round_toward_negative_t{}), all));
    rows.put(ct::broadcast(ct::sum(x, 0_ic), all));
    rows.put(ct::broadcast(ct::sum(x, 0_ic, ct::round_toward_positive_t{}), all));
}

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

// --- atomics -------------------------------------------------------------------------------------
/// One step on 16 elements of 100: puts the elements after it, and what it returned.
template <class T, class Change>
__tile__ void step(T* data, Rows<16, T>& rows, const Change& change) {
    const auto at = data + ct::iota<ct::tile<int, ct::shape<16>>>();
    ct::store(at, ct::full<ct::tile<T, ct::shape<16>>>(static_cast<T>(100)));
    const auto old = change(at);
    rows.put(ct::atomic_load(at, ct::memory_order_acquire_t{}));
    rows.put(old);
}
template <class T>
__tile_global__ void atomics(const T* values, T* data, T* out) {
    using Numbers = ct::tile<int, ct::shape<16>>;
    const auto x = tiles<16>(values, 16).load(0);
    const ct::memory_order_relaxed_t relaxed{};
    const ct::memory_order_acq_rel_t both{};
    const ct::thread_scope_device_t device{};
    const auto even = ct::iota<Numbers>() % 2 == 0;
    const auto none = ct::full<ct::tile<T, ct::shape<16>>>(static_cast<T>(7));
    Rows<16, T> rows{out};
    step(data, rows, [&](auto at) { return ct::atomic_add(at, x, relaxed, device); });
    step(data, rows, [&](auto at) { return ct::atomic_sub(at, x, both); });
    step(data, rows, [&](auto at) {  // masked elements return no old value
        return ct::select(even, ct::atomic_add_masked(at, x, even, relaxed, device), none);
    });
    if constexpr (sizeof(T) >= 4) {
        step(data, rows,
             [&](auto at) { return ct::atomic_xchg(at, x, ct::memory_order_release_t{}, device); });
        step(data, rows, [&](auto at) {
            const auto first = ct::atomic_compare_exchange(at, none, x, relaxed, device);
            const auto hundred = ct::full<ct::tile<T, ct::shape<16>>>(static_cast<T>(100));
            ct::atomic_compare_exchange_masked(at, hundred, x, even, both, device);
            return first;
        });
    }
    if constexpr (std::is_integral_v<T>) {
        step(data, rows, [&](auto at) { return ct::atomic_and(at, x, relaxed); });
        step(data, rows, [&](auto at) { return ct::atomic_or(at, x, relaxed); });
        step(data, rows, [&](auto at) { return ct::atomic_xor(at, x, relaxed); });
        step(data, rows, [&](auto at) { return ct::atomic_max(at, x, relaxed); });
        step(data, rows, [&](auto at) { return ct::atomic_min(at, x, relaxed); });
    }
    step(data, rows, [&](auto at) {
        ct::atomic_store_masked(at, x, even, ct::memory_order_release_t{}, device);
        return ct::atomic_load_masked(at, even, none, relaxed, device);
    });
    // All to one word, and through a view whose last three elements are out of bounds.
    step(data, rows, [&](auto) {
        const auto one = ct::full<ct::tile<T*, ct::shape<16>>>(data);
        ct::atomic_add(one, none, relaxed, ct::thread_scope_block_t{});
        const auto view = tiles<16>(data, 13);
        view.atomic_add_masked(x, relaxed, device, 0);
        return ct::reshape<ct::shape<16>>(
            view.atomic_load_masked(ct::view_padding_zero_t{}, relaxed, device, 0));
    });
    step(data, rows, [&](auto) {
        const auto view = tiles<16>(data, 16);
        view.atomic_store(x, ct::memory_order_release_t{}, 0);
        return view.atomic_load(ct::memory_order_acquire_t{}, device, 0);
    });
}

// Every block adds 1 to each counter, and takes a unique number.
__tile_global__ void counters(int* counts, int* numbers) {
    using Numbers = ct::tile<int, ct::shape<8>>;
    const auto at = counts + ct::iota<Numbers>();
    ct::atomic_add(at, ct::full<Numbers>(1), ct::memory_order_relaxed_t{},
                   ct::thread_scope_device_t{});
    const int mine =
        ct::atomic_add(counts + 8, 1, ct::memory_order_acq_rel_t{}, ct::thread_scope_device_t{});
    numbers[mine] = static_cast<int>(ct::bid().x);
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

namespace {
template <class T>
struct InTiles {
    using type = T;
};
template <>
struct InTiles<f16> {
    using type = __half;
};
template <>
struct InTiles<bf16> {
    using type = __nv_bfloat16;
};
template <class T>
auto in_tiles(const View<T>& v) {
    using E = typename InTiles<std::remove_const_t<T>>::type;
    return reinterpret_cast<std::conditional_t<std::is_const_v<T>, const E, E>*>(v.data);
}
}  // namespace

template <class T>
void tile_roundings(View<const T> x, View<const T> y, View<T> out) {
    roundings<<<1, 1>>>(in_tiles(x), in_tiles(y), in_tiles(out));
    check_launch("tile_roundings", 1, 1);
}
template void tile_roundings(View<const float>, View<const float>, View<float>);
template void tile_roundings(View<const double>, View<const double>, View<double>);
template void tile_roundings(View<const f16>, View<const f16>, View<f16>);
template void tile_roundings(View<const bf16>, View<const bf16>, View<bf16>);

void tile_casts(View<const double> in, View<float> out) {
    casts<<<1, 1>>>(in.data, out.data);
    check_launch("tile_casts", 1, 1);
}
void tile_flushed(View<const float> x, View<const float> y, View<float> out) {
    flushed<<<1, 1>>>(x.data, y.data, out.data);
    check_launch("tile_flushed", 1, 1);
}

template <class T>
void tile_scans(View<const T> in, View<T> out) {
    scans<T><<<1, 1>>>(in.data, out.data);
    check_launch("tile_scans", 1, 1);
}
template void tile_scans(View<const float>, View<float>);
template void tile_scans(View<const int>, View<int>);
void tile_rounded_sums(View<const float> in, View<float> out) {
    rounded_sums<<<1, 1>>>(in.data, out.data);
    check_launch("tile_rounded_sums", 1, 1);
}

template <class T>
void tile_atomics(View<const T> values, View<T> data, View<T> out) {
    atomics<<<1, 1>>>(in_tiles(values), in_tiles(data), in_tiles(out));
    check_launch("tile_atomics", 1, 1);
}
template void tile_atomics(View<const int>, View<int>, View<int>);
template void tile_atomics(View<const std::uint64_t>, View<std::uint64_t>, View<std::uint64_t>);
template void tile_atomics(View<const float>, View<float>, View<float>);
template void tile_atomics(View<const double>, View<double>, View<double>);
template void tile_atomics(View<const f16>, View<f16>, View<f16>);
template void tile_atomics(View<const bf16>, View<bf16>, View<bf16>);
void tile_counters(View<int> counts, View<int> numbers) {
    const unsigned grid = blocks_for(numbers.size(), 1);
    counters<<<grid, 1>>>(counts.data, numbers.data);
    check_launch("tile_counters", grid, 1);
}

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
