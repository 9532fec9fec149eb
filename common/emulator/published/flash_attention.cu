// softmax(Q K^T) V without storing the matrix of scores: a block holds 64 rows of Q, iterates over
// tiles of K and V, and rescales its results when a row's maximum grows. Its four tiles take 64 KiB
// of shared memory, more than the default limit.
#include <algorithm>
#include <cfloat>

#include "common/emulator/published/published.hpp"

namespace sixdays::emulator::published {

namespace {

enum { kNoBarrier = 1, kNoRoomForScores };
constexpr unsigned ROWS = 64, DIM = 64;  // one thread per row

// exp(score - maximum) of this thread's row for each key of the tile; updates maximum and sum.
__device__ void score(const float* q, const float* keys, float* scores, float& greatest,
                      float& sum) {
    const float before = greatest;
    for (unsigned c = 0; c < ROWS; ++c) {
        float dot = 0.0f;
        for (unsigned d = 0; d < DIM; ++d) dot += q[d] * keys[c * DIM + d];
        scores[c] = dot / 64.0f;  // MARK no_room_for_scores
        greatest = fmaxf(greatest, scores[c]);
    }
    sum *= expf(before - greatest);
    for (unsigned c = 0; c < ROWS; ++c) {
        scores[c] = expf(scores[c] - greatest);
        sum += scores[c];
    }
}

__global__ void flash_attention_kernel(const float* q, const float* k, const float* v, unsigned n,
                                       float* out, int mistake) {
    extern __shared__ float memory[];
    float* queries = memory;
    float* keys = queries + ROWS * DIM;
    float* values = keys + ROWS * DIM;
    float* scores = values + ROWS * DIM + threadIdx.x * ROWS;
    const unsigned t = threadIdx.x, row = blockIdx.x * ROWS + t;
    for (unsigned d = 0; d < DIM; ++d) queries[t * DIM + d] = q[row * DIM + d];
    float greatest = -FLT_MAX, sum = 0.0f;
    float result[DIM] = {};
    for (unsigned start = 0; start < n; start += ROWS) {
        for (unsigned i = t; i < ROWS * DIM; i += ROWS) {
            keys[i] = k[start * DIM + i];  // MARK no_barrier
            values[i] = v[start * DIM + i];
        }
        __syncthreads();
        const float before = greatest;
        score(queries + t * DIM, keys, scores, greatest, sum);
        for (unsigned d = 0; d < DIM; ++d) {
            result[d] *= expf(before - greatest);
            for (unsigned c = 0; c < ROWS; ++c) result[d] += scores[c] * values[c * DIM + d];
        }
        if (mistake != kNoBarrier) __syncthreads();  // all have read these tiles
    }
    for (unsigned d = 0; d < DIM; ++d) out[row * DIM + d] = result[d] / sum;
}

std::vector<float> expected_rows(const std::vector<float>& q, const std::vector<float>& k,
                                 const std::vector<float>& v, unsigned n) {
    std::vector<float> out;
    for (unsigned row = 0; row < n; ++row) {
        std::vector<double> weights(n, 0.0), result(DIM, 0.0);
        for (unsigned i = 0; i < n * DIM; ++i) {
            weights[i / DIM] += static_cast<double>(q[row * DIM + i % DIM]) * k[i] / 64.0;
        }
        const double greatest = *std::max_element(weights.begin(), weights.end());
        double sum = 0.0;
        for (double& weight : weights) sum += weight = std::exp(weight - greatest);
        for (unsigned i = 0; i < n * DIM; ++i) result[i % DIM] += weights[i / DIM] * v[i] / sum;
        for (const double value : result) out.push_back(static_cast<float>(value));
    }
    return out;
}

}  // namespace

Outcome flash_attention(int mistake) {
    constexpr unsigned kRows = 128;
    std::vector<float> q = numbers(kRows * DIM), k(q.rbegin(), q.rend()), v = numbers(kRows * DIM);
    std::rotate(v.begin(), v.begin() + 5, v.end());
    const Device<float> in_q(q), in_k(k), in_v(v), out(kRows * DIM);
    const int tiles = mistake == kNoRoomForScores ? 3 : 4;
    const int bytes = tiles * static_cast<int>(ROWS * DIM * sizeof(float));
    cudaFuncSetAttribute(flash_attention_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         bytes);
    flash_attention_kernel<<<kRows / ROWS, ROWS, static_cast<std::size_t>(bytes)>>>(
        in_q.data(), in_k.data(), in_v.data(), kRows, out.data(), mistake);
    return compare(out, expected_rows(q, k, v, kRows), 1e-4);
}

}  // namespace sixdays::emulator::published
