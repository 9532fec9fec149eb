/// @file
/// For .cu files: what the phases (phase.hpp) of several architectures have in common: prologues and
/// epilogues.
#pragma once

#include <cmath>

#include "common/gpu/reduce.hpp"
#include "day06_transformer_ops/gpt2/gpu/decode.hpp"
#include "day06_transformer_ops/gpt2/weights/phase.hpp"

namespace sixdays::gpt2 {

// --- prologues: how the block computes x ---------------------------------------------------------

// Loops over K are not unrolled: usually there is one iteration, and instructions are fetched again
// for each phase, so a kernel should be short.

/// Layer norm of the stream. Every block computes it redundantly: that is cheaper than another
/// kernel. A thread rereads only the vectors that it has written: no barrier is needed.
template <class C>
struct Norm {
    static constexpr int kRowsKept = kNormKeeps;  // weight and bias
    static constexpr bool kOnlyCopies = false;
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
    static constexpr bool kOnlyCopies = false;
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

/// Combines attention's parts, rescaled to the largest score of their head.
struct Join {
    static constexpr int kRowsKept = 0;
    static constexpr bool kOnlyCopies = false;
    AttentionParts parts;

    __device__ void before(float*, int) const {}
    __device__ void operator()(float* x, const float*, int K) const {
        const int D = static_cast<int>(parts.D);
#pragma unroll 1
        for (int k = 4 * threadIdx.x; k < K; k += 4 * blockDim.x) {
            const int head = k / D;
            const auto* const tops = reinterpret_cast<const float2*>(parts.tops) + head * kSplits;
            const float* const sums = parts.sums + head * kSplits * D + k % D;
            float2 top[kSplits];  // the largest score, and the sum of exponentials
            Vector part[kSplits];
#pragma unroll
            for (int s = 0; s < kSplits; ++s) top[s] = tops[s], part[s] = vector(sums + s * D);
            float largest = top[0].x, all = 0;
#pragma unroll
            for (const float2& of : top) largest = fmaxf(largest, of.x);
            Vector sum = {};
#pragma unroll
            for (int s = 0; s < kSplits; ++s) {
                const float weight = expf(top[s].x - largest);
                all += weight * top[s].y;
                for (int i = 0; i < 4; ++i) sum.x[i] += weight * part[s].x[i];
            }
            for (float& element : sum.x) element /= all;
            vector(x + k) = sum;
        }
    }
};

/// x as it is in device memory.
struct Hidden {
    static constexpr int kRowsKept = 0;
    static constexpr bool kOnlyCopies = true;  // x is `from`
    const float* from;

    __device__ void before(float*, int) const {}
    __device__ void operator()(float* x, const float*, int K) const {
#pragma unroll 4
        for (int k = 4 * threadIdx.x; k < K; k += 4 * blockDim.x) vector(x + k) = vector(from + k);
    }
};

// --- epilogues: where a sum goes -----------------------------------------------------------------

/// Adds a sum and a bias to the stream.
struct Add {
    const float* bias;
    float* stream;

    using Added = float;
    __device__ Added load(int n) const { return stream[n] + bias[n]; }
    __device__ void operator()(int n, float sum, Added had) const { stream[n] = had + sum; }
};

/// Stores a sum as a logit.
struct Logit {
    float* out;

    struct Added {};
    __device__ Added load(int) const { return {}; }
    __device__ void operator()(int n, float sum, Added) const { out[n] = sum; }
};

}  // namespace sixdays::gpt2
