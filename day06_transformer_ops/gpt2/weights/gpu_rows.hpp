/// @file
/// For .cu files: rows of weights as a kernel reads them, one weight or one piece at a time; a
/// piece is what a lane loads at once. A warp's 32 pieces are contiguous.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstring>

#include "day06_transformer_ops/gpt2/weights/device_weight.hpp"

namespace sixdays::gpt2 {

/// Four floats, loaded and stored together.
struct alignas(16) Vector {
    float x[4];
};
__device__ __forceinline__ Vector& vector(float* at) {
    return *reinterpret_cast<Vector*>(at);
}
__device__ __forceinline__ const Vector& vector(const float* at) {
    return *reinterpret_cast<const Vector*>(at);
}

/// The numbers of 16 bytes as floats. Exact.
__device__ __forceinline__ void to_floats(const uint4& bits, float (&w)[4]) {
    w[0] = __uint_as_float(bits.x), w[1] = __uint_as_float(bits.y);
    w[2] = __uint_as_float(bits.z), w[3] = __uint_as_float(bits.w);
}
/// Two bf16: each is the upper half of a float.
__device__ __forceinline__ void two_floats(bf16, unsigned bits, float* w) {
    w[0] = __uint_as_float(bits << 16);
    w[1] = __uint_as_float(bits & 0xffff0000u);
}
__device__ __forceinline__ void two_floats(f16, unsigned bits, float* w) {
    __half2 two;
    std::memcpy(&two, &bits, sizeof two);
    const float2 wide = __half22float2(two);
    w[0] = wide.x, w[1] = wide.y;
}

/// Rows of float, f16 or bf16. A weight is an element of a piece times the piece's scale, so that a
/// sum of products is scaled once.
template <class T>
struct FloatRows {
    static constexpr int kWeights = 16 / sizeof(T);  // weights in a piece
    using Piece = uint4;

    const T* data;
    std::int64_t N, K;

    __device__ float operator()(std::int64_t n, std::int64_t k) const {
        return static_cast<float>(data[n * K + k]);
    }
    __device__ Piece piece(std::int64_t n, std::int64_t k) const {
        return *reinterpret_cast<const uint4*>(data + n * K + k);
    }
    /// A lane's pieces of rows n, n + 1, ...: the first at column k, and every 32 pieces.
    template <int ROWS, int EACH>
    __device__ __forceinline__ void load(Piece (&pieces)[ROWS][EACH], int n, int k) const {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                const int at = k + i * 32 * kWeights;
                pieces[r][i] = {};
                if (n + r < N && at < K) pieces[r][i] = piece(n + r, at);
            }
        }
    }
    static __device__ __forceinline__ void numbers(const Piece& piece, float (&w)[kWeights]) {
        if constexpr (kWeights == 4) {
            to_floats(piece, w);
        } else {
            two_floats(T{}, piece.x, w), two_floats(T{}, piece.y, w + 2);
            two_floats(T{}, piece.z, w + 4), two_floats(T{}, piece.w, w + 6);
        }
    }
    static __device__ __forceinline__ float scale(const Piece&) {
        return 1;
    }
};

/// Rows of Q8_0, quants and scales stored separately. A piece is a quarter of a block.
struct Q8Rows {
    static constexpr int kWeights = 8;
    struct Piece {
        uint2 quants;
        f16 scale;
    };

    const std::int8_t* quants;
    const f16* scales;
    std::int64_t N, K;

    __device__ float operator()(std::int64_t n, std::int64_t k) const {
        const std::int64_t at = n * K + k;
        return static_cast<float>(scales[at / kQ8Block]) * static_cast<float>(quants[at]);
    }
    __device__ Piece piece(std::int64_t n, std::int64_t k) const {
        const std::int64_t at = n * K + k;
        return {*reinterpret_cast<const uint2*>(quants + at), scales[at / kQ8Block]};
    }
    // [one_address]
    /// As FloatRows::load(), with one address per row: each piece is a constant offset from it.
    /// Beyond the last row there is the last row again.
    template <int ROWS, int EACH>
    __device__ __forceinline__ void load(Piece (&pieces)[ROWS][EACH], int n, int k) const {
        const int last = static_cast<int>(N) - 1, columns = static_cast<int>(K);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const std::int64_t at = min(n + r, last) * K + k;
            const auto* const q = reinterpret_cast<const uint2*>(quants + at);
            const f16* const s = scales + at / kQ8Block;
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                pieces[r][i] = {};
                if (k + i * 32 * kWeights < columns) {
                    pieces[r][i] = {q[32 * i], s[32 * kWeights / kQ8Block * i]};
                }
            }
        }
    }
    // [one_address]
    static __device__ __forceinline__ void numbers(const Piece& piece, float (&w)[kWeights]) {
#pragma unroll
        for (int i = 0; i < kWeights; ++i) {
            const unsigned word = i < 4 ? piece.quants.x : piece.quants.y;
            // Byte i + 128 as the last byte of the float 2^23: cheaper than a conversion, and
            // exact.
            const unsigned bits = __byte_perm(word ^ 0x80808080u, 0x4B000000u,
                                              0x7440u | static_cast<unsigned>(i % 4));
            w[i] = __uint_as_float(bits) - (0x1p23f + 128);
        }
    }
    static __device__ __forceinline__ float scale(const Piece& piece) {
        float two[2];
        two_floats(f16{}, piece.scale.bits, two);
        return two[0];
    }
};

/// Calls `use` with the rows of w, in their type.
template <class Use>
void with_rows(const DeviceMatrix& w, const Use& use) {
    switch (w.type) {
        case WeightType::f32:
            return use(FloatRows<float>{reinterpret_cast<const float*>(w.data), w.N, w.K});
        case WeightType::f16:
            return use(FloatRows<f16>{reinterpret_cast<const f16*>(w.data), w.N, w.K});
        case WeightType::bf16:
            return use(FloatRows<bf16>{reinterpret_cast<const bf16*>(w.data), w.N, w.K});
        case WeightType::q8_0:
            return use(Q8Rows{reinterpret_cast<const std::int8_t*>(w.data), w.scales, w.N, w.K});
    }
}

}  // namespace sixdays::gpt2
