/// @file
/// For .cu files: how a warp stores its sums, which are in fragments of 16 x 8.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/gpu/ptx/load_if.hpp"
#include "common/gpu/ptx/pack.hpp"
#include "day05_matmul/matmul.hpp"
#include "day05_matmul/steps/matmul_bf16/fragment.hpp"

namespace sixdays::day05_matmul {

template <class Out>
__device__ __forceinline__ bool lies_in_pairs(const View<Out>& out) {
    return out.stride(1) == 1 && out.stride(0) % 2 == 0 &&
           reinterpret_cast<std::uintptr_t>(out.data) % (2 * sizeof(Out)) == 0;
}

/// Two adjacent outputs, loaded or stored by one instruction.
/// @param yes  if false, nothing is read, and both are 0
template <class Out>
__device__ __forceinline__ float2 load_pair(const Out* from, bool yes = true) {
    if constexpr (std::is_same_v<Out, float>) {
        return gpu::load_if(yes, reinterpret_cast<const float2*>(from));
    } else {
        const auto both = gpu::load_if(yes, reinterpret_cast<const std::uint32_t*>(from));
        const auto one = [](std::uint32_t bits) {
            return static_cast<float>(Out::from_bits(static_cast<std::uint16_t>(bits)));
        };
        return make_float2(one(both), one(both >> 16));
    }
}
template <class Out>
__device__ __forceinline__ void store_pair(Out* to, float first, float second) {
    if constexpr (std::is_same_v<Out, float>) {
        *reinterpret_cast<float2*>(to) = make_float2(first, second);
    } else {
        *reinterpret_cast<std::uint32_t*>(to) = gpu::pack<Out>(first, second);
    }
}

/// Stores whole fragments, two adjacent outputs at a time. The lane's first sum belongs to (row,
/// column).
/// @param finish  (sum, j, e): the output for fragment j across, element e of the pair
template <int DOWN, int ACROSS, class Out, class F>
__device__ __forceinline__ void store_pairs(const float (&sum)[DOWN][ACROSS][4],
                                            const View<Out>& out, std::int64_t row,
                                            std::int64_t column, const F& finish) {
    Out* to = &out(row, column);
#pragma unroll
    for (int i = 0; i < 2 * DOWN; ++i) {  // eight rows lower each time
        const int first = i % 2 * 2;
#pragma unroll
        for (int j = 0; j < ACROSS; ++j) {
            const float(&s)[4] = sum[i / 2][j];
            store_pair(to + 8 * j, finish(s[first], j, 0), finish(s[first + 1], j, 1));
        }
        to += 8 * out.stride(0);
    }
}

/// The same as store_sums() for outputs that are entirely in the matrix and are not read. It does
/// only the arithmetic that the epilogue needs. These instructions run once per tile of outputs,
/// while the block multiplies nothing.
template <int DOWN, int ACROSS, class Out>
__device__ __forceinline__ void store_inside(const float (&sum)[DOWN][ACROSS][4],
                                             const Epilogue& epilogue, const View<Out>& out,
                                             std::int64_t m0, std::int64_t n0) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const std::int64_t row = m0 + row_of_sum(lane, 0);
    const std::int64_t column = n0 + column_of_sum(lane, 0);
    const bool with_bias = epilogue.bias.data != nullptr;
    if (epilogue.alpha == 1 && !with_bias && !epilogue.relu) {
        return store_pairs(sum, out, row, column, [](float x, int, int) { return x; });
    }
    float bias[ACROSS][2] = {};
    for (int j = 0; j < ACROSS && with_bias; ++j) {
        for (int e = 0; e < 2; ++e) bias[j][e] = epilogue.bias(column + 8 * j + e);
    }
    store_pairs(sum, out, row, column, [&](float x, int j, int e) {
        x *= epilogue.alpha;
        if (with_bias) x += bias[j][e];
        return epilogue.relu && x < 0 ? 0 : x;
    });
}

/// The same for outputs that are added to. A load cannot pass a store that might alias it, so
/// single loads would each wait for the store before: eight pairs are loaded at a time.
template <int DOWN, int ACROSS, class Out>
__device__ __forceinline__ void add_inside(const float (&sum)[DOWN][ACROSS][4],
                                           const Epilogue& epilogue, const View<Out>& out,
                                           std::int64_t m0, std::int64_t n0) {
    constexpr int kAtOnce = ACROSS < 8 ? ACROSS : 8;
    static_assert(ACROSS % kAtOnce == 0);
    const int lane = static_cast<int>(threadIdx.x % 32);
    const std::int64_t row = m0 + row_of_sum(lane, 0), column = n0 + column_of_sum(lane, 0);
    Out* to = &out(row, column);
#pragma unroll
    for (int i = 0; i < 2 * DOWN; ++i) {  // eight rows lower each time
        const int first = i % 2 * 2;
#pragma unroll
        for (int j0 = 0; j0 < ACROSS; j0 += kAtOnce) {
            float2 x[kAtOnce];
#pragma unroll
            for (int j = 0; j < kAtOnce; ++j) x[j] = load_pair(to + 8 * (j0 + j));
#pragma unroll
            for (int j = 0; j < kAtOnce; ++j) {
                const float(&s)[4] = sum[i / 2][j0 + j];
                const std::int64_t n = column + 8 * (j0 + j);
                x[j] = make_float2(epilogue.before_swish(s[first], n, x[j].x),
                                   epilogue.before_swish(s[first + 1], n + 1, x[j].y));
            }
#pragma unroll
            for (int j = 0; j < kAtOnce; ++j) store_pair(to + 8 * (j0 + j), x[j].x, x[j].y);
        }
        to += 8 * out.stride(0);
    }
}

/// The same for sums that go through exp. They are put into local memory, so that a short loop can
/// take them one by one: unrolled, exp would be most of a kernel's instructions.
template <int DOWN, int ACROSS, class Out>
__device__ __forceinline__ void store_one_by_one(const float (&sum)[DOWN][ACROSS][4],
                                                 const Epilogue& epilogue, const View<Out>& out,
                                                 std::int64_t m0, std::int64_t n0) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    float all[DOWN * ACROSS * 4];
#pragma unroll
    for (int i = 0; i < DOWN * ACROSS * 4; ++i) all[i] = sum[i / 4 / ACROSS][i / 4 % ACROSS][i % 4];
#pragma unroll 1
    for (int i = 0; i < DOWN * ACROSS * 4; ++i) {
        const std::int64_t row = m0 + 16 * (i / 4 / ACROSS) + row_of_sum(lane, i % 4);
        const std::int64_t column = n0 + 8 * (i / 4 % ACROSS) + column_of_sum(lane, i % 4);
        if (row < out.extent(0) && column < out.extent(1)) {
            Out& to = out(row, column);
            to = static_cast<Out>(epilogue(all[i], column, to));
        }
    }
}

/// Stores DOWN x ACROSS fragments of which the first begins at (m0, n0). Only store_one_by_one()
/// has an exp: the stores below it are unrolled, and with an exp each they took 1.4 times as long.
/// @param inside  are they all inside out?
template <int DOWN, int ACROSS, class Out>
__device__ __forceinline__ void store_sums(const float (&sum)[DOWN][ACROSS][4],
                                           const Epilogue& epilogue, const View<Out>& out,
                                           std::int64_t m0, std::int64_t n0, bool inside) {
    if (epilogue.swish) return store_one_by_one(sum, epilogue, out, m0, n0);
    if (inside && lies_in_pairs(out)) {
        return epilogue.beta == 0 ? store_inside(sum, epilogue, out, m0, n0)
                                  : add_inside(sum, epilogue, out, m0, n0);
    }
    const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
    for (int i = 0; i < DOWN; ++i) {
#pragma unroll
        for (int j = 0; j < ACROSS; ++j) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const std::int64_t row = m0 + 16 * i + row_of_sum(lane, e);
                const std::int64_t column = n0 + 8 * j + column_of_sum(lane, e);
                if (row < out.extent(0) && column < out.extent(1)) {
                    Out& to = out(row, column);
                    to = static_cast<Out>(epilogue.before_swish(sum[i][j][e], column, to));
                }
            }
        }
    }
}

}  // namespace sixdays::day05_matmul
