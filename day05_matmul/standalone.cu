// A matrix product in plain CUDA: the naive kernel, and the version in which a block shares what it
// loads. One file, one command.
//
//     nvcc standalone.cu && ./a.out                   with the CUDA Toolkit and a GPU
//     common/learn try day05_matmul/standalone.cu     without either
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
}

// a is (M, K), b is (K, N), c is (M, N), all row-major.
// [loop and twin]
void matmul_cpu(const float* a, const float* b, int M, int N, int K, float* c) {
    for (int m = 0; m < M; ++m) {
        for (int n = 0; n < N; ++n) {
            float sum = 0;
            for (int k = 0; k < K; ++k) {
                sum += a[m * K + k] * b[k * N + n];
            }
            c[m * N + n] = sum;
        }
    }
}

// Every thread reads a row of a and a column of b: two loads per multiply-add.
__global__ void matmul_twin(const float* a, const float* b, int M, int N, int K, float* c) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    const int m = blockIdx.y * blockDim.y + threadIdx.y;
    if (m < M && n < N) {
        float sum = 0;
        for (int k = 0; k < K; ++k) {
            sum += a[m * K + k] * b[k * N + n];
        }
        c[m * N + n] = sum;
    }
}
// [loop and twin]

constexpr int kTile = 16;

// The 16 x 16 threads of a block need the same 16 rows of a and 16 columns of b. They step along k
// one tile at a time: each thread loads one element of a and one of b, and all threads use all of
// them. That is 16 times fewer loads.
__global__ void matmul_tile(const float* a, const float* b, int M, int N, int K, float* c) {
    __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int n = blockIdx.x * kTile + x, m = blockIdx.y * kTile + y;
    float sum = 0;
    for (int k = 0; k < K; k += kTile) {
        // 0 outside the matrix: it adds nothing, and every thread reaches the barriers.
        tile_a[y][x] = m < M && k + x < K ? a[m * K + k + x] : 0;
        tile_b[y][x] = k + y < K && n < N ? b[(k + y) * N + n] : 0;
        __syncthreads();  // the tile is complete
        for (int i = 0; i < kTile; ++i) {
            sum += tile_a[y][i] * tile_b[i][x];
        }
        __syncthreads();  // all threads have used the tile: it may be overwritten
    }
    if (m < M && n < N) c[m * N + n] = sum;
}

// Runs one of the kernels on the device and compares every element. Integers this small are exact
// in float, so the results must be equal.
void try_out(const char* name, bool by_tile, const std::vector<float>& a,
             const std::vector<float>& b, int M, int N, int K) {
    std::vector<float> wanted(M * N), got(M * N);
    matmul_cpu(a.data(), b.data(), M, N, K, wanted.data());
    float *da, *db, *dc;
    check(cudaMalloc(&da, a.size() * sizeof(float)), "cudaMalloc a");
    check(cudaMalloc(&db, b.size() * sizeof(float)), "cudaMalloc b");
    check(cudaMalloc(&dc, got.size() * sizeof(float)), "cudaMalloc c");
    check(cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice), "copying a");
    check(cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice), "copying b");
    check(cudaMemset(dc, 255, got.size() * sizeof(float)), "filling c with NaN");
    const dim3 block(kTile, kTile);
    const dim3 grid((N + kTile - 1) / kTile, (M + kTile - 1) / kTile);
    if (by_tile) {
        matmul_tile<<<grid, block>>>(da, db, M, N, K, dc);
    } else {
        matmul_twin<<<grid, block>>>(da, db, M, N, K, dc);
    }
    check(cudaGetLastError(), "the launch");
    check(cudaMemcpy(got.data(), dc, got.size() * sizeof(float), cudaMemcpyDeviceToHost),
          "running the kernel");
    for (int i = 0; i < M * N; ++i) {
        if (got[i] == wanted[i]) continue;
        std::printf("%s: c(%d, %d) is %g, not %g\n", name, i / N, i % N, got[i], wanted[i]);
        std::exit(1);
    }
    std::printf("%s, (%d, %d) times (%d, %d): right; c(0, 0) is %g, the last is %g\n", name, M, K,
                K, N, got[0], got.back());
    check(cudaFree(da), "cudaFree");
    check(cudaFree(db), "cudaFree");
    check(cudaFree(dc), "cudaFree");
}

int main() {
    // By hand: (1 2 3) times (1 3 5) is 1 + 6 + 15 = 22, and (4 5 6) times (2 4 6) is 64.
    const std::vector<float> a = {1, 2, 3, 4, 5, 6}, b = {1, 2, 3, 4, 5, 6};
    const int M = 37, N = 50, K = 43;  // not multiples of 16: partial tiles in all three dimensions
    std::vector<float> large_a(M * K), large_b(K * N);
    for (int i = 0; i < M * K; ++i) large_a[i] = static_cast<float>(i * 7 % 11 - 5);
    for (int i = 0; i < K * N; ++i) large_b[i] = static_cast<float>(i * 5 % 13 - 6);
    for (const bool by_tile : {false, true}) {
        const char* const name = by_tile ? "tile" : "naive";
        try_out(name, by_tile, a, b, 2, 2, 3);
        try_out(name, by_tile, large_a, large_b, M, N, K);
    }
    std::printf("Both kernels are right.\n");
}
