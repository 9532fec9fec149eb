// Attention of one head, in plain CUDA: the naive kernel with one thread per token, and a fused
// kernel with one warp per token, which never stores a score. One file, one command.
//
//     nvcc standalone.cu && ./a.out                            with the CUDA Toolkit and a GPU
//     common/learn try day06_transformer_ops/standalone.cu     without either
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
}

constexpr int D = 32;  // elements of a head: one per lane of a warp

// What token t receives: a weighted mean of the values v of tokens 0 to t, its own included. Token
// s has weight exp(score), where score is the scaled dot product of query q[t] and key k[s].
// [loop and twin]
__host__ __device__ float score(const float* q, const float* k, int t, int s) {
    float dot = 0;
    for (int d = 0; d < D; ++d) dot += q[t * D + d] * k[s * D + d];
    return dot / sqrtf(D);
}

// The largest score is subtracted so that exp() cannot overflow, which it does from 89 on. This
// multiplies numerator and denominator by the same number, so the mean does not change.
__host__ __device__ void attend(const float* q, const float* k, const float* v, int t, float* out) {
    float largest = -INFINITY, sum = 0;
    for (int s = 0; s <= t; ++s) largest = fmaxf(largest, score(q, k, t, s));
    for (int d = 0; d < D; ++d) out[t * D + d] = 0;
    for (int s = 0; s <= t; ++s) {
        const float weight = expf(score(q, k, t, s) - largest);
        sum += weight;
        for (int d = 0; d < D; ++d) out[t * D + d] += weight * v[s * D + d];
    }
    for (int d = 0; d < D; ++d) out[t * D + d] /= sum;
}

void attention_cpu(const float* q, const float* k, const float* v, int T, float* out) {
    for (int t = 0; t < T; ++t) attend(q, k, v, t, out);
}

__global__ void attention_twin(const float* q, const float* k, const float* v, int T, float* out) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < T) attend(q, k, v, t, out);
}
// [loop and twin]

// One warp per token, one lane per element. Online softmax in one pass: `largest` is the running
// maximum. When it grows, the sums so far are multiplied by exp(old - new), as if the new maximum
// had been known from the start.
__global__ void attention_warp(const float* q, const float* k, const float* v, int T, float* out) {
    const int t = (blockIdx.x * blockDim.x + threadIdx.x) / 32, d = threadIdx.x % 32;
    if (t >= T) return;  // whole warps return
    const float mine = q[t * D + d] / sqrtf(D);
    float largest = -INFINITY, sum = 0, mean = 0;
    for (int s = 0; s <= t; ++s) {
        float dot = mine * k[s * D + d];
        for (int bit = 16; bit > 0; bit /= 2) dot += __shfl_xor_sync(0xffffffff, dot, bit);
        const float larger = fmaxf(largest, dot);
        const float correction = expf(largest - larger), weight = expf(dot - larger);
        sum = sum * correction + weight;
        mean = mean * correction + weight * v[s * D + d];
        largest = larger;
    }
    out[t * D + d] = mean / sum;
}

int main() {
    const int T = 45, n = T * D;
    const std::size_t bytes = n * sizeof(float);
    std::vector<float> q(n), k(n), v(n), wanted(n), got(n);
    for (int i = 0; i < n; ++i) {
        q[i] = static_cast<float>(i * 7 % 23 - 11) / 4;
        k[i] = static_cast<float>(i * 5 % 19 - 9) / 4;
        v[i] = static_cast<float>(i * 3 % 17 - 8);
    }
    // Tokens 0 and 1 to check by hand: q[1] is 1, 0, 0, ..., so that scores are k[s][0] / sqrt(32),
    // and with these keys they are 0 and log 3. Token 1 receives (1 * v[0] + 3 * v[1]) / 4.
    for (int d = 0; d < D; ++d) q[D + d] = d == 0 ? 1.0f : 0.0f;
    k[0] = 0, k[D] = std::log(3.0f) * std::sqrt(32.0f), v[0] = 4, v[D] = 8;
    attention_cpu(q.data(), k.data(), v.data(), T, wanted.data());

    float* device[4];  // q, k, v, out
    for (float*& each : device) check(cudaMalloc(&each, bytes), "cudaMalloc");
    check(cudaMemcpy(device[0], q.data(), bytes, cudaMemcpyHostToDevice), "copying q");
    check(cudaMemcpy(device[1], k.data(), bytes, cudaMemcpyHostToDevice), "copying k");
    check(cudaMemcpy(device[2], v.data(), bytes, cudaMemcpyHostToDevice), "copying v");
    for (const bool by_warp : {false, true}) {
        const char* const name = by_warp ? "one warp per token" : "one thread per token";
        check(cudaMemset(device[3], 255, bytes), "filling out with NaN");
        if (by_warp) {
            attention_warp<<<(T + 3) / 4, 128>>>(device[0], device[1], device[2], T, device[3]);
        } else {
            attention_twin<<<1, 64>>>(device[0], device[1], device[2], T, device[3]);
        }
        check(cudaGetLastError(), "the launch");
        check(cudaMemcpy(got.data(), device[3], bytes, cudaMemcpyDeviceToHost), "running it");
        for (int i = 0; i < n; ++i) {
            // Another order of summation rounds differently. `!(<=)` also catches a NaN.
            if (!(std::fabs(got[i] - wanted[i]) <= 1e-4f)) {
                std::printf("%s: out(%d, %d) is %g, not %g\n", name, i / D, i % D, got[i],
                            wanted[i]);
                return 1;
            }
        }
        std::printf("%-20s  token 0 receives %g, token 1 receives %.4f\n", name, got[0], got[D]);
    }
    for (float* each : device) check(cudaFree(each), "cudaFree");
    std::printf(
        "Both kernels are right. By hand: token 0 receives its own value, 4; token 1 receives "
        "(1 * 4 + 3 * 8) / 4 = 7.\n");
}
