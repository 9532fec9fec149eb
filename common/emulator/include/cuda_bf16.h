/// @file
/// __nv_bfloat16 and __nv_bfloat162: the upper half of a float, 8 exponent bits, 7 fraction bits.
#pragma once

#include "cuda_runtime.h"
#include "emulated/small_float.h"

using __nv_bfloat16 = SixdaysFloat<8>;
using __nv_bfloat162 = SixdaysPair<8>;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

SIXDAYS_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162, bfloat16, bfloat162, 8)
