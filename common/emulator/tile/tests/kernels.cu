// MARK: the line that a finding must name.
#include "common/emulator/tile/tests/kernels.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_tf32.h>
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

// --- what must not compile (nvcc 13.5 rejects it too), and what must -----------------------------
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
template <class A, class B, class MODE>
concept added_in = requires(A a, B b) {
    ct::add(a, b, MODE{});
};
template <class A, class B, class MODE>
concept divided_in = requires(A a, B b) {
    ct::div(a, b, MODE{});
};
template <class A, class SUB>
concept flushed = requires(A a) {
    ct::add(a, a, ct::round_ties_to_even_t{}, SUB{});
};
template <class A, class E, class MODE>
concept cast_in = requires(A a) {
    ct::element_cast<E>(a, MODE{});
};
template <class P, class V>
concept stored = requires(P p, V v) {
    ct::store(p, v);
};
template <class P, class ORDER>
concept loaded_in = requires(P p) {
    ct::atomic_load(p, ORDER{});
};
template <class P, class V, class ORDER>
concept stored_in = requires(P p, V v) {
    ct::atomic_store(p, v, ORDER{});
};
template <class P, class V>
concept added_atomically = requires(P p, V v) {
    ct::atomic_add(p, v, ct::memory_order_relaxed_t{});
};
template <class P, class V>
concept larger_atomically = requires(P p, V v) {
    ct::atomic_max(p, v, ct::memory_order_relaxed_t{});
};
template <class T, int DIM>
concept scanned = requires(T t) {
    ct::partial_sum<DIM>(t);
};
template <class T, class S>
concept broadcast_as = requires(T t) {
    ct::broadcast<S>(t);
};
using Rows = ct::tile<float, ct::shape<2, 8>>;
using Halves = ct::tile<__half, ct::shape<8>>;
using Bytes = ct::tile<signed char, ct::shape<8>>;
static_assert(multiplied<Numbers, int> && multiplied<Eight, float> && multiplied<Eight, int>);
static_assert(!multiplied<Numbers, double> && compared<Numbers, double>);
static_assert(!multiplied<Numbers, unsigned>);  // signedness must match
static_assert(!multiplied<Halves, ct::tile<__nv_bfloat16, ct::shape<8>>>);
static_assert(exp_called<Eight> && !exp_named<Eight>);  // the first argument is a rounding mode
static_assert(fused<Rows, Eight, Rows> && !fused<Rows, Eight, Eight>);  // c determines the shape
static_assert(std::is_same_v<decltype(Bytes() * Bytes()), Bytes>);      // no promotion

// Modes: only for floats; arithmetic takes those of IEEE 754, and each cast its own.
static_assert(added_in<Eight, float, ct::round_toward_zero_t> &&
              added_in<Halves, Halves, ct::round_toward_positive_t> &&
              !added_in<Numbers, Numbers, ct::round_toward_zero_t> &&
              !added_in<Eight, Eight, ct::round_approximate_t> &&
              !added_in<Eight, Eight, ct::round_ties_to_away_t>);
static_assert(divided_in<Eight, Eight, ct::round_full_t> &&
              !divided_in<Halves, Halves, ct::round_full_t>);
static_assert(flushed<Eight, ct::round_subnormals_to_zero_t> &&
              flushed<Halves, ct::preserve_subnormals_t> &&
              !flushed<Halves, ct::round_subnormals_to_zero_t>);
static_assert(cast_in<Eight, __half, ct::round_toward_zero_t> &&
              !cast_in<Eight, __half, ct::round_toward_negative_t> &&
              cast_in<ct::tile<double, ct::shape<8>>, float, ct::round_toward_negative_t> &&
              cast_in<Halves, float, ct::round_ties_to_away_t> &&
              !cast_in<Eight, __half, ct::round_ties_to_away_t> &&
              !cast_in<Eight, int, ct::round_toward_zero_t> &&
              !cast_in<Numbers, float, ct::round_toward_zero_t>);
// Memory: stores must not narrow; loads take acquire, stores release.
using Addresses = ct::tile<float*, ct::shape<8>>;
using Constants = ct::tile<const float*, ct::shape<8>>;
using Places = ct::tile<int*, ct::shape<8>>;
static_assert(stored<Addresses, Halves> && !stored<Addresses, Numbers> &&
              !stored<Addresses, ct::tile<double, ct::shape<8>>> && !stored<Addresses, float> &&
              !stored<Constants, Eight> && stored<float*, float> && !stored<float*, int>);
static_assert(loaded_in<Constants, ct::memory_order_acquire_t> &&
              !loaded_in<Constants, ct::memory_order_release_t> &&
              !loaded_in<Constants, ct::memory_order_acq_rel_t>);
static_assert(stored_in<Places, Numbers, ct::memory_order_release_t> &&
              !stored_in<Places, Numbers, ct::memory_order_acquire_t> &&
              !stored_in<Places, Numbers, ct::memory_order_acq_rel_t>);
static_assert(added_atomically<Addresses, Eight> && larger_atomically<Places, Numbers> &&
              !larger_atomically<Addresses, Eight> && !added_atomically<Constants, Eight> &&
              !added_atomically<ct::tile<short*, ct::shape<8>>, ct::tile<short, ct::shape<8>>>);
static_assert(scanned<Rows, 1> && !scanned<Rows, 2> && !scanned<Rows, -1>);
static_assert(broadcast_as<Eight, ct::shape<2, 8>> && !broadcast_as<Rows, ct::shape<8>> &&
              !broadcast_as<Eight, ct::shape<8, 2>>);

// --- correct -------------------------------------------------------------------------------------
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
// Promised bounds are inclusive. @param n  20
__tile_global__ void exact_bounds(const float* in, int n, float* out) {
    const int count = ct::assume_bounded_above(ct::assume_bounded_below(n, 20_ic), 20_ic);
    const auto i = ct::bid().x;
    eights(out, count)
        .store_masked(2 * eights(in, ct::assume_bounded(n, 20_ic, 20_ic)).load_masked(i), i);
}
// Pass only the dynamic extents, or all of them. @param n  20
__tile_global__ void lengths_given_in_part(const float* in, int n, float* out) {
    using Two = ct::extents<int, 2, ct::dynamic_extent>;
    const ct::partition_view from{ct::tensor_span{in, Two{n / 2}}, ct::shape<2, 8>{}};
    const ct::partition_view to{ct::tensor_span{out, Two{2, n / 2}}, ct::shape<2, 8>{}};
    const auto i = ct::bid().x;
    to.store_masked(2 * from.load_masked(0, i), 0, i);
}
// Tile i is reduced into out(i), so blocks do not overlap; -inf is the identity of a maximum.
__tile_global__ void largest(const float* in, int n, float* out) {
    const auto i = ct::bid().x;
    const auto x = eights(in, n).load_masked(ct::view_padding_negative_inf_t{}, i);
    out[i] = static_cast<float>(ct::reduce_max(x, 0_ic));
}

// --- planted bugs --------------------------------------------------------------------------------
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
// @param n  row length; the second row is 2^30 elements after the first, the third 2^31
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

// Not a tile kernel, so its report names threads again.
__global__ void one_word_for_all(const float* in, int, float* out) {
    out[0] = in[blockIdx.x];  // MARK one_word_for_all
}

// --- atomics: what a memory order publishes, and how far a scope reaches -------------------------
// in: 8 elements of data and two flags, initially 0. Block 0 writes the data and sets the flag; the
// other blocks read the data if they see the flag.
constexpr ct::memory_order_relaxed_t kRelaxed{};
constexpr ct::memory_order_acquire_t kAcquire{};
constexpr ct::memory_order_release_t kRelease{};
constexpr ct::memory_order_acq_rel_t kBoth{};
constexpr ct::thread_scope_device_t kDevice{};
constexpr ct::thread_scope_block_t kBlock{};
template <ct::memory_order SAYS, ct::memory_order ASKS>
__tile__ void told(float* data, int* flag, float* out) {
    const auto at = ct::iota<Numbers>();
    if (ct::bid().x == 0) {
        ct::store(data + at, ct::full<Eight>(3));  // MARK of_data
        ct::atomic_store(flag, 1, ct::memory_order_constant<SAYS>{}, kDevice);
    } else if (ct::atomic_load(flag, ct::memory_order_constant<ASKS>{}, kDevice) == 1) {
        ct::store(out + at, ct::load(data + at));  // MARK told_too_little
    }
}
__tile_global__ void released_and_acquired(float* data, int* flags, float* out) {
    told<ct::memory_order::release, ct::memory_order::acquire>(data, flags, out);
}
__tile_global__ void not_released(float* data, int* flags, float* out) {
    told<ct::memory_order::relaxed, ct::memory_order::acquire>(data, flags, out);
}
__tile_global__ void not_acquired(float* data, int* flags, float* out) {
    told<ct::memory_order::release, ct::memory_order::relaxed>(data, flags, out);
}
// Release and acquire work only through the same word.
template <bool WRITER>
__tile__ void told_elsewhere(float* data, int* flags, float* out) {
    const auto at = ct::iota<Numbers>();
    if (ct::bid().x == 0) {
        ct::store(data + at, ct::full<Eight>(3));
        ct::atomic_store(flags, 1, kRelease, kDevice);
        ct::atomic_store(flags + 1, 1, kRelaxed, kDevice);
    } else {
        const bool ready = WRITER ? ct::atomic_load(flags + 1, kAcquire, kDevice) == 1
                                  : ct::atomic_load(flags, kRelaxed, kDevice) == 1 &&
                                        ct::atomic_load(flags + 1, kAcquire, kDevice) == 1;
        if (ready) ct::store(out + at, ct::load(data + at));  // MARK told_elsewhere
    }
}
__tile_global__ void released_elsewhere(float* data, int* flags, float* out) {
    told_elsewhere<true>(data, flags, out);
}
__tile_global__ void acquired_elsewhere(float* data, int* flags, float* out) {
    told_elsewhere<false>(data, flags, out);
}
// A block that reads one word again polls, but keeps its tiles.
__tile_global__ void reads_again(float*, int* flags, float* out) {
    const auto x = ct::full<Eight>(static_cast<float>(3 + ct::bid().x));
    int sum = 0;
    for (int i = 0; i < 3; ++i) sum += ct::atomic_load(flags, kAcquire, kDevice);
    if (ct::bid().x == 0 && sum == 0) ct::store(out + ct::iota<Numbers>(), x);
}
__tile_global__ void waits_for_a_later_block(float*, int* flags, float*) {
    while (ct::bid().x == 0 && ct::atomic_load(flags, kAcquire, kDevice) == 0) {
    }
    ct::atomic_store(flags, 1, kRelease, kDevice);
}
// Knowledge is transitive. Of three blocks, the last to arrive adds up.
__tile_global__ void last_of_three(float* data, int* flags, float* out) {
    const auto i = ct::bid().x;
    data[i] = 1;
    const int before = ct::atomic_add(flags, 1, kBoth, kDevice);
    if (before == 2)
        ct::store(out + ct::iota<Numbers>(), ct::full<Eight>(data[0] + data[1] + data[2]));
}
__tile_global__ void scope_of_a_block(float*, int* flags, float* out) {
    ct::atomic_add(flags, 1, kRelaxed, kBlock);  // MARK scope
    out[ct::bid().x] = 0;
}
__tile_global__ void scope_of_one_block(float*, int* flags, float* out) {
    ct::atomic_add(flags, 1, kRelaxed, kDevice);
    if (ct::bid().x == 1) ct::atomic_add(flags, 1, kRelaxed, kBlock);  // MARK one_scope
    out[ct::bid().x] = 0;
}
// With block scope, each block may use its own words any number of times.
__tile_global__ void scopes_of_own_words(float*, int* flags, float* out) {
    const auto i = ct::bid().x;
    ct::atomic_add(flags + i, 1, kRelaxed, kBlock);
    const int n = ct::atomic_add(flags + i, 1, kRelaxed, kBlock);
    out[i] = static_cast<float>(n + 2);
}
__tile_global__ void beside_a_plain_store(float*, int* flags, float* out) {
    if (ct::bid().x == 0) flags[0] = 5;
    ct::atomic_add(flags, 1, kBoth, kDevice);  // MARK plain
    out[ct::bid().x] = 0;
}

// No double rounding: int64 to 16 bits not via double, double to TF32 not via float.
__tile_global__ void rounded_once(float*, int*, float* out) {
    const auto large = (std::int64_t{1} << 62) + (std::int64_t{1} << 54);  // halfway between two
    out[0] = ct::element_cast<float>(ct::element_cast<__nv_bfloat16>(large));
    out[1] = ct::element_cast<float>(ct::element_cast<__nv_bfloat16>(large + 1));
    out[2] = ct::element_cast<float>(ct::element_cast<__nv_bfloat16>(-large - 1));
    out[3] = ct::element_cast<float>(ct::element_cast<__half>(65519));
    out[4] = ct::element_cast<float>(ct::element_cast<__half>(65520));
    out[5] = ct::element_cast<float>(ct::element_cast<__nv_tf32>(1 + 0x1p-11));
    out[6] = ct::element_cast<float>(ct::element_cast<__nv_tf32>(1 + 0x1p-11 + 0x1p-40));
    out[7] = ct::element_cast<float>(
        ct::element_cast<__nv_tf32>(1 + 0x1p-10 - 0x1p-40, ct::round_toward_zero_t{}));
}

void launch_atomic_tile(const char* name, unsigned blocks, float* data, int* flags, float* out) {
#define KERNEL(k) \
    if (std::string(name) == #k) return k<<<blocks, 1>>>(data, flags, out);
    KERNEL(released_and_acquired)
    KERNEL(not_released)
    KERNEL(reads_again)
    KERNEL(waits_for_a_later_block)
    KERNEL(not_acquired)
    KERNEL(released_elsewhere)
    KERNEL(acquired_elsewhere)
    KERNEL(last_of_three)
    KERNEL(scope_of_a_block)
    KERNEL(scope_of_one_block)
    KERNEL(scopes_of_own_words)
    KERNEL(beside_a_plain_store)
    KERNEL(rounded_once)
#undef KERNEL
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

// --- two dimensions ------------------------------------------------------------------------------
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
