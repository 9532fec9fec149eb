/// @file
/// For .cu files: x in integers, for products with weights of 4 to 6 bits. A weight's quant is an
/// integer, so four products of quants with bytes of x are one instruction (`__dp4a`) and exact. As
/// floats, each quant would have to be converted first, which takes more instructions than all else.
#pragma once

#include <cuda_runtime.h>

#include "common/gpu/ptx.hpp"

namespace sixdays::gpt2 {

/// 32 consecutive elements of x as integers of 24 bits, in three planes of bytes:
///
///     x(i) = scale * (bytes 0 (i) + 256 bytes 1 (i) + 65536 bytes 2 (i)),  each byte in [-128, 127]
///
/// The largest of the run becomes 127 * 65536, so that an element is off by at most 2^-23 of it. A
/// word of a plane has the four elements of one step of a swizzled run (device_weight.hpp). A run
/// takes 28 words: then the 128-bit reads of eight neighbouring lanes, a run each, cover all 32
/// banks.
struct alignas(16) IntegerRun {
    static constexpr float kLargest = 127 * 65536.0f;  // what the largest element becomes

    uint4 bytes[3][2];  // by plane: steps 0 to 3, and 4 to 7
    float scale;        // NaN if an element is NaN or infinite; 0 if all are below 1e-30
    float sum;          // of the elements, for weights that have a minimum
    float unused[2];    // up to 28 words
};
static_assert(sizeof(IntegerRun) == 28 * sizeof(unsigned));

/// The low bytes of four integers.
__device__ __forceinline__ unsigned low_bytes(const int (&x)[4]) {
    const unsigned two =
        __byte_perm(static_cast<unsigned>(x[0]), static_cast<unsigned>(x[1]), 0x0040);
    const unsigned more =
        __byte_perm(static_cast<unsigned>(x[2]), static_cast<unsigned>(x[3]), 0x0040);
    return __byte_perm(two, more, 0x5410);
}

/// A quarter of a run of x: 8 of its elements, in one of four neighbouring lanes. Lane `quarter` has the
/// run's steps 2 * quarter and 2 * quarter + 1.
struct QuarterRun {
    float v[8];  ///< four elements of the first step, then four of the second

    /// @param from  the first element of run 0
    __device__ __forceinline__ static QuarterRun of(const float* from, int run) {
        QuarterRun made;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int step = (2 * static_cast<int>(threadIdx.x % 4) + half) ^ run % 8;
            const float4 four = *reinterpret_cast<const float4*>(from + 32 * run + 4 * step);
            made.v[4 * half] = four.x, made.v[4 * half + 1] = four.y;
            made.v[4 * half + 2] = four.z, made.v[4 * half + 3] = four.w;
        }
        return made;
    }
    /// Stores the quarter in the run's integers. All lanes of the warp take part. @param to  null: nowhere
    /// @param before_store  called by all threads before it stores
    template <class Before>
    __device__ __forceinline__ void convert(IntegerRun* to, const Before& before_store) const {
        float largest = 0, sum = 0, zero = 0;
#pragma unroll
        for (const float x : v) largest = fmaxf(largest, fabsf(x)), sum += x, zero += 0 * x;
#pragma unroll
        for (int lanes = 1; lanes < 4; lanes *= 2) {
            largest = fmaxf(largest, __shfl_xor_sync(0xFFFFFFFFu, largest, lanes));
            sum += __shfl_xor_sync(0xFFFFFFFFu, sum, lanes);
            zero += __shfl_xor_sync(0xFFFFFFFFu, zero, lanes);
        }
        const float steps = largest < 1e-30f ? 0 : IntegerRun::kLargest / largest;
        unsigned words[3][2];
#pragma unroll
        for (int step = 0; step < 2; ++step) {
            int whole[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) whole[i] = __float2int_rn(steps * v[4 * step + i]);
#pragma unroll
            for (int plane = 0; plane < 3; ++plane) {
                words[plane][step] = low_bytes(whole);
#pragma unroll
                for (int i = 0; i < 4; ++i) whole[i] = (whole[i] + 128) >> 8;  // without that byte
            }
        }
        before_store();
        if (to == nullptr) return;
        const unsigned quarter = threadIdx.x % 4;
#pragma unroll
        for (int plane = 0; plane < 3; ++plane) {
            reinterpret_cast<uint2*>(to->bytes[plane])[quarter] =
                make_uint2(words[plane][0], words[plane][1]);
        }
        if (quarter == 0) {
            to->scale = (largest < 1e-30f ? 0 : largest / IntegerRun::kLargest) + zero;
            to->sum = sum;
        }
    }
};

/// Replaces x in shared memory, runs of 32 floats, by as many IntegerRuns, from the same address on.
/// All threads of the block take part, and find the result afterwards.
template <int THREADS>
__device__ __forceinline__ void to_integer_runs(float* x, int runs) {
#pragma unroll 1
    for (int first = 0; first < runs; first += THREADS / 4) {
        const int run = first + static_cast<int>(threadIdx.x / 4);
        const bool there = run < runs;
        const QuarterRun quarter = there ? QuarterRun::of(x, run) : QuarterRun{};
        // A run is shorter than its floats: it reaches only what has been read.
        quarter.convert(there ? reinterpret_cast<IntegerRun*>(x) + run : nullptr,
                        [] { __syncthreads(); });
    }
    __syncthreads();
}
/// The same of x in global memory: four runs are in flight per thread.
/// @param K     elements: a multiple of 32; runs beyond them are zeros
/// @param runs  a multiple of 8, so that all lanes of a warp have one
template <int THREADS>
__device__ __forceinline__ void to_integer_runs(const float* from, int K, float* x, int runs) {
    constexpr int kAtOnce = 4;
#pragma unroll 1
    for (int first = threadIdx.x / 4; first < runs; first += kAtOnce * THREADS / 4) {
        QuarterRun quarters[kAtOnce] = {};
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            const int run = first + i * THREADS / 4;
            if (32 * run < K) quarters[i] = QuarterRun::of(from, run);
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            const int run = first + i * THREADS / 4;
            quarters[i].convert(run < runs ? reinterpret_cast<IntegerRun*>(x) + run : nullptr,
                                [] {});
        }
    }
    __syncthreads();
}

/// The sum of products of quants with a run's elements, in units of its scale. Exact but for the
/// conversion of the result.
struct IntegerDot {
    int planes[3] = {};  // the sums of products with each plane

    /// @param quants  four signed bytes. @param step  of the run's eight
    __device__ __forceinline__ void add(unsigned quants, const IntegerRun& x, int step) {
#pragma unroll
        for (int plane = 0; plane < 3; ++plane) {
            const uint4& four = x.bytes[plane][step / 4];
            const unsigned word = step % 4 == 0   ? four.x
                                  : step % 4 == 1 ? four.y
                                  : step % 4 == 2 ? four.z
                                                  : four.w;
            planes[plane] = __dp4a(static_cast<int>(quants), static_cast<int>(word), planes[plane]);
        }
    }
    /// May a sum have this many quants of at most `largest`? Its upper two planes must fit in the 24
    /// bits of a float, and 256 b2 + b1 is at most 127 * 256, as the largest element is.
    static constexpr bool fits(int quants, int largest) {
        return quants * largest * 127 * 256 < 1 << 24;
    }
    __device__ __forceinline__ float value() const {
        return fmaf(256, static_cast<float>(256 * planes[2] + planes[1]),
                    static_cast<float>(planes[0]));
    }
};

}  // namespace sixdays::gpt2
