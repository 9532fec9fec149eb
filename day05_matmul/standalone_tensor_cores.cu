// A matrix product on tensor cores in plain CUDA: the CPU loop, and step 4 of the ladder, in which
// the next tiles are in flight while one is multiplied. One file, one command.
//
//     nvcc -arch=sm_80 standalone_tensor_cores.cu && ./a.out      with the CUDA Toolkit and a GPU
//     common/learn try day05_matmul/standalone_tensor_cores.cu    without either
#include <cuda_bf16.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
}

using bf16 = __nv_bfloat16;

// a is (M, K), b is (N, K): a row of b is a column of the product. c is (M, N). All row-major.
void product(const bf16* a, const bf16* b, int M, int N, int K, float* c) {
    for (int m = 0; m < M; ++m) {
        for (int n = 0; n < N; ++n) {
            float sum = 0;
            for (int k = 0; k < K; ++k) {
                sum += __bfloat162float(a[m * K + k]) * __bfloat162float(b[n * K + k]);
            }
            c[m * N + n] = sum;
        }
    }
}

// A block computes 128 x 128 outputs with eight warps, 64 x 32 each. A stage of its ring has 128
// rows of 64 elements of a, and as many of b.
constexpr int kTile = 128, kDepth = 64, kStages = 3, kThreads = 256;
constexpr int kTileSize = kTile * kDepth;
constexpr int kBytes = 2 * kStages * kTileSize * static_cast<int>(sizeof(bf16));

// A row fills all 32 banks. The 16 bytes at position p of row r are stored at p ^ (r % 8), so eight
// rows are read in one wavefront.
__device__ int swizzled(int row, int k) {
    return row * kDepth + ((k / 8) ^ (row % 8)) * 8 + k % 8;
}

__device__ unsigned shared_address(const void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// Each thread starts its copies of a tile of 128 x 64, 16 bytes each. They arrive later.
__device__ void copy_tile(bf16* tile, const bf16* from, int K) {
    for (int i = threadIdx.x; i < kTileSize / 8; i += kThreads) {
        const int row = i / 8, k = i % 8 * 8;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                         shared_address(tile + swizzled(row, k))),
                     "l"(from + row * K + k));
    }
}

// Four matrices of 8 x 8: lanes 8 i to 8 i + 7 give the addresses of the rows of matrix i.
__device__ void load_matrices(unsigned (&to)[4], const bf16* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row)));
}

// sum += a b, where a is 16 x 16 and b is 16 x 8.
__device__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// M and N are multiples of 128, K of 64.
__global__ void __launch_bounds__(kThreads)
    ring(const bf16* a, const bf16* b, int N, int K, float* c) {
    extern __shared__ __align__(128) bf16 memory[];
    bf16 *const tiles_a = memory, *const tiles_b = memory + kStages * kTileSize;
    a += blockIdx.y * kTile * K;
    b += blockIdx.x * kTile * K;
    c += blockIdx.y * kTile * N + blockIdx.x * kTile;
    const auto start = [&](int k0, int stage) {
        if (k0 < K) copy_tile(tiles_a + stage * kTileSize, a + k0, K);
        if (k0 < K) copy_tile(tiles_b + stage * kTileSize, b + k0, K);
        asm volatile("cp.async.commit_group;");  // even if empty: the wait counts groups
    };
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int m0 = warp / 4 * 64, n0 = warp % 4 * 32;
    float sum[4][4][4] = {};
    for (int s = 0; s < kStages - 1; ++s) start(s * kDepth, s);
    for (int k0 = 0, stage = 0; k0 < K; k0 += kDepth, stage = (stage + 1) % kStages) {
        asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2));  // own copies have arrived
        __syncthreads();                                             // and those of all threads
        start(k0 + (kStages - 1) * kDepth, (stage + kStages - 1) % kStages);
        const bf16 *const ta = tiles_a + stage * kTileSize, *const tb = tiles_b + stage * kTileSize;
        for (int k = 0; k < kDepth; k += 16) {
            unsigned fa[4][4], fb[2][4];
            for (int i = 0; i < 4; ++i) {
                load_matrices(fa[i], ta + swizzled(m0 + 16 * i + lane % 16, k + lane / 16 * 8));
            }
            for (int j = 0; j < 2; ++j) {  // 16 columns: two fragments
                const int n = n0 + 16 * j + lane % 8 + lane / 16 * 8;
                load_matrices(fb[j], tb + swizzled(n, k + lane / 8 % 2 * 8));
            }
            for (int i = 0; i < 4; ++i) {
                for (int j = 0; j < 4; ++j) {
                    multiply(sum[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
                }
            }
        }
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            for (int e = 0; e < 4; ++e) {
                const int m = m0 + 16 * i + lane / 4 + e / 2 * 8;
                c[m * N + n0 + 8 * j + lane % 4 * 2 + e % 2] = sum[i][j][e];
            }
        }
    }
}

int main() {
    const int M = 256, N = 128, K = 320;
    std::vector<bf16> a(M * K), b(N * K);
    for (int i = 0; i < M * K; ++i) a[i] = __float2bfloat16(static_cast<float>(i * 7 % 11 - 5));
    for (int i = 0; i < N * K; ++i) b[i] = __float2bfloat16(static_cast<float>(i * 5 % 13 - 6));
    bf16 *da, *db;
    float* dc;
    check(cudaMalloc(&da, a.size() * sizeof(bf16)), "cudaMalloc a");
    check(cudaMalloc(&db, b.size() * sizeof(bf16)), "cudaMalloc b");
    check(cudaMalloc(&dc, M * N * sizeof(float)), "cudaMalloc c");
    check(cudaMemcpy(da, a.data(), a.size() * sizeof(bf16), cudaMemcpyHostToDevice), "copying a");
    check(cudaMemcpy(db, b.data(), b.size() * sizeof(bf16), cudaMemcpyHostToDevice), "copying b");
    check(cudaFuncSetAttribute(ring, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
          "96 KiB");
    check(cudaMemset(dc, 255, M * N * sizeof(float)), "filling c with NaN");
    ring<<<dim3(N / kTile, M / kTile), kThreads, kBytes>>>(da, db, N, K, dc);
    check(cudaGetLastError(), "the launch");
    std::vector<float> got(M * N), wanted(M * N);
    check(cudaMemcpy(got.data(), dc, M * N * sizeof(float), cudaMemcpyDeviceToHost), "running it");
    product(a.data(), b.data(), M, N, K, wanted.data());
    for (int i = 0; i < M * N; ++i) {  // small integers: sums are exact in any order
        if (got[i] == wanted[i]) continue;
        std::printf("c(%d, %d) is %g, not %g\n", i / N, i % N, got[i], wanted[i]);
        return 1;
    }
    std::printf("ring, (%d, %d) times (%d, %d): right; c(0, 0) is %g, the last is %g\n", M, K, K, N,
                got[0], got.back());
    for (void* p : {static_cast<void*>(da), static_cast<void*>(db), static_cast<void*>(dc)}) {
        check(cudaFree(p), "cudaFree");
    }
}
