/// @file
/// For .cu files: loads and stores of 16 bytes that are atomic as a whole. Blocks that run at the
/// same time can pass values to each other through them: a reader finds either all four words of a
/// store or none, so one of the words can say which version of the other three it sees. The reader
/// repeats the load (*polls*) until that word is the one that it waits for.
///
///     store_relaxed(slot, {{a, b, c, epoch}});          // in one block
///
///     Words now = load_relaxed(slot);                   // in another one
///     while (now.x[3] != epoch) now = load_relaxed(slot);
///
/// Nothing else is ordered. Data in other memory needs __threadfence() between its store and this
/// one, and between the load and the data's load. Blocks may wait for each other only if all of them
/// are resident: see cudaLaunchCooperativeKernel().
///
/// On the emulator a block that polls lets the other blocks run. It reports a value that no block is
/// left to store, and a plain access to the same memory that is not ordered.
#pragma once

#include <cuda_runtime.h>

#ifdef SIXDAYS_EMULATED
#include "common/emulator/memory_order.hpp"
#endif

namespace sixdays::gpu {

/// 16 bytes, at a multiple of 16.
struct alignas(16) Words {
    unsigned x[4];  ///< in the order of their addresses
};

#ifdef SIXDAYS_EMULATED

[[gnu::always_inline]] inline Words load_relaxed(const Words* from) {
    Words value;
    emulator::load_relaxed16(from, &value);
    return value;
}
[[gnu::always_inline]] inline void store_relaxed(Words* to, const Words& value) {
    emulator::store_relaxed16(to, &value);
}

#else

/// Loads 16 bytes of global memory in one access, never half old and half new. PTX ISA,
/// "ld.relaxed", "Memory consistency model"; .b128 needs compute capability 7.0.
__device__ __forceinline__ Words load_relaxed(const Words* from) {
    unsigned long long low, high;
    asm volatile(
        "{\n"
        ".reg .b128 all;\n"
        "ld.relaxed.gpu.global.b128 all, [%2];\n"
        "mov.b128 {%0, %1}, all;\n"
        "}"
        : "=l"(low), "=l"(high)
        : "l"(from)
        : "memory");
    return {{static_cast<unsigned>(low), static_cast<unsigned>(low >> 32),
             static_cast<unsigned>(high), static_cast<unsigned>(high >> 32)}};
}
/// Stores 16 bytes to global memory in one access. PTX ISA, "st.relaxed".
__device__ __forceinline__ void store_relaxed(Words* to, const Words& value) {
    const unsigned long long low = value.x[0] | static_cast<unsigned long long>(value.x[1]) << 32;
    const unsigned long long high = value.x[2] | static_cast<unsigned long long>(value.x[3]) << 32;
    asm volatile(
        "{\n"
        ".reg .b128 all;\n"
        "mov.b128 all, {%1, %2};\n"
        "st.relaxed.gpu.global.b128 [%0], all;\n"
        "}" ::"l"(to),
        "l"(low), "l"(high)
        : "memory");
}

#endif

}  // namespace sixdays::gpu
