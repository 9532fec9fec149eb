/// @file
/// For .cu files: instructions without an equivalent in CUDA C++, each with a function for the
/// emulator. All inline PTX of this project is here.
///
/// Asynchronous copies (cp.async): a thread starts copies from global to shared memory and
/// continues computing; the bytes in flight occupy no register. It closes a group of copies with
/// copy_async_commit(), and waits until at most a given number of its groups is in flight. After
/// the wait it may read its own copies; other threads may read them after the next barrier.
///
/// Programmatic dependent launch: a kernel of a graph with early starts (graph.hpp) starts when all
/// blocks of the previous one have called let_next_start(), and may load data that no kernel
/// writes. It may read what other kernels wrote after wait_for_previous(), which returns when they
/// have ended.
///
/// Approximations in one instruction, for compute-bound kernels: fast_exp2(), fast_reciprocal().
#pragma once

#include <cuda_runtime.h>

#include <cmath>

#ifdef SIXDAYS_EMULATED
#include "common/emulator/async_copy.hpp"
#endif

namespace sixdays::gpu {

#ifdef SIXDAYS_EMULATED

template <int BYTES>
[[gnu::always_inline]] inline void copy_async(
    void* shared, const void* global, int valid_bytes = BYTES,
    std::source_location site = std::source_location::current()) {
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "cp.async moves 4, 8 or 16 bytes");
    emulator::async_copy(shared, global, BYTES, static_cast<std::size_t>(valid_bytes), site);
}
inline void copy_async_commit() {
    emulator::async_commit();
}
template <int GROUPS>
inline void copy_async_wait() {
    emulator::async_wait(GROUPS);
}
// On the emulator a kernel ends before the next one starts.
inline void let_next_start() {}
inline void wait_for_previous() {}
// Exact, except that the smallest numbers are flushed.
inline float zero_if_tiny(float x) {
    return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
}
inline float fast_exp2(float x) {
    return zero_if_tiny(std::exp2(x));
}
inline float fast_reciprocal(float x) {
    return zero_if_tiny(1 / x);
}

#else

/// Starts a copy of BYTES = 4, 8 or 16 bytes from global to shared memory (cp.async) and returns at
/// once; the bytes in flight occupy no register. Both addresses must be multiples of BYTES.
/// @param valid_bytes  only this many are read, and the rest becomes 0: for the edge of a matrix
template <int BYTES>
__device__ __forceinline__ void copy_async(void* shared, const void* global,
                                           int valid_bytes = BYTES) {
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "cp.async moves 4, 8 or 16 bytes");
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    if constexpr (BYTES == 16) {  // bypasses L1, which would only hold a second copy
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global),
                     "r"(valid_bytes)
                     : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global),
                     "n"(BYTES), "r"(valid_bytes)
                     : "memory");
    }
}

/// Makes the copies that this thread started since the last call one group, for copy_async_wait().
__device__ __forceinline__ void copy_async_commit() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most GROUPS of this thread's latest groups are in flight. Then it may read its
/// own older copies; other threads may read them after the next barrier.
template <int GROUPS>
__device__ __forceinline__ void copy_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(GROUPS) : "memory");
}

/// Lets the next kernel of a graph with early starts (Start::early) begin once all blocks have
/// called this. It may load data that no kernel writes; the rest only after wait_for_previous().
/// Elsewhere, or before Hopper, this does nothing. PTX ISA, "griddepcontrol".
__device__ __forceinline__ void let_next_start() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
/// Waits until the kernels before this one have ended; after it, what they wrote may be read. For
/// graphs with early starts (Start::early); elsewhere, or before Hopper, this does nothing. PTX
/// ISA, "griddepcontrol".
__device__ __forceinline__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// 2^x in one instruction, with an error of at most two units in the last place; arguments and
/// results below 2^-126 in magnitude count as 0. For compute-bound kernels. PTX ISA,
/// "ex2.approx.ftz".
__device__ __forceinline__ float fast_exp2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
/// 1/x in one instruction, with an error of at most one unit in the last place; 0 for |x| above
/// 2^126. For compute-bound kernels. PTX ISA, "rcp.approx.ftz".
__device__ __forceinline__ float fast_reciprocal(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

#endif

}  // namespace sixdays::gpu
