// The index of each row's largest element, in plain CUDA: the naive kernel, one thread per row, and
// the version in which the 32 lanes of a warp share a row. One file, one command.
//
//     nvcc standalone.cu && ./a.out                   with the CUDA Toolkit and a GPU
//     common/learn try day04_argmax/standalone.cu     without either
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
}

struct Candidate {
    float value;
    std::int64_t at;
};

// Which of two candidates wins? A NaN, then the larger value; of equal values the one with the
// lower index. With this rule the result does not depend on the order of comparisons.
__host__ __device__ bool beats(Candidate a, Candidate b) {
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    if (a_nan != b_nan) return a_nan;
    if (!a_nan && a.value != b.value) return a.value > b.value;
    return a.at < b.at;
}

// [loop and twin]
__host__ __device__ std::int64_t argmax_of_row(const float* row, std::int64_t N) {
    Candidate best = {row[0], 0};
    for (std::int64_t n = 1; n < N; ++n) {
        const Candidate next = {row[n], n};
        if (beats(next, best)) best = next;
    }
    return best.at;
}

void argmax_cpu(const float* in, std::int64_t M, std::int64_t N, std::int64_t* out) {
    for (std::int64_t m = 0; m < M; ++m) {
        out[m] = argmax_of_row(in + m * N, N);
    }
}

__global__ void argmax_twin(const float* in, std::int64_t M, std::int64_t N, std::int64_t* out) {
    const std::int64_t m = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (m < M) {
        out[m] = argmax_of_row(in + m * N, N);
    }
}
// [loop and twin]

// [warp]
// One warp per row. Lane l takes elements l, l + 32, l + 64, ...: adjacent lanes read adjacent
// elements. Then 32 candidates become 1 in five rounds: each lane compares with the lane whose
// number differs in one bit.
__global__ void argmax_warp(const float* in, std::int64_t M, std::int64_t N, std::int64_t* out) {
    const std::int64_t m = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (m >= M) return;  // the whole warp returns, so no lane waits for it in a shuffle
    const float* row = in + m * N;
    Candidate best = {-INFINITY,
                      N};  // loses to every element, even -infinity: index N is the highest
    for (std::int64_t n = lane; n < N; n += 32) {
        const Candidate next = {row[n], n};
        if (beats(next, best)) best = next;
    }
    for (int bit = 16; bit > 0; bit /= 2) {
        const Candidate other = {__shfl_xor_sync(0xffffffff, best.value, bit),
                                 __shfl_xor_sync(0xffffffff, best.at, bit)};
        if (beats(other, best)) best = other;
    }
    if (lane == 0) out[m] = best.at;
}
// [warp]

int main() {
    const std::int64_t M = 5, N = 77;
    std::vector<float> in(M * N);
    for (std::int64_t i = 0; i < M * N; ++i) in[i] = static_cast<float>(i * 37 % 101);
    for (std::int64_t n = 0; n < N; ++n) in[1 * N + n] = -INFINITY;  // row 1: all equal
    in[2 * N + 40] = in[2 * N + 8] = 500;                            // row 2: 8 and 40 tie
    in[3 * N + 70] = NAN;                                            // row 3: a NaN at 70
    std::vector<std::int64_t> wanted(M), got(M);
    argmax_cpu(in.data(), M, N, wanted.data());

    float* from;
    std::int64_t* to;
    check(cudaMalloc(&from, in.size() * sizeof(float)), "cudaMalloc");
    check(cudaMalloc(&to, M * sizeof(std::int64_t)), "cudaMalloc");
    check(cudaMemcpy(from, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice),
          "copying the input");
    for (const bool by_warp : {false, true}) {
        check(cudaMemset(to, 255, M * sizeof(std::int64_t)), "filling the output with -1");
        if (by_warp) {
            argmax_warp<<<2, 128>>>(from, M, N, to);  // 2 blocks of 4 warps: 8 warps for 5 rows
        } else {
            argmax_twin<<<1, 128>>>(from, M, N, to);
        }
        check(cudaGetLastError(), "the launch");
        check(cudaMemcpy(got.data(), to, M * sizeof(std::int64_t), cudaMemcpyDeviceToHost),
              "running the kernel");
        std::printf("%-19s", by_warp ? "one warp per row:" : "one thread per row:");
        for (std::int64_t m = 0; m < M; ++m) {
            std::printf(" %lld", static_cast<long long>(got[m]));
            if (got[m] != wanted[m]) {
                std::printf(", but row %lld has its largest at %lld\n", static_cast<long long>(m),
                            static_cast<long long>(wanted[m]));
                return 1;
            }
        }
        std::printf("\n");
    }
    check(cudaFree(from), "cudaFree");
    check(cudaFree(to), "cudaFree");
    std::printf(
        "Both kernels are right. By hand: row 1 is all equal, so 0; row 2 has 500 at 8 and "
        "at 40, so 8; row 3 has a NaN at 70.\n");
}
