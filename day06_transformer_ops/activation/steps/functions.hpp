/// @file
/// The activations in few instructions. While an H200's memory reads and writes one
/// bf16, an SM can issue about 30 instructions for it. std::exp takes eight, a division ten,
/// std::erfc more than forty: the kernel would be compute-bound. But 2^x and 1/x take one
/// instruction each (common/gpu/ptx.hpp), and here all functions are built from these two. They
/// keep the error bound of activation.hpp.
#pragma once

#include <cuda_runtime.h>

#include "common/gpu/ptx.hpp"
#include "day06_transformer_ops/activation/activation.hpp"

namespace sixdays::day06_transformer_ops {

/// x / (1 + 2^v). Numerator and denominator are scaled by 1/4, because
/// fast_reciprocal returns 0 above 2^126.
__device__ inline float times_sigmoid(float x, float v) {
    return 0.25f * x * gpu::fast_reciprocal(0.25f + gpu::fast_exp2(v - 2));
}

struct Relu {
    __device__ float operator()(float x) const { return relu(x); }
};
struct Silu {  // exp(-x) = 2^(-x log2(e))
    __device__ float operator()(float x) const { return times_sigmoid(x, -1.44269504f * x); }
};
struct GeluTanh {  // -2 u log2(e)
    __device__ float operator()(float x) const {
        return times_sigmoid(x, x * fmaf(-0.10294324f, x * x, -2.3022082f));
    }
};

/// The tail probability q of a normal distribution beyond |x|: 2^(-x^2 / 2
/// log2(e)) times a function that falls slowly, from 1/2 at 0 to 0.03 at 13.4,
/// where q is 0 in float. The polynomial in t approximates that function, with a
/// relative error of 6e-8: degree 8, found by the Remez algorithm. Where x is
/// below 0 the result is x q, without cancellation.
struct GeluErf {
    __device__ float operator()(float x) const {
        const float t = gpu::fast_reciprocal(fmaf(0.3f, fabsf(x), 1));
        float p = 0.0383225501f;
        p = fmaf(p, t, -0.168895295f);
        p = fmaf(p, t, 0.228100809f);
        p = fmaf(p, t, -0.0758669248f);
        p = fmaf(p, t, 0.142093765f);
        p = fmaf(p, t, 0.094871748f);
        p = fmaf(p, t, 0.121872156f);
        p = fmaf(p, t, 0.11949445f);
        p = fmaf(p, t, 6.77149678e-6f);
        const float q = p * gpu::fast_exp2(-0.72134752f * x * x);
        return x * (x > 0 ? 1 - q : q);
    }
};

}  // namespace sixdays::day06_transformer_ops
