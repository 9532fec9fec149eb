// Attention of one query, in sums side by side; see linear_fast_cpu.cpp for how it is built.
#include <cmath>

#include "common/tensor/arguments.hpp"
#include "day06_transformer_ops/gpt2/cpu/attend_fast.hpp"

namespace sixdays::gpt2 {
namespace {

constexpr std::int64_t kSums = 16;

// [score]
[[gnu::always_inline]] inline float dot(const float* a, const float* b, std::int64_t D) {
    float sums[kSums] = {};
    std::int64_t d = 0;
    for (; d + kSums <= D; d += kSums) {
        for (std::int64_t j = 0; j < kSums; ++j) sums[j] += a[d + j] * b[d + j];
    }
    float sum = 0;
    for (; d < D; ++d) sum += a[d] * b[d];
    for (std::int64_t j = 0; j < kSums; ++j) sum += sums[j];
    return sum;
}
// [score]

// A head's queries, keys and values: rows of D numbers, `along` elements apart.
struct Head {
    const float *q, *keys, *values;
    std::int64_t n, D, along_keys, along_values;
};

#if defined(__x86_64__) && __GNUC__ >= 12
[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#elif defined(__x86_64__)
[[gnu::target_clones("avx2", "default")]]
#endif
// [attend]
void attend(const Head& h, float* scores, float* out) {
    const float scale = 1 / std::sqrt(static_cast<float>(h.D));
    float best = -INFINITY, sum = 0;
    for (std::int64_t s = 0; s < h.n; ++s) {
        scores[s] = scale * dot(h.q, h.keys + s * h.along_keys, h.D);
        best = std::fmax(best, scores[s]);
    }
    for (std::int64_t d = 0; d < h.D; ++d) out[d] = 0;
    for (std::int64_t s = 0; s < h.n; ++s) {
        const float share = std::exp(scores[s] - best);
        sum += share;
        const float* value = h.values + s * h.along_values;
        for (std::int64_t d = 0; d < h.D; ++d) out[d] += share * value[d];
    }
    for (std::int64_t d = 0; d < h.D; ++d) out[d] /= sum;
}
// [attend]

}  // namespace

void attend_fast_cpu(View<const float> q, View<const float> keys, View<const float> values,
                     float* scores, View<float> out) {
    check_attend_fast(q, keys, values, out);
    attend({q.data, keys.data, values.data, keys.extent(0), q.extent(0), keys.stride(0),
            values.stride(0)},
           scores, out.data);
}

}  // namespace sixdays::gpt2
