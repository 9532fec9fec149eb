/// @file
/// For .cu files: rounds two floats to 16 bits and packs them into one register, as fragments need
/// them (mma.hpp). Rounds to nearest, like half.hpp.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "common/tensor/half.hpp"

namespace sixdays::gpu {

#ifdef SIXDAYS_EMULATED

template <class T>
inline std::uint32_t pack(float low, float high) {
    return T(low).bits | static_cast<std::uint32_t>(T(high).bits) << 16;
}

#else

/// Rounds two floats to T, bf16 or f16, to nearest even, and packs them into one register. `low`
/// goes to the lower half, which comes first in memory.
template <class T>
__device__ __forceinline__ std::uint32_t pack(float low, float high) {
    std::uint32_t both;
    if constexpr (std::is_same_v<T, bf16>) {
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    } else {
        static_assert(std::is_same_v<T, f16>);
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    }
    return both;
}

#endif

}  // namespace sixdays::gpu
