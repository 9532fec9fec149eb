/// @file
/// For .cu files: what phases (phase.hpp) of several architectures have in common: how rows are
/// distributed, the norms that a phase begins with, and the logits that the last one ends with.
#pragma once

#include <cmath>

#include "common/gpu/reduce.hpp"
#include "day06_transformer_ops/gpt2/gpu/decode.hpp"
#include "day06_transformer_ops/gpt2/weights/phase.hpp"

namespace sixdays::gpt2 {

// How rows are distributed over blocks, tuned on an H200.
using ManyRows = RowSplit<8, 1, 2>;  // 3 C or 4 C rows of C columns
using FewRows = RowSplit<8, 2, 1>;   // C rows: more blocks, so that every SM has some
using LongRows = RowSplit<8, 4, 1>;  // C rows of 4 C columns
using HeadRows = RowSplit<8, 1, 2>;  // tens of thousands of rows

/// Layer norm of the stream. Every block computes it redundantly: that is cheaper than another
/// kernel. A thread rereads only the vectors that it has written: no barrier is needed.
template <class C>
struct Norm {
    static constexpr int kRowsKept = kNormKeeps;  // weight and bias
    const float *stream, *weight, *bias;
    float eps;

    __device__ void before(float* kept, int K) const {
#pragma unroll 1
        for (int k = 4 * threadIdx.x; k < K; k += 4 * C::THREADS) {
            const Vector w = vector(weight + k), b = vector(bias + k);
            vector(kept + k) = w;
            vector(kept + K + k) = b;
        }
    }
    __device__ void operator()(float* x, const float* kept, int K) const {
        const float N = static_cast<float>(K), first = stream[0];
        float sum = 0, squares = 0;
#pragma unroll 1
        for (int k = 4 * threadIdx.x; k < K; k += 4 * C::THREADS) {
            const Vector q = vector(stream + k);
            for (const float s : q.x) sum += s - first;
            vector(x + k) = q;
        }
        const float mean = first + gpu::block_reduce<C::THREADS>(sum, gpu::Plus()) / N;
#pragma unroll 1
        for (int k = 4 * threadIdx.x; k < K; k += 4 * C::THREADS) {
            const Vector q = vector(x + k);
            for (const float s : q.x) squares += (s - mean) * (s - mean);
        }
        squares = gpu::block_reduce<C::THREADS>(squares, gpu::Plus());
        const float scale = 1 / std::sqrt(squares / N + eps);
#pragma unroll 1
        for (int k = 4 * threadIdx.x; k < K; k += 4 * C::THREADS) {
            Vector q = vector(x + k);
            const Vector w = vector(kept + k), b = vector(kept + K + k);
            for (int i = 0; i < 4; ++i) q.x[i] = fmaf((q.x[i] - mean) * scale, w.x[i], b.x[i]);
            vector(x + k) = q;
        }
    }
};

/// RMS norm of the stream, in the same way.
template <class C>
struct RmsNorm {
    static constexpr int kRowsKept = 1;  // weight
    const float *stream, *weight;
    float eps;

    __device__ void before(float* kept, int K) const {
#pragma unroll 1
        for (int k = 4 * threadIdx.x; k < K; k += 4 * C::THREADS) {
            vector(kept + k) = vector(weight + k);
        }
    }
    __device__ void operator()(float* x, const float* kept, int K) const {
        float squares = 0;
#pragma unroll 1
        for (int k = 4 * threadIdx.x; k < K; k += 4 * C::THREADS) {
            const Vector q = vector(stream + k);
            for (const float s : q.x) squares += s * s;
            vector(x + k) = q;
        }
        squares = gpu::block_reduce<C::THREADS>(squares, gpu::Plus());
        const float scale = 1 / std::sqrt(squares / static_cast<float>(K) + eps);
#pragma unroll 1
        for (int k = 4 * threadIdx.x; k < K; k += 4 * C::THREADS) {
            Vector q = vector(x + k);
            const Vector w = vector(kept + k);
            for (int i = 0; i < 4; ++i) q.x[i] *= scale * w.x[i];
            vector(x + k) = q;
        }
    }
};

/// Stores a sum as a logit.
struct Logit {
    float* out;

    struct Added {};
    __device__ Added load(int) const { return {}; }
    __device__ void operator()(int n, float sum, Added) const { out[n] = sum; }
};

}  // namespace sixdays::gpt2
