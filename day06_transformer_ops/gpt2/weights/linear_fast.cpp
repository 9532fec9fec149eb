// Independent sums, in an order that suits SIMD registers. Built with -ffp-contract=fast: this
// file promises an error bound, not bits, and a multiply-add is one instruction (FMA) where the CPU
// has it.
#include <algorithm>
#include <cstring>
#include <vector>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "common/tensor/arguments.hpp"
#include "day06_transformer_ops/gpt2/weights/linear.hpp"
#include "day06_transformer_ops/gpt2/weights/total.hpp"

namespace sixdays::gpt2 {
namespace {

constexpr std::int64_t kLanes = 16;  // tokens per vector
constexpr std::int64_t kRows = 6;    // rows of weights in registers at once
constexpr std::int64_t kPanels =
    4;  // panels of kLanes tokens for which a row of weights is converted once

// A weight as a float.
[[gnu::always_inline]] inline float number(float x) {
    return x;
}
[[gnu::always_inline]] inline float number(bf16 x) {
    return static_cast<float>(x);
}
// Branch-free, so that it vectorizes. An f16's exponent has bias 15, not 127; the multiplication
// corrects it, for subnormals too. Infinities and NaNs have all exponent bits set before and after.
[[gnu::always_inline]] inline float number(const f16& x) {
    const std::uint32_t magnitude = x.bits & 0x7FFFu, sign = (x.bits & 0x8000u) << 16;
    const std::uint32_t endless = magnitude < 0x7C00 ? 0 : 0x7F800000;
    const float value = detail::float_of(magnitude << 13) * 0x1p112f;
    return detail::float_of(detail::bits_of(value) | endless | sign);
}

// --- one token: one row of weights after another -------------------------------------------------

constexpr std::int64_t kSums = 32;  // independent sums per row: none waits for another

// [dot]
template <class T>
[[gnu::always_inline]] inline float dot(const T* row, const float* x, std::int64_t K) {
    float sums[kSums] = {};
    std::int64_t k = 0;
    for (; k + kSums <= K; k += kSums) {
        for (std::int64_t j = 0; j < kSums; ++j) sums[j] += number(row[k + j]) * x[k + j];
    }
    for (; k < K; ++k) sums[0] += number(row[k]) * x[k];
    return total(sums);
}
// [dot]

[[gnu::always_inline]] inline float dot(const Q8Block* row, const float* x, std::int64_t K) {
    float sums[kSums] = {};
    for (std::int64_t b = 0; b < K / kQ8Block; ++b) {
        const float scale = number(row[b].scale);
        for (std::int64_t j = 0; j < kQ8Block; ++j) {
            sums[j] += scale * static_cast<float>(row[b].quants[j]) * x[b * kQ8Block + j];
        }
    }
    return total(sums);
}
static_assert(kSums == kQ8Block);

// Blocks of runs without a minimum: Q4_0, Q5_0 and Q6_K. How the loops below are divided decides
// whether the compiler vectorizes them.
template <class B>
concept Runs = requires {
    B::kRuns;
}
&&!HasMinimum<B>;

// A run as floats.
template <Runs B>
[[gnu::always_inline]] inline void widen(const B& block, int run, float (&out)[kRun]) {
    const RunScales by = run_scales(block, run);
    std::uint8_t quants[kRun];
    unpack(block, run, quants);
    for (int half = 0; half < 2; ++half) {
        const float scale = by.scale[half];
        for (int j = 16 * half; j < 16 * half + 16; ++j) {
            out[j] = scale * static_cast<float>(quants[j] - B::kZero);
        }
    }
}

// Of Q5_0, the fifth bit is added in floats. That is exact, and with it in the bytes the compiler
// does not vectorize the loops.
[[gnu::always_inline]] inline void widen(const Q5Block& block, int run, float (&out)[kRun]) {
    const float scale = number(block.scale), upper = 16 * scale;
    for (int j = 0; j < 16; ++j) {
        out[j] = scale * static_cast<float>((block.quants[j] & 15) - Q5Block::kZero);
    }
    for (int j = 0; j < 16; ++j) {
        out[16 + j] = scale * static_cast<float>((block.quants[j] >> 4) - Q5Block::kZero);
    }
    for (int j = 0; j < kRun; ++j) out[j] += upper_bits(block, run, j) != 0 ? upper : 0;
}

template <Runs B>
[[gnu::always_inline]] inline float dot(const B* row, const float* x, std::int64_t K) {
    float sums[kSums] = {};
    for (std::int64_t b = 0; b < K / B::kWeights; ++b) {
#pragma GCC unroll 8
        for (int run = 0; run < B::kRuns; ++run, x += kRun) {
            float weights[kRun];
            widen(row[b], run, weights);
            for (std::int64_t j = 0; j < kSums; ++j) sums[j] += weights[j] * x[j];
        }
    }
    return total(sums);
}
static_assert(kSums == kRun);

// Calls use(k, j, weight k) for the weights of a block, which is number j of its run. Two runs of
// Q4_K or Q5_K share their bytes.
template <HasMinimum B, class Use>
[[gnu::always_inline]] inline void each_weight(const B& block, const Use& use) {
    std::uint8_t scales[8], minima[8];
    six_bits(block, scales, minima);
    const float of_scales = number(block.scale), of_minima = number(block.minimum);
    float scale[8], minimum[8];
    for (int s = 0; s < 8; ++s) {
        scale[s] = of_scales * scales[s];
        minimum[s] = of_minima * minima[s];
    }
    for (int pair = 0; pair < 4; ++pair) {
        const std::uint8_t* const quants = block.quants + pair * kRun;
        const int lower = 2 * pair, upper = lower + 1;
        for (int j = 0; j < kRun; ++j) {
            const float quant = static_cast<float>((quants[j] & 15) | upper_bits(block, lower, j));
            use(lower * kRun + j, j, scale[lower] * quant - minimum[lower]);
        }
        for (int j = 0; j < kRun; ++j) {
            const float quant = static_cast<float>(quants[j] >> 4 | upper_bits(block, upper, j));
            use(upper * kRun + j, j, scale[upper] * quant - minimum[upper]);
        }
    }
}

template <HasMinimum B>
[[gnu::always_inline]] inline float dot(const B* row, const float* x, std::int64_t K) {
    float sums[kSums] = {};
    for (std::int64_t b = 0; b < K / B::kWeights; ++b, x += B::kWeights) {
        each_weight(row[b], [&](int k, int j, float weight) { sums[j] += weight * x[k]; });
    }
    return total(sums);
}

template <class T>
[[gnu::always_inline]] inline void each_row(const View<const T>& weight, const View<const float>& x,
                                            const View<float>& out) {
    const std::int64_t T_ = x.extent(0), N = out.extent(1), K = x.extent(1);
    for (std::int64_t n = 0; n < N; ++n) {
        for (std::int64_t t = 0; t < T_; ++t) {
            out.data[t * out.stride(0) + n] =
                dot(weight.data + n * weight.stride(0), x.data + t * K, K);
        }
    }
}

#if defined(__x86_64__) && __GNUC__ >= 12
#define SIXDAYS_AVX2 "arch=x86-64-v3"
// The same sums by named instructions. Of the loops above GCC makes so much code that instructions
// limit the speed, not memory: 13 to convert 32 bytes to floats where 8 suffice, and 8 to convert an
// f16 where one does.
constexpr std::int64_t kEight = 8;  // floats per vector
constexpr std::int64_t kVectors = kSums / kEight;

// sums += weights * eight elements of x.
[[gnu::target(SIXDAYS_AVX2), gnu::always_inline]] inline void add(__m256 weights, const float* x,
                                                                  __m256& sums) {
    sums = _mm256_fmadd_ps(weights, _mm256_loadu_ps(x), sums);
}

[[gnu::target(SIXDAYS_AVX2), gnu::always_inline]] inline float dot_avx2(const f16* row,
                                                                        const float* x,
                                                                        std::int64_t K) {
    __m256 sums[kVectors] = {};
    std::int64_t k = 0;
    for (; k + kSums <= K; k += kSums) {
#pragma GCC unroll 4
        for (std::int64_t v = 0; v < kVectors; ++v) {
            const std::int64_t at = k + v * kEight;
            const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + at));
            add(_mm256_cvtph_ps(bits), x + at, sums[v]);
        }
    }
    float each[kSums];
    std::memcpy(each, sums, sizeof each);
    float rest = 0;
    for (; k < K; ++k) rest += number(row[k]) * x[k];
    return total(each) + rest;
}

[[gnu::target(SIXDAYS_AVX2), gnu::always_inline]] inline float dot_avx2(const Q8Block* row,
                                                                        const float* x,
                                                                        std::int64_t K) {
    __m256 sums[kVectors] = {};
    for (std::int64_t b = 0; b < K / kQ8Block; ++b) {
        const __m256 scale = _mm256_set1_ps(_cvtsh_ss(row[b].scale.bits));
#pragma GCC unroll 4
        for (std::int64_t v = 0; v < kVectors; ++v, x += kEight) {
            const __m128i bytes = _mm_loadu_si64(row[b].quants + v * kEight);
            const __m256 quants = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
            add(_mm256_mul_ps(scale, quants), x, sums[v]);
        }
    }
    float each[kSums];
    std::memcpy(each, sums, sizeof each);
    return total(each);
}

template <class T>
[[gnu::target(SIXDAYS_AVX2)]] void each_row_avx2(const View<const T>& weight,
                                                 const View<const float>& x,
                                                 const View<float>& out) {
    const std::int64_t T_ = x.extent(0), N = out.extent(1), K = x.extent(1);
    for (std::int64_t n = 0; n < N; ++n) {
        for (std::int64_t t = 0; t < T_; ++t) {
            out.data[t * out.stride(0) + n] =
                dot_avx2(weight.data + n * weight.stride(0), x.data + t * K, K);
        }
    }
}
#endif

// --- a prompt: six rows of weights, 64 tokens ----------------------------------------------------

template <class T>
[[gnu::always_inline]] inline void to_floats(const T* row, std::int64_t K, float* out) {
    for (std::int64_t k = 0; k < K; ++k) out[k] = number(row[k]);
}
[[gnu::always_inline]] inline void to_floats(const Q8Block* row, std::int64_t K, float* out) {
    for (std::int64_t b = 0; b < K / kQ8Block; ++b) {
        const float scale = number(row[b].scale);
        for (std::int64_t j = 0; j < kQ8Block; ++j) {
            out[b * kQ8Block + j] = scale * static_cast<float>(row[b].quants[j]);
        }
    }
}

template <Runs B>
[[gnu::always_inline]] inline void to_floats(const B* row, std::int64_t K, float* out) {
    for (std::int64_t b = 0; b < K / B::kWeights; ++b) {
#pragma GCC unroll 8
        for (int run = 0; run < B::kRuns; ++run, out += kRun) {
            float weights[kRun];
            widen(row[b], run, weights);
            std::memcpy(out, weights, sizeof weights);
        }
    }
}

template <HasMinimum B>
[[gnu::always_inline]] inline void to_floats(const B* row, std::int64_t K, float* out) {
    for (std::int64_t b = 0; b < K / B::kWeights; ++b, out += B::kWeights) {
        each_weight(row[b], [&](int k, int, float weight) { out[k] = weight; });
    }
}

// A vector of sixteen floats, which the compiler maps to registers.
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));

// Register tiling, 6 rows by 16 tokens: 96 sums in registers. Per k, each of 16 elements of x is
// used for six weights, and each weight for 16 tokens.
[[gnu::always_inline]] inline void block(const float* weights, const float* panel, std::int64_t K,
                                         float (&out)[kRows][kLanes]) {
    Lanes sums[kRows] = {};
    for (std::int64_t k = 0; k < K; ++k) {
        Lanes x;
        std::memcpy(&x, panel + k * kLanes, sizeof x);
#pragma GCC unroll 6
        for (std::int64_t r = 0; r < kRows; ++r) sums[r] += weights[r * K + k] * x;
    }
    std::memcpy(out, sums, sizeof sums);
}

// Packs tokens t to t + 16 of x (T, K) into a panel (K, 16), contiguous for each k. Tokens past the
// last are zeros.
[[gnu::always_inline]] inline void pack(const View<const float>& x, std::int64_t t, float* panel) {
    const std::int64_t K = x.extent(1);
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        for (std::int64_t k = 0; k < K; ++k) {
            panel[k * kLanes + lane] = t + lane < x.extent(0) ? x.data[(t + lane) * K + k] : 0;
        }
    }
}

template <class T>
[[gnu::always_inline]] inline void all_rows(const View<const T>& weight, const View<const float>& x,
                                            const View<float>& out) {
    const std::int64_t tokens = x.extent(0), N = out.extent(1), K = x.extent(1);
    std::vector<float> panels(static_cast<std::size_t>(kPanels * K * kLanes));
    std::vector<float> weights(static_cast<std::size_t>(kRows * K));
    for (std::int64_t first = 0; first < tokens; first += kPanels * kLanes) {
        const std::int64_t end = std::min(tokens, first + kPanels * kLanes);
        for (std::int64_t t = first; t < end; t += kLanes) {
            pack(x, t, panels.data() + (t - first) * K);
        }
        for (std::int64_t n = 0; n < N; n += kRows) {
            const std::int64_t rows = std::min(kRows, N - n);
            for (std::int64_t r = 0; r < rows; ++r) {
                to_floats(weight.data + (n + r) * weight.stride(0), K, weights.data() + r * K);
            }
            for (std::int64_t t = first; t < end; t += kLanes) {
                float sums[kRows][kLanes];
                block(weights.data(), panels.data() + (t - first) * K, K, sums);
                for (std::int64_t lane = 0; lane < std::min(kLanes, end - t); ++lane) {
                    float* to = out.data + (t + lane) * out.stride(0) + n;
                    for (std::int64_t r = 0; r < rows; ++r) to[r] = sums[r][lane];
                }
            }
        }
    }
}

constexpr std::int64_t kFew = 4;  // tokens; with fewer, more than 3/4 of the 16 lanes would idle

template <class T>
[[gnu::always_inline]] inline void linear(const View<const T>& weight, const View<const float>& x,
                                          const View<float>& out) {
    x.extent(0) < kFew ? each_row(weight, x, out) : all_rows(weight, x, out);
}

// All of the above is inlined into this function, which is compiled for three CPU levels; the
// program picks one at run time.
#if defined(__x86_64__) && __GNUC__ >= 12
[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#elif defined(__x86_64__)
[[gnu::target_clones("avx2", "default")]]
#endif
void linear_of_type(const Weight& weight, const View<const float>& x, const View<float>& out) {
    switch (weight.type) {
        case WeightType::f32:
            return linear(weight.as_f32(), x, out);
        case WeightType::f16:
            return linear(weight.as_f16(), x, out);
        case WeightType::bf16:
            return linear(weight.as_bf16(), x, out);
        case WeightType::q8_0:
            return linear(weight.as_q8_0(), x, out);
        case WeightType::q4_0:
            return linear(weight.as_q4_0(), x, out);
        case WeightType::q5_0:
            return linear(weight.as_q5_0(), x, out);
        case WeightType::q4_k:
            return linear(weight.as_q4_k(), x, out);
        case WeightType::q5_k:
            return linear(weight.as_q5_k(), x, out);
        case WeightType::q6_k:
            return linear(weight.as_q6_k(), x, out);
    }
}

}  // namespace

void linear_fast(const Weight& w, View<const float> x, View<float> out) {
    check_linear_fast(w, x, out);
#ifdef SIXDAYS_AVX2
    if (x.extent(0) < kFew && __builtin_cpu_supports("x86-64-v3")) {
        if (w.type == WeightType::f16) return each_row_avx2(w.as_f16(), x, out);
        if (w.type == WeightType::q8_0) return each_row_avx2(w.as_q8_0(), x, out);
    }
#endif
    linear_of_type(w, x, out);
}

}  // namespace sixdays::gpt2
