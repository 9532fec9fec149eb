// MARK: the line that a finding must name.
#include "common/emulator/tile/tests/kernels.hpp"

#include <cuda_tile.h>

#include <cmath>
#include <map>
#include <string>

namespace sixdays::emulator::tests {

namespace ct = cuda::tiles;
using namespace ct::literals;
using Eight = ct::tile<float, ct::shape<8>>;
using Numbers = ct::tile<int, ct::shape<8>>;

template <class T>
__tile__ auto eights(T* data, int n) {
    return ct::partition_view{ct::tensor_span{data, ct::extents{n}}, ct::shape{8_ic}};
}

// --- what does not compile (nor by nvcc 13.5) and what does --------------------------------------
template <class A, class B>
concept multiplied = requires(A a, B b) {
    a* b;
};
template <class A, class B>
concept compared = requires(A a, B b) {
    a == b;
};
template <class A>
concept exp_named = requires(A a) {
    ct::exp<A>(a);
};
template <class A>
concept exp_called = requires(A a) {
    ct::exp(a);
};
template <class A, class B, class C>
concept fused = requires(A a, B b, C c) {
    ct::fma(a, b, c);
};
using Rows = ct::tile<float, ct::shape<2, 8>>;
using Halves = ct::tile<__half, ct::shape<8>>;
using Bytes = ct::tile<signed char, ct::shape<8>>;
static_assert(multiplied<Numbers, int> && multiplied<Eight, float> && multiplied<Eight, int>);
static_assert(!multiplied<Numbers, double> && compared<Numbers, double>);
static_assert(!multiplied<Numbers, unsigned>);  // signs do not mix
static_assert(!multiplied<Halves, ct::tile<__nv_bfloat16, ct::shape<8>>>);
static_assert(exp_called<Eight> && !exp_named<Eight>);  // the first argument is a rounding mode
static_assert(fused<Rows, Eight, Rows> && !fused<Rows, Eight, Eight>);  // c says the lengths
static_assert(std::is_same_v<decltype(Bytes() * Bytes()), Bytes>);      // small types stay small

// --- right ---------------------------------------------------------------------------------------
__tile_global__ void twice(const float* in, int n, float* out) {
    const auto i = ct::bid().x;
    eights(out, n).store_masked(2 * eights(in, n).load_masked(i), i);
}
__tile_global__ void twice_by_address(const float* in, int n, float* out) {
    const auto at = static_cast<int>(ct::bid().x) * 8 + ct::iota<Numbers>();
    const auto mask = at < n;
    ct::store_masked(out + at, 2 * ct::load_masked(in + at, mask, 0.0f), mask);
}
__tile_global__ void twice_in_a_loop(const float* in, int n, float* out) {
    const int tiles = (n + 7) / 8;
    for (const auto i :
         ct::irange(static_cast<int>(ct::bid().x), tiles, static_cast<int>(ct::num_blocks().x))) {
        eights(out, n).store_masked(2 * eights(in, n).load_masked(i), i);
    }
}
__tile_global__ void kept_promises(const float* in, int n, float* out) {
    const float* from = ct::assume_aligned(in, 16_ic);
    const int count = ct::assume_divisible<2>(ct::assume_bounded(n, 1_ic, 1000_ic));
    const auto i = ct::bid().x;
    eights(out, count).store_masked(2 * eights(from, count).load_masked(i), i);
}
// Bounds are numbers that may be met. @param n  20
__tile_global__ void exact_bounds(const float* in, int n, float* out) {
    const int count = ct::assume_bounded_above(ct::assume_bounded_below(n, 20_ic), 20_ic);
    const auto i = ct::bid().x;
    eights(out, count)
        .store_masked(2 * eights(in, ct::assume_bounded(n, 20_ic, 20_ic)).load_masked(i), i);
}
// The lengths that a type leaves open are given alone, or with those that it knows. @param n  20
__tile_global__ void lengths_given_in_part(const float* in, int n, float* out) {
    using Two = ct::extents<int, 2, ct::dynamic_extent>;
    const ct::partition_view from{ct::tensor_span{in, Two{n / 2}}, ct::shape<2, 8>{}};
    const ct::partition_view to{ct::tensor_span{out, Two{2, n / 2}}, ct::shape<2, 8>{}};
    const auto i = ct::bid().x;
    to.store_masked(2 * from.load_masked(0, i), 0, i);
}
// Every element of tile i is out(i), so blocks do not meet; -inf is the padding of a maximum.
__tile_global__ void largest(const float* in, int n, float* out) {
    const auto i = ct::bid().x;
    const auto x = eights(in, n).load_masked(ct::view_padding_negative_inf_t{}, i);
    out[i] = static_cast<float>(ct::reduce_max(x, 0_ic));
}

// --- wrong ---------------------------------------------------------------------------------------
__tile_global__ void load_without_mask(const float* in, int n, float* out) {
    const auto i = ct::bid().x;
    const Eight x = eights(in, n).load(i);  // MARK load_without_mask
    eights(out, n).store_masked(x, i);
}
__tile_global__ void store_without_mask(const float* in, int n, float* out) {
    const auto i = ct::bid().x;
    const Eight x = eights(in, n).load_masked(i);
    eights(out, n).store(x, i);  // MARK store_without_mask
}
__tile_global__ void one_tile_too_many(const float* in, int n, float* out) {
    const auto i = ct::bid().x;
    const Eight x = eights(in, n).load_masked(i);  // MARK one_tile_too_many
    eights(out, n).store_masked(x, i);
}
__tile_global__ void addresses_without_mask(const float* in, int n, float* out) {
    const auto at = static_cast<int>(ct::bid().x) * 8 + ct::iota<Numbers>();
    const Eight x = ct::load(in + at);  // MARK addresses_without_mask
    ct::store_masked(out + at, x, at < n);
}
__tile_global__ void not_aligned(const float* in, int n, float* out) {
    const float* from = ct::assume_aligned(in + 1, 16_ic);  // MARK not_aligned
    const auto i = ct::bid().x;
    eights(out, n).store_masked(eights(from, n - 1).load_masked(i), i);
}
__tile_global__ void not_divisible(const float* in, int n, float* out) {
    const int count = ct::assume_divisible(n, 8_ic);  // MARK not_divisible
    const auto i = ct::bid().x;
    eights(out, count).store_masked(eights(in, count).load_masked(i), i);
}
__tile_global__ void not_bounded(const float* in, int n, float* out) {
    const int count = ct::assume_bounded(n, 1_ic, 16_ic);  // MARK not_bounded
    const auto i = ct::bid().x;
    eights(out, count).store_masked(eights(in, count).load_masked(i), i);
}
__tile_global__ void not_bounded_from_below(const float* in, int n, float* out) {
    const int count = ct::assume_bounded(n, 24_ic, 99_ic);  // MARK not_bounded_from_below
    const auto i = ct::bid().x;
    eights(out, count).store_masked(eights(in, count).load_masked(i), i);
}
__tile_global__ void less_than_said(const float* in, int n, float* out) {
    const int count = ct::assume_bounded_below(n, 21_ic);  // MARK less_than_said
    const auto i = ct::bid().x;
    eights(out, count).store_masked(eights(in, count).load_masked(i), i);
}
__tile_global__ void more_than_said(const float* in, int n, float* out) {
    const int count = ct::assume_bounded_above(n, 19_ic);  // MARK more_than_said
    const auto i = ct::bid().x;
    eights(out, count).store_masked(eights(in, count).load_masked(i), i);
}
__tile_global__ void one_tile_for_all(const float* in, int n, float* out) {
    const Eight x = eights(in, n).load_masked(ct::bid().x);
    eights(out, n).store_masked(x, 0);  // MARK one_tile_for_all
}
__tile_global__ void one_element_twice(const float* in, int n, float* out) {
    const auto i = ct::bid().x;
    const auto at = static_cast<int>(i) * 4 + ct::iota<Numbers>() / 2;
    ct::store(out + at, eights(in, n).load_masked(i));  // MARK one_element_twice
}
__tile_global__ void stride_0(const float* in, int n, float* out) {
    const ct::layout_strided_mapping layout{ct::extents{n}, ct::strides{0}};
    const ct::partition_view all{ct::tensor_span{out, layout}, ct::shape<8>{}};
    all.store_masked(eights(in, n).load_masked(0), 0);  // MARK stride_0
}
__tile_global__ void never_written(const float* in, int n, float* out) {
    const auto i = ct::bid().x;
    const Eight old = eights(out, n).load_masked(i);  // MARK never_written
    eights(out, n).store_masked(old + eights(in, n).load_masked(i), i);
}
__tile_global__ void only_declared(const float*, int n, float* out) {
    Eight x;
    const auto y = 2 * x;  // MARK only_declared
    eights(out, n).store_masked(y, ct::bid().x);
}
// @param n  of each row, of which the second is 2^30 elements behind the first, and the third 2^31
__tile_global__ void too_far_for_int(const float* in, int n, float* out) {
    constexpr std::size_t kAny = ct::dynamic_extent;
    const ct::layout_strided_mapping rows{ct::extents<int, 3, kAny>{n},
                                          ct::strides<int, kAny, 1>{1 << 30}};
    const ct::partition_view all{ct::tensor_span{in, rows}, ct::shape<1, 8>{}};
    const auto x = all.load_masked(2, ct::bid().x);  // MARK too_far_for_int
    eights(out, n).store_masked(ct::reshape(x, ct::shape<8>{}), ct::bid().x);
}
__tile_global__ void grid_of_half_the_tiles(const float* in, int n, float* out) {
    const auto i = ct::bid().x;
    eights(out, n).store_masked(eights(in, n).load_masked(i), i);
}

// No tiles: what is said of it speaks of threads again.
__global__ void one_word_for_all(const float* in, int, float* out) {
    out[0] = in[blockIdx.x];  // MARK one_word_for_all
}

void launch_tile(const char* name, unsigned blocks, const float* in, int n, float* out) {
    if (std::string(name) == "blocks_of_threads") {
        return twice<<<blocks, 128>>>(in, n, out);  // MARK blocks_of_threads
    }
#define KERNEL(k) \
    if (std::string(name) == #k) return k<<<blocks, 1>>>(in, n, out);
    KERNEL(twice)
    KERNEL(twice_by_address)
    KERNEL(twice_in_a_loop)
    KERNEL(kept_promises)
    KERNEL(largest)
    KERNEL(load_without_mask)
    KERNEL(store_without_mask)
    KERNEL(one_tile_too_many)
    KERNEL(addresses_without_mask)
    KERNEL(not_aligned)
    KERNEL(not_divisible)
    KERNEL(not_bounded)
    KERNEL(not_bounded_from_below)
    KERNEL(less_than_said)
    KERNEL(more_than_said)
    KERNEL(exact_bounds)
    KERNEL(lengths_given_in_part)
    KERNEL(one_tile_for_all)
    KERNEL(one_element_twice)
    KERNEL(stride_0)
    KERNEL(never_written)
    KERNEL(only_declared)
    KERNEL(too_far_for_int)
    KERNEL(grid_of_half_the_tiles)
    KERNEL(one_word_for_all)
#undef KERNEL
}

// --- more than one dim ---------------------------------------------------------------------------
__tile_global__ void transpose_kernel(const float* in, int m, int n, float* out) {
    const ct::partition_view from{ct::tensor_span{in, ct::extents{m, n}}, ct::shape<4, 8>{}};
    const ct::partition_view to{ct::tensor_span{out, ct::extents{n, m}}, ct::shape<8, 4>{}};
    const auto [x, y, z] = ct::bid();
    to.store_masked(ct::transpose(from.load_masked(y, x)), x, y);
}
void transpose_tile(const float* in, int m, int n, float* out) {
    const dim3 grid(static_cast<unsigned>(n + 7) / 8, static_cast<unsigned>(m + 3) / 4);
    transpose_kernel<<<grid, 1>>>(in, m, n, out);
}

__tile_global__ void matmul_kernel(const float* a, const float* b, int m, int k, int n,
                                   float* out) {
    const ct::partition_view left{ct::tensor_span{a, ct::extents{m, k}}, ct::shape<8, 4>{}};
    const ct::partition_view right{ct::tensor_span{b, ct::extents{k, n}}, ct::shape<4, 16>{}};
    const ct::partition_view to{ct::tensor_span{out, ct::extents{m, n}}, ct::shape<8, 16>{}};
    const auto [x, y, z] = ct::bid();
    auto sum = ct::zeros<ct::tile<float, ct::shape<8, 16>>>();
    for (const auto i : ct::irange(0, (k + 3) / 4)) {
        sum = ct::mma(left.load_masked(y, i), right.load_masked(i, x), sum);
    }
    to.store_masked(sum, y, x);
}
void matmul_tile(const float* a, const float* b, int m, int k, int n, float* out) {
    const dim3 grid(static_cast<unsigned>(n + 15) / 16, static_cast<unsigned>(m + 7) / 8);
    matmul_kernel<<<grid, 1>>>(a, b, m, k, n, out);
}

__tile_global__ void softmax_kernel(const float* in, int rows, int n, float* out) {
    const ct::partition_view from{ct::tensor_span{in, ct::extents{rows, n}}, ct::shape<4, 16>{}};
    const ct::partition_view to{ct::tensor_span{out, ct::extents{rows, n}}, ct::shape<4, 16>{}};
    const auto row = ct::bid().x;
    const auto x = from.load_masked(ct::view_padding_negative_inf_t{}, row, 0);
    const auto e = ct::exp(x - ct::reduce_max(x, 1_ic));
    to.store_masked(e / ct::sum(e, 1_ic), row, 0);
}
void softmax_tile(const float* in, int rows, int n, float* out) {
    softmax_kernel<<<static_cast<unsigned>(rows + 3) / 4, 1>>>(in, rows, n, out);
}

}  // namespace sixdays::emulator::tests
