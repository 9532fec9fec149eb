/// @file
/// Tensor cores in C++ (nvcuda::wmma): a warp multiplies small matrices. A lane holds the elements
/// lane, lane + 32, ... of each matrix in row-major order. A GPU uses a different, unspecified
/// layout. Products are exact, and sums are sequential in float.
#pragma once

#include <cstdint>

#include "common/emulator/libraries/exchange.hpp"
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda::wmma {

using sixdays::emulator::Site;

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
namespace precision {
struct tf32 {};
}  // namespace precision
enum layout_t { mem_row_major, mem_col_major };

namespace details {
template <class T>
struct stored {
    using type = T;
};
template <>
struct stored<precision::tf32> {
    using type = float;
};
/// The factor as tensor cores see it: a tf32 has only 10 fraction bits.
template <class T>
SIXDAYS_INLINE auto factor(typename stored<T>::type x) {
    if constexpr (std::is_same_v<T, precision::tf32>) {
        return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, x) & 0xffffe000u);
    } else if constexpr (std::is_integral_v<T>) {
        return static_cast<int>(x);
    } else if constexpr (std::is_same_v<T, double>) {
        return x;
    } else {
        return static_cast<float>(x);
    }
}
using sixdays::emulator::ptx::lane_id;
}  // namespace details

/// Rounds to the 10 fraction bits of tf32, to nearest.
SIXDAYS_INLINE float __float_to_tf32(float x) {
    sixdays::emulator::ptx::cvt_tf32(x, x);
    return x;
}

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
    static constexpr bool is_a = std::is_same_v<Use, matrix_a>,
                          is_b = std::is_same_v<Use, matrix_b>;
    static constexpr int rows = is_b ? K : M, columns = is_a ? K : N;
    static constexpr int num_elements = rows * columns / 32;
    static constexpr int num_storage_elements = num_elements;
    using element_type = T;
    using storage_element_type = typename details::stored<T>::type;
    storage_element_type x[num_elements];
};

template <class Use, int M, int N, int K, class T, class Layout>
SIXDAYS_INLINE void fill_fragment(fragment<Use, M, N, K, T, Layout>& f,
                                  const typename details::stored<T>::type& value) {
    for (auto& one : f.x) one = value;
}

namespace details {
/// Offset in memory of this lane's element i.
template <class Fragment>
SIXDAYS_INLINE std::size_t place(int i, unsigned lead, bool by_rows) {
    const unsigned element = static_cast<unsigned>(i) * 32 + lane_id();
    const unsigned row = element / Fragment::columns, column = element % Fragment::columns;
    return by_rows ? std::size_t{row} * lead + column : std::size_t{column} * lead + row;
}
template <class Fragment, class T>
SIXDAYS_INLINE void load(Fragment& f, const T* from, unsigned lead, bool by_rows) {
    for (int i = 0; i < Fragment::num_elements; ++i)
        f.x[i] = from[place<Fragment>(i, lead, by_rows)];
}
}  // namespace details

template <class Use, int M, int N, int K, class T, class Layout, class From>
SIXDAYS_INLINE void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f, const From* from,
                                     unsigned lead, Site site = Site::current()) {
    details::load(f, from, lead, std::is_same_v<Layout, row_major>);
    __syncwarp(~0u, site);
}
template <int M, int N, int K, class T, class From>
SIXDAYS_INLINE void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const From* from,
                                     unsigned lead, layout_t layout, Site site = Site::current()) {
    details::load(f, from, lead, layout == mem_row_major);
    __syncwarp(~0u, site);
}
template <int M, int N, int K, class T, class To>
SIXDAYS_INLINE void store_matrix_sync(To* to, const fragment<accumulator, M, N, K, T>& f,
                                      unsigned lead, layout_t layout, Site site = Site::current()) {
    using Fragment = fragment<accumulator, M, N, K, T>;
    for (int i = 0; i < Fragment::num_elements; ++i) {
        to[details::place<Fragment>(i, lead, layout == mem_row_major)] = f.x[i];
    }
    __syncwarp(~0u, site);
}

/// d = a b + c. The kernel accesses no memory here: fragments are registers.
template <int M, int N, int K, class D, class A, class LayoutA, class B, class LayoutB, class C>
__attribute__((noinline, no_sanitize("thread", "undefined"))) void mma_sync(
    fragment<accumulator, M, N, K, D>& d, const fragment<matrix_a, M, N, K, A, LayoutA>& a,
    const fragment<matrix_b, M, N, K, B, LayoutB>& b, const fragment<accumulator, M, N, K, C>& c,
    bool = false, Site site = Site::current()) {
    using sixdays::emulator::kMostShown;
    struct Shown {
        typename details::stored<A>::type a[fragment<matrix_a, M, N, K, A, LayoutA>::num_elements];
        typename details::stored<B>::type b[fragment<matrix_b, M, N, K, B, LayoutB>::num_elements];
    } mine;
    static_assert(sizeof(mine) <= kMostShown, "more than a warp can exchange at once");
    __builtin_memcpy(mine.a, a.x, sizeof(mine.a));
    __builtin_memcpy(mine.b, b.x, sizeof(mine.b));
    const unsigned char* all = sixdays::emulator::exchange(&mine, sizeof(mine), site);
    const auto of = [all](int lane) {
        return reinterpret_cast<const Shown*>(all + lane * kMostShown);
    };
    for (int i = 0; i < fragment<accumulator, M, N, K, D>::num_elements; ++i) {
        const int element = i * 32 + static_cast<int>(details::lane_id());
        const int row = element / N, column = element % N;
        auto sum = c.x[i] + decltype(details::factor<A>(a.x[0])){};
        for (int k = 0; k < K; ++k) {
            const int in_a = row * K + k, in_b = k * N + column;
            sum += details::factor<A>(of(in_a % 32)->a[in_a / 32]) *
                   details::factor<B>(of(in_b % 32)->b[in_b / 32]);
        }
        d.x[i] = sum;
    }
}

}  // namespace nvcuda::wmma

using nvcuda::wmma::__float_to_tf32;
