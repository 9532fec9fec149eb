// Matrix products with tiles, in the style of published programs: of 16-bit values, plain and with
// all hints and promises; and of floats rounded to TF32, one operand transposed. For tests.sh.
#include <cuda_fp16.h>
#include <cuda_tf32.h>
#include <cuda_tile.h>

#include <cmath>
#include <cstdio>
#include <vector>

constexpr int BM = 32, BN = 16, BK = 64, kLatency = 5;

// For any size: everything is masked.
__tile_global__ void product(const __half* A, const __half* B, float* C, int M, int N, int K) {
    namespace ct = cuda::tiles;
    auto a_view = ct::partition_view{ct::tensor_span{A, ct::extents{M, K}}, ct::shape<BM, BK>{}};
    auto b_view = ct::partition_view{ct::tensor_span{B, ct::extents{K, N}}, ct::shape<BK, BN>{}};
    auto c_view = ct::partition_view{ct::tensor_span{C, ct::extents{M, N}}, ct::shape<BM, BN>{}};
    auto [i, j, unused] = ct::bid();
    auto sum = ct::zeros<ct::tile<float, ct::shape<BM, BN>>>();
    int steps = (K + BK - 1) / BK;
    for (int k = 0; k < steps; ++k) {
        ct::tile<__half, ct::shape<BM, BK>> a;
        ct::tile<__half, ct::shape<BK, BN>> b;
        a = a_view.load_masked(i, k);
        b = b_view.load_masked(k, j);
        sum = ct::mma(a, b, sum);
    }
    c_view.store_masked(sum, i, j);
}

// For multiples of the tile: nothing is masked.
[[using cutile: hint(0, num_cta_in_cga = 1), hint(1000, occupancy = 2)]] __tile_global__ void
product_tuned(const __half* __restrict__ A_, const __half* __restrict__ B_, float* __restrict__ C_,
              int M_, int N_, int K_) {
    namespace ct = cuda::tiles;
    using namespace ct::literals;
    const __half *A = ct::assume_aligned(A_, 16_ic), *B = ct::assume_aligned<16>(B_);
    float* C = ct::assume_aligned(C_, 16_ic);
    auto M = ct::assume_divisible(M_, 16_ic), N = ct::assume_divisible<16>(N_);
    auto K = ct::assume_divisible(K_, 16_ic);
    auto a_view = ct::partition_view{ct::tensor_span{A, ct::extents{M, K}}, ct::shape<BM, BK>{}};
    auto b_view = ct::partition_view{ct::tensor_span{B, ct::extents{K, N}}, ct::shape<BK, BN>{}};
    auto c_view = ct::partition_view{ct::tensor_span{C, ct::extents{M, N}}, ct::shape<BM, BN>{}};
    auto [i, j, unused] = ct::bid();
    auto sum = ct::zeros<ct::tile<float, ct::shape<BM, BN>>>();
    for (auto k : ct::irange(0, K / BK)) {
        ct::tile<__half, ct::shape<BM, BK>> a;
        ct::tile<__half, ct::shape<BK, BN>> b;
        [[cutile::hint(0, latency = kLatency), ]] a = a_view.load(i, k);
        [[using cutile: hint(0, latency = 4)]] b = b_view.load(k, j);
        sum = ct::mma(a, b, sum);
    }
    [[using cutile: hint(0, allow_tma = false)]] c_view.store(sum, i, j);
}

// B is transposed, (N, K) in memory. All sizes are compile-time constants.
template <int M, int N, int K>
__tile_global__ void product_tf32(const float* A, const float* B, float* C) {
    namespace ct = cuda::tiles;
    constexpr auto kZero = ct::view_padding::zero;
    using AK = ct::extents<unsigned, M, K>;
    using BK_ = ct::extents<unsigned, N, K>;
    auto a_view = ct::partition_view{ct::tensor_span{A, AK{}}, ct::shape<BM, BK>{}};
    auto b_view = ct::partition_view{ct::tensor_span{B, BK_{}}, ct::shape<BN, BK>{}};
    constexpr int across = (N + BN - 1) / BN;
    int i = ct::bid().x / across, j = ct::bid().x % across;
    auto sum = ct::zeros<ct::tile<float, ct::shape<BM, BN>>>();
    for (auto k : ct::irange(0, (K + BK - 1) / BK)) {
        auto a = ct::element_cast<__nv_tf32>(a_view.template load_masked<kZero>(i, k));
        auto b = ct::transpose(b_view.template load_masked<kZero>(j, k));
        sum = ct::mma(a, ct::element_cast<__nv_tf32>(b), sum);
    }
    auto c_view =
        ct::partition_view{ct::tensor_span{C, ct::extents<unsigned, M, N>{}}, ct::shape<BM, BN>{}};
    c_view.store_masked(sum, i, j);
}

// Small integers: products and sums are exact in all three kernels.
float left(int i) {
    return static_cast<float>(i * 7 % 11 - 5);
}
float right(int i) {
    return static_cast<float>(i * 5 % 13 - 6);
}

template <class T, class Launch>
int wrong_elements(int M, int N, int K, bool across, const Launch& launch) {
    std::vector<T> a(M * K), b(K * N);
    for (int i = 0; i < M * K; ++i) a[i] = T(left(i));
    for (int i = 0; i < K * N; ++i) b[i] = T(right(i));
    T *da, *db;
    float* dc;
    cudaMalloc(&da, a.size() * sizeof(T)), cudaMalloc(&db, b.size() * sizeof(T));
    cudaMalloc(&dc, M * N * sizeof(float));
    cudaMemcpy(da, a.data(), a.size() * sizeof(T), cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), b.size() * sizeof(T), cudaMemcpyHostToDevice);
    launch(da, db, dc);
    if (cudaGetLastError() != cudaSuccess) return M * N;
    std::vector<float> c(M * N);
    cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < M; ++i) {
        for (int j = 0; j < N; ++j) {
            float sum = 0;
            for (int k = 0; k < K; ++k) {
                sum += left(i * K + k) * right(across ? j * K + k : k * N + j);
            }
            wrong += !(c[i * N + j] == sum);
        }
    }
    cudaFree(da), cudaFree(db), cudaFree(dc);
    return wrong;
}

int main() {
    const int ragged = wrong_elements<__half>(37, 21, 70, false, [](auto* a, auto* b, float* c) {
        product<<<dim3(2, 2), 1>>>(a, b, c, 37, 21, 70);
    });
    const int tuned = wrong_elements<__half>(64, 32, 128, false, [](auto* a, auto* b, float* c) {
        product_tuned<<<dim3(2, 2), 1>>>(a, b, c, 64, 32, 128);
    });
    const int tf32 = wrong_elements<float>(37, 21, 70, true, [](auto* a, auto* b, float* c) {
        product_tf32<37, 21, 70><<<4, 1>>>(a, b, c);
    });
    std::printf("wrong elements: %d, %d and %d\n", ragged, tuned, tf32);
    return ragged + tuned + tf32 != 0;
}
