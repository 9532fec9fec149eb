/// @file
/// __half and __half2: 5 bits of exponent, 10 of fraction (IEEE binary16).
#pragma once

#include "cuda_runtime.h"
#include "emulated/small_float.h"

using __half = SixdaysFloat<5>;
using __half2 = SixdaysPair<5>;
using half = __half;
using half2 = __half2;

SIXDAYS_SMALL_FLOAT(__half, __half2, half, half2, 5)

SIXDAYS_INLINE int __half2int_rz(__half x) {
    if (__hisinf(x) != 0) return x.value() > 0 ? 0x7fffffff : -0x7fffffff - 1;
    return __hisnan(x) ? 0 : static_cast<int>(x.value());
}
SIXDAYS_INLINE int __half2int_rn(__half x) {
    return __hisinf(x) != 0 ? __half2int_rz(x) : __half2int_rz(std::nearbyint(x.value()));
}
