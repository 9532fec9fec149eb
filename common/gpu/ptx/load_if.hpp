/// @file
/// For .cu files: a load with a predicate. nvcc compiles `yes ? *from : 0` to a branch that sets the
/// result in two places. If the result is an accumulator of wgmma(), nvcc 13.0 moves one of them
/// between two wgmma(), and ptxas serializes these (its warning C7515). A predicated load has no
/// branch.
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

/// Returns *from, in global memory, if `yes`, else 0 without reading. T is float, float2 or
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
