// An addition with tiles, in the style of published programs: with views and promises, with masked
// addresses, and with static extents. For tests.sh.
#include <cuda_tile.h>

#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int kTile = 256;

__tile_global__ void add_views(const float* __restrict__ a_, const float* __restrict__ b_,
                               float* __restrict__ out_, std::size_t n_) {
    namespace ct = cuda::tiles;
    using namespace ct::literals;
    auto a = ct::assume_aligned(a_, 16_ic), b = ct::assume_aligned(b_, 16_ic);
    auto out = ct::assume_aligned(out_, 16_ic);
    auto n = ct::assume_divisible(n_, 8_ic);
    auto as = ct::partition_view{ct::tensor_span{a, ct::extents{n}}, ct::shape{256_ic}};
    auto bs = ct::partition_view{ct::tensor_span{b, ct::extents{n}}, ct::shape{256_ic}};
    auto outs = ct::partition_view{ct::tensor_span{out, ct::extents{n}}, ct::shape{256_ic}};
    auto [i, j, k] = ct::bid();
    outs.store_masked(as.load_masked(i) + bs.load_masked(i), i);
}

__tile_global__ void add_addresses(const float* a, const float* b, float* out, int n) {
    namespace ct = cuda::tiles;
    using Floats = ct::tile<float, ct::shape<kTile>>;
    using Numbers = ct::tile<int, ct::shape<kTile>>;
    int first = ct::bid().x * kTile;
    auto at = ct::full<Numbers>(first) + ct::iota<Numbers>();
    auto inside = at < ct::full<Numbers>(n);
    Floats sum;
    sum = ct::load_masked(a + at, inside, ct::zeros<Floats>());
    sum = sum + ct::load_masked(b + at, inside, 0.0f);
    ct::store_masked(out + at, sum, inside);
}

template <class T, int N>
__tile_global__ void add_known(const T* a, const T* b, T* out) {
    namespace ct = cuda::tiles;
    using All = ct::extents<std::uint32_t, N>;
    const auto i = ct::bid().x;
    auto as = ct::partition_view(ct::tensor_span{a, All{}}, ct::shape<kTile>{});
    auto bs = ct::partition_view(ct::tensor_span{b, All{}}, ct::shape<kTile>{});
    auto outs = ct::partition_view(ct::tensor_span{out, All{}}, ct::shape<kTile>{});
    outs.store(as.load(i) + bs.load(i), i);
}

int main() {
    constexpr int kWhole = 1024, kRagged = 1000;
    std::vector<float> a(kWhole), b(kWhole), out(kWhole);
    for (int i = 0; i < kWhole; ++i) a[i] = 2 * i, b[i] = 1 - i;
    const std::size_t bytes = kWhole * sizeof(float);
    float *da, *db, *dout;
    cudaMalloc(&da, bytes), cudaMalloc(&db, bytes), cudaMalloc(&dout, bytes);
    cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice);
    int right = 0;
    for (int kernel = 0; kernel < 3; ++kernel) {
        const int n = kernel == 2 ? kWhole : kRagged;
        const dim3 grid((n + kTile - 1) / kTile);
        cudaMemset(dout, 0, bytes);
        if (kernel == 0) add_views<<<grid, 1>>>(da, db, dout, n);
        if (kernel == 1) add_addresses<<<grid, 1>>>(da, db, dout, n);
        if (kernel == 2) add_known<float, kWhole><<<grid, 1>>>(da, db, dout);
        if (cudaGetLastError() != cudaSuccess) return 1;
        cudaMemcpy(out.data(), dout, bytes, cudaMemcpyDeviceToHost);
        for (int i = 0; i < kWhole; ++i) right += out[i] == (i < n ? a[i] + b[i] : 0);
    }
    std::printf("%d of %d sums are right\n", right, 3 * kWhole);
    cudaFree(da), cudaFree(db), cudaFree(dout);
    return right == 3 * kWhole ? 0 : 1;
}
