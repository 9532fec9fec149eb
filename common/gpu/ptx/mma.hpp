/// @file
/// For .cu files: tensor-core instructions of a warp (compute capability 8.0 and newer), each with
/// a function for the emulator.
///
/// A matrix is distributed over the registers of a warp's 32 lanes: its *fragments*. A register
/// holds two adjacent 16-bit elements. Which lane holds what, with lane = 4 r + c, r from 0 to 7
/// and c from 0 to 3 (PTX ISA, "Matrix Fragments for mma.m16n8k16"):
///
///     a   16 x 16   register i holds a(r + 8 (i % 2), 2 c + 8 (i / 2)) and the one to its right
///     b   16 x 8    register i holds b(2 c + 8 i, r) and the one below it
///     sum 16 x 8    register i is sum(r + 8 (i / 2), 2 c + i % 2)
///
/// All 32 lanes of a warp must execute these calls together.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "common/tensor/half.hpp"

#ifdef SIXDAYS_EMULATED
#include "common/emulator/libraries/exchange.hpp"
#include "emulated/ptx.h"
#endif

namespace sixdays::gpu {

#ifdef SIXDAYS_EMULATED

template <class T>
inline void mma_16x8x16(float (&sum)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                        emulator::Site site = emulator::Site::current()) {
    using emulator::ptx::Factor;
    constexpr Factor kFactor = std::is_same_v<T, bf16> ? Factor::bf16 : Factor::f16;
    float out[4];
    emulator::ptx::mma_float(kFactor, 16, a, b, sum, out, site);
    for (int i = 0; i < 4; ++i) sum[i] = out[i];
}

// Each lane loads the row that it points to, and passes it to the others.
[[gnu::always_inline]] inline void load_matrices(std::uint32_t (&to)[4], const void* row,
                                                 emulator::Site site = emulator::Site::current()) {
    const uint4 mine = *static_cast<const uint4*>(row);
    emulator::spread_matrices(to, &mine, false, site);
}
[[gnu::always_inline]] inline void load_matrices_transposed(
    std::uint32_t (&to)[4], const void* row, emulator::Site site = emulator::Site::current()) {
    const uint4 mine = *static_cast<const uint4*>(row);
    emulator::spread_matrices(to, &mine, true, site);
}

#else

/// sum += a b on the tensor cores of a warp: 2,048 multiply-adds. The operands are fragments,
/// distributed over the 32 lanes as mma.hpp shows: a 16 x 16 row-major, b 16 x 8, sum 16 x 8. All
/// 32 lanes call it together. T, bf16 or f16, is the element type of a and b; sums are float.
/// Compute capability 8.0 or newer. PTX ISA, "Matrix Fragments for mma.m16n8k16".
template <class T>
__device__ __forceinline__ void mma_16x8x16(float (&sum)[4], const std::uint32_t (&a)[4],
                                            const std::uint32_t (&b)[2]) {
    if constexpr (std::is_same_v<T, bf16>) {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    } else {
        static_assert(std::is_same_v<T, f16>);
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
}

/// Loads four matrices of 8 x 8 16-bit elements from shared memory, one register each (ldmatrix).
/// Lanes 8 i to 8 i + 7 give the addresses of the rows of matrix i: 8 adjacent elements each, at a
/// multiple of 16 bytes. Lane 4 r + c gets elements 2 c and 2 c + 1 of row r. All 32 lanes call it
/// together.
__device__ __forceinline__ void load_matrices(std::uint32_t (&to)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row))));
}
/// Loads four matrices of 8 x 8 16-bit elements as load_matrices(), each transposed: lane 4 r + c
/// gets rows 2 c and 2 c + 1 of column r.
__device__ __forceinline__ void load_matrices_transposed(std::uint32_t (&to)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row))));
}

#endif

}  // namespace sixdays::gpu
