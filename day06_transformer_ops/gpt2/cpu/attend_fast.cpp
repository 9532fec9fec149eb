// Attention of one query, with independent sums for SIMD registers, as in linear_fast.cpp.
#include <algorithm>
#include <cmath>

#include "common/tensor/arguments.hpp"
#include "day06_transformer_ops/gpt2/cpu/attend_fast.hpp"
#include "day06_transformer_ops/gpt2/weights/total.hpp"

namespace sixdays::gpt2 {
namespace {

constexpr std::int64_t kSums = 16;

[[gnu::always_inline]] inline float dot(const float* a, const float* b, std::int64_t D) {
    float sums[kSums] = {};
    std::int64_t d = 0;
    for (; d + kSums <= D; d += kSums) {
        for (std::int64_t j = 0; j < kSums; ++j) sums[j] += a[d + j] * b[d + j];
    }
    for (; d < D; ++d) sums[0] += a[d] * b[d];
    return total(sums);
}

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
void attend(const Head& h, float* scores, float* out) {
    const float scale = 1 / std::sqrt(static_cast<float>(h.D));
    float best = -INFINITY, sum = 0;
    for (std::int64_t s = 0; s < h.n; ++s) {
        scores[s] = scale * dot(h.q, h.keys + s * h.along_keys, h.D);
        best = std::max(best, scores[s]);  // ignores a NaN, which exp passes on
    }
    for (std::int64_t d = 0; d < h.D; ++d) out[d] = 0;
    for (std::int64_t s = 0; s < h.n; ++s) {
        const float weight = std::exp(scores[s] - best);
        sum += weight;
        const float* value = h.values + s * h.along_values;
        for (std::int64_t d = 0; d < h.D; ++d) out[d] += weight * value[d];
    }
    for (std::int64_t d = 0; d < h.D; ++d) out[d] /= sum;
}

}  // namespace

void check_attend_fast(const View<const float>& q, const View<const float>& keys,
                       const View<const float>& values, const View<float>& out) {
    const char* const op = "attend";
    require_rank(op, "q", q, 1);
    require_same_shape(op, "q", q, "out", out);
    require_contiguous(op, "q", q);
    require_contiguous(op, "out", out);
    require_memory(op, "q", q);
    require_output(op, out);
    const auto check_rows = [&](const char* name, const View<const float>& rows) {
        require_rank(op, name, rows, 2);
        if (rows.extent(0) < 1 || rows.extent(1) != q.extent(0) ||
            (rows.extent(1) > 1 && rows.stride(1) != 1)) {
            reject("attend: ", name, " has shape ", rows.shape(), " and strides ",
                   rows.layout.strides, ", but needs rows of ", q.extent(0),
                   " contiguous elements, one at least");
        }
        require_memory(op, name, rows);
        if (overlap(rows, out)) reject("attend: ", name, " and out overlap");
    };
    check_rows("keys", keys);
    check_rows("values", values);
    if (keys.extent(0) != values.extent(0)) {
        reject("attend: ", keys.extent(0), " keys, but ", values.extent(0), " values");
    }
    if (overlap(q, out)) reject("attend: q and out overlap");
}

void attend_fast(View<const float> q, View<const float> keys, View<const float> values,
                 float* scores, View<float> out) {
    check_attend_fast(q, keys, values, out);
    attend({q.data, keys.data, values.data, keys.extent(0), q.extent(0), keys.stride(0),
            values.stride(0)},
           scores, out.data);
}

}  // namespace sixdays::gpt2
