/// @file
/// For .cu files: a load that happens or not, without a branch. In C++, `yes ? *from : 0` becomes a
/// branch, and its result a register that two instructions set. nvcc 13.0 sets it between two
/// wgmma() if it is one of their sums, and then they wait for each other (ptxas says so: C7515). PTX
/// has a predicate on the load itself.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

namespace sixdays::gpu {

#ifdef SIXDAYS_EMULATED

template <class T>
inline T load_if(bool yes, const T* from) {
    return yes ? *from : T{};
}

#else

/// The value at `from`, in global memory, or 0, and then nothing is read. T is float, float2 or
/// std::uint32_t. PTX ISA, "Predicated execution".
template <class T>
__device__ __forceinline__ T load_if(bool yes, const T* from) {
    T value{};
    if constexpr (std::is_same_v<T, float2>) {
        asm volatile(
            "{\n"
            ".reg .pred yes;\n"
            "setp.ne.b32 yes, %2, 0;\n"
            "@yes ld.global.v2.f32 {%0, %1}, [%3];\n"
            "}"
            : "+f"(value.x), "+f"(value.y)
            : "r"(int{yes}), "l"(from));
    } else {
        static_assert(std::is_same_v<T, float> || std::is_same_v<T, std::uint32_t>);
        std::uint32_t bits = 0;
        asm volatile(
            "{\n"
            ".reg .pred yes;\n"
            "setp.ne.b32 yes, %1, 0;\n"
            "@yes ld.global.b32 %0, [%2];\n"
            "}"
            : "+r"(bits)
            : "r"(int{yes}), "l"(from));
        if constexpr (std::is_same_v<T, float>) {
            value = __uint_as_float(bits);
        } else {
            value = bits;
        }
    }
    return value;
}

#endif

}  // namespace sixdays::gpu
