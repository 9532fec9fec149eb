/// @file
/// For .cu files: rows of weights as a kernel reads them, one weight or one piece at a time; a
/// piece is what a lane loads at once. A warp's 32 pieces are contiguous.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "day06_transformer_ops/gpt2/weights/device_weight.hpp"
#include "day06_transformer_ops/gpt2/weights/integer_run.hpp"
#include "day06_transformer_ops/gpt2/weights/phase_shared.hpp"

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

/// Byte number i of a word, less `zero`. The byte becomes the last one of the float 2^23: cheaper than
/// a conversion, and exact.
__device__ __forceinline__ float byte_less(unsigned word, int i, int zero) {
    const unsigned bits = __byte_perm(word, 0x4B000000u, 0x7440u | static_cast<unsigned>(i));
    return __uint_as_float(bits) - (0x1p23f + static_cast<float>(zero));
}

/// Rows of float, f16 or bf16. A weight is an element of a piece times the piece's scale, so that a
/// sum of products is scaled once.
template <class T>
struct FloatRows {
    static constexpr int kWeights = 16 / sizeof(T);  // weights in a piece
    static constexpr int kSlice = gpt2::kSlice;      // weights that a warp loads of a row at once
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
    /// Where the numbers of a piece are: the column of number j, relative to the piece. j is a
    /// multiple of 4, and the next three follow. @param piece  its number in its row, modulo 8
    static __device__ __forceinline__ int step(int, int j) {
        return j;
    }
    /// What step() needs of the piece that begins with weight i of the matrix.
    __device__ int number_in_row(std::int64_t) const {
        return 0;
    }
};

/// Rows of Q8_0, quants and scales stored separately. A piece is a quarter of a block.
struct Q8Rows {
    static constexpr int kWeights = 8, kSlice = gpt2::kSlice;
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
            w[i] = byte_less(word ^ 0x80808080u, i % 4, 128);
        }
    }
    static __device__ __forceinline__ float scale(const Piece& piece) {
        float two[2];
        two_floats(f16{}, piece.scale.bits, two);
        return two[0];
    }
    static __device__ __forceinline__ int step(int, int j) {
        return j;
    }
    __device__ int number_in_row(std::int64_t) const {
        return 0;
    }
};

/// Rows of a type in runs, in the layout of device_weight.hpp. A piece is a run of 32 weights;
/// its numbers are in swizzled order.
template <class B>
struct RunRows {
    static constexpr int kWeights = kRun, kSlice = kRunSlice;
    static constexpr bool kMinimum = HasMinimum<B>;
    static constexpr bool kTwoScales = std::is_same_v<B, Q6KBlock>;
    static constexpr int kLargest =
        std::max(B::kZero, (16 << B::kHigh) - 1 - B::kZero);  // of |quant - zero|
    static constexpr unsigned kHighBits = B::kHigh == 1 ? 0x10101010u : 0x30303030u;
    /// Is the dot product with a run two sums, of steps 0 to 3 and of 4 to 7?
    static constexpr bool kHalves = kTwoScales || !IntegerDot::fits(32, kLargest);
    static_assert(IntegerDot::fits(kHalves ? 16 : 32, kLargest));
    struct Piece {
        uint4 low;           // 4 bits of each quant
        uint2 high;          // the other bits; of Q5_0 and Q5_K in x
        unsigned short two;  // Q4_K, Q5_K: scale and minimum; Q6_K: two scales
        unsigned scales;     // the block's f16; Q4_K and Q5_K have two
    };

    const std::byte* data;
    const f16* scales;
    std::int64_t N, K;

    /// @param run  its number in the matrix
    __device__ __forceinline__ Piece run(std::int64_t run) const {
        const std::int64_t runs = N * K / kRun;
        Piece piece = {};
        piece.low = reinterpret_cast<const uint4*>(data)[run];
        const std::byte* const high = data + runs * 16;
        if constexpr (B::kHigh == 1) piece.high.x = reinterpret_cast<const unsigned*>(high)[run];
        if constexpr (B::kHigh == 2) piece.high = reinterpret_cast<const uint2*>(high)[run];
        if constexpr (B::kRuns > 1) {
            const std::byte* const two = high + runs * 4 * B::kHigh;
            piece.two = reinterpret_cast<const unsigned short*>(two)[run];
        }
        if constexpr (kMinimum) {
            piece.scales = reinterpret_cast<const unsigned*>(scales)[run / B::kRuns];
        } else {
            piece.scales = scales[run / B::kRuns].bits;
        }
        return piece;
    }
    __device__ Piece piece(std::int64_t n, std::int64_t k) const { return run((n * K + k) / kRun); }
    __device__ float operator()(std::int64_t n, std::int64_t k) const {
        const Piece of = piece(n, k);
        float w[kWeights];
        numbers(of, w);
        const int at = step(static_cast<int>(k / kRun), static_cast<int>(k % kRun) / 4 * 4);
        float found = 0;
#pragma unroll
        for (int j = 0; j < kWeights; ++j) {
            if (j == at + k % 4) found = w[j];
        }
        return scale(of) * found;
    }
    /// As Q8Rows::load(). Beyond the last column all scales are 0.
    template <int ROWS, int EACH>
    __device__ __forceinline__ void load(Piece (&pieces)[ROWS][EACH], int n, int k) const {
        static_assert(EACH == 1);
        const int last = static_cast<int>(N) - 1, columns = static_cast<int>(K);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            pieces[r][0] = {};
            if (k < columns) pieces[r][0] = piece(min(n + r, last), k);
        }
    }
    /// The quants of step p, unsigned: B::kZero is 0.
    static __device__ __forceinline__ unsigned quants(const Piece& piece, int p) {
        const unsigned low[] = {piece.low.x, piece.low.y, piece.low.z, piece.low.w};
        unsigned four = low[p / 2] >> 4 * (p % 2) & 0x0F0F0F0Fu;
        if constexpr (B::kHigh > 0) {
            const int bit = B::kHigh * p % 8;
            const unsigned word = B::kHigh * p < 8 ? piece.high.x : piece.high.y;
            four |= (bit < 4 ? word << (4 - bit) : word >> (bit - 4)) & kHighBits;
        }
        return four;
    }
    /// Of the block and of the run: the factor of the quants, and the minimum of Q4_K and Q5_K.
    struct Scales {
        float block, run[2], minimum;
    };
    static __device__ __forceinline__ Scales scales_of(const Piece& piece) {
        float of_block[2];
        two_floats(f16{}, piece.scales, of_block);
        const unsigned two[] = {piece.two & 255u, piece.two >> 8 & 255u};
        if constexpr (kMinimum) {
            const float scale = of_block[0] * static_cast<float>(two[0]);
            return {1, {scale, scale}, of_block[1] * static_cast<float>(two[1])};
        } else if constexpr (kTwoScales) {
            return {of_block[0],
                    {static_cast<float>(static_cast<std::int8_t>(two[0])),
                     static_cast<float>(static_cast<std::int8_t>(two[1]))},
                    0};
        } else {
            return {of_block[0], {1}, 0};
        }
    }
    static __device__ __forceinline__ void numbers(const Piece& piece, float (&w)[kWeights]) {
        const Scales scales = scales_of(piece);
#pragma unroll
        for (int p = 0; p < 8; ++p) {
            const unsigned four = quants(piece, p);
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const float quant = byte_less(four, e, B::kZero);
                if constexpr (kMinimum) {
                    w[4 * p + e] = scales.run[0] * quant - scales.minimum;
                } else {
                    w[4 * p + e] = scales.run[kTwoScales ? p / 4 : 0] * quant;
                }
            }
        }
    }
    /// The sum of products with a run of x.
    static __device__ __forceinline__ float dot(const Piece& piece, const IntegerRun& x) {
        IntegerDot half[2];
#pragma unroll
        for (int p = 0; p < 8; ++p) {
            unsigned four = quants(piece, p);
            // A byte of 0 to 63, less kZero: no carry leaves it, and then its sign is restored.
            if constexpr (B::kZero != 0)
                four = (four + (128 - B::kZero) * 0x01010101u) ^ 0x80808080u;
            half[kHalves ? p / 4 : 0].add(four, x, p);
        }
        const Scales scales = scales_of(piece);
        float all = scales.run[0] * half[0].value();
        if constexpr (kHalves) all = fmaf(scales.run[1], half[1].value(), all);
        all *= scales.block * x.scale;
        return kMinimum ? fmaf(-scales.minimum, x.sum, all) : all;
    }
    static __device__ __forceinline__ float scale(const Piece& piece) {
        if constexpr (kMinimum) return 1;
        float of_block[2];
        two_floats(f16{}, piece.scales, of_block);
        return of_block[0];
    }
    static __device__ __forceinline__ int step(int piece, int j) {
        return j ^ piece % 8 * 4;
    }
    __device__ int number_in_row(std::int64_t i) const {
        return static_cast<int>(i % K / kRun % 8);
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
        case WeightType::q4_0:
            return use(RunRows<Q4Block>{w.data, w.scales, w.N, w.K});
        case WeightType::q5_0:
            return use(RunRows<Q5Block>{w.data, w.scales, w.N, w.K});
        case WeightType::q4_k:
            return use(RunRows<Q4KBlock>{w.data, w.scales, w.N, w.K});
        case WeightType::q5_k:
            return use(RunRows<Q5KBlock>{w.data, w.scales, w.N, w.K});
        case WeightType::q6_k:
            return use(RunRows<Q6KBlock>{w.data, w.scales, w.N, w.K});
    }
}

}  // namespace sixdays::gpt2
