// Layer norm with tiles, in the style of published programs: a persistent kernel with one block per
// SM, a SIMT kernel that fills the input, and a tile kernel for rows longer than a tile. For
// tests.sh.
#include <cuda_fp16.h>
#include <cuda_tile.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

__global__ void fill(__half* x, __half* w, __half* b, int rows, int length) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * length) x[i] = __half{float((i / length + i % length * 3) % 11) + 20.0f};
    if (i < length) w[i] = __half{1.0f + 0.25f * float(i % 5)}, b[i] = __half{0.5f * float(i % 3)};
}

// Rows of `length` values, a power of two: one tile is ROWS complete rows.
template <class T, int ROWS, int N, int LENGTH, int BLOCKS, bool MAKE, float EPS>
[[using cutile: hint(0, num_cta_in_cga = 1)]] __tile_global__ void norm_rows(
    const T* __restrict__ x_, const T* __restrict__ w_, const T* __restrict__ b_,
    float* __restrict__ mean_, float* __restrict__ scale_, T* __restrict__ y_) {
    namespace ct = cuda::tiles;
    using Column = ct::tile<float, ct::shape<ROWS>>;
    using All = ct::extents<std::uint32_t, static_cast<std::uint32_t>(N), LENGTH>;
    using Row = ct::extents<std::uint32_t, LENGTH>;
    using OneEach = ct::extents<std::uint32_t, static_cast<std::uint32_t>(N)>;
    auto xs = ct::partition_view(ct::tensor_span{ct::assume_aligned<16>(x_), All{}},
                                 ct::shape<ROWS, LENGTH>{});
    auto ys = ct::partition_view(ct::tensor_span{ct::assume_aligned<16>(y_), All{}},
                                 ct::shape<ROWS, LENGTH>{});
    auto means = ct::partition_view(ct::tensor_span{mean_, OneEach{}}, ct::shape<ROWS>{});
    auto scales = ct::partition_view(ct::tensor_span{scale_, OneEach{}}, ct::shape<ROWS>{});
    auto weights = ct::partition_view(ct::tensor_span{w_, Row{}}, ct::shape<LENGTH>{});
    auto biases = ct::partition_view(ct::tensor_span{b_, Row{}}, ct::shape<LENGTH>{});
    auto w = ct::reshape<ct::shape<1, LENGTH>>(ct::element_cast<float>(weights.load(0)));
    auto b = ct::reshape<ct::shape<1, LENGTH>>(ct::element_cast<float>(biases.load(0)));
    auto nth = ct::full<Column>(1.0f / static_cast<float>(LENGTH)), eps = ct::full<Column>(EPS);

    int block = ct::bid().x;
    constexpr int tiles = (N + ROWS - 1) / ROWS;
    for (auto i : ct::irange(block, tiles, BLOCKS)) {
        ct::tile<T, ct::shape<ROWS, LENGTH>> loaded;
        [[using cutile: hint(0, latency = 4)]] loaded = xs.load_masked(i, 0);
        auto x = ct::element_cast<float>(loaded);
        Column mean;
        Column scale;
        if constexpr (MAKE) {
            mean = ct::reshape<ct::shape<ROWS>>(ct::sum<1>(x)) * nth;
            auto apart = x - ct::reshape<ct::shape<ROWS, 1>>(mean);
            auto variance = ct::reshape<ct::shape<ROWS>>(ct::sum<1>(apart * apart)) * nth;
            scale = ct::rsqrt(variance + eps);
            [[using cutile: hint(0, allow_tma = false)]] means.store_masked(mean, i);
            scales.store_masked(scale, i);
        } else {
            mean = means.load_masked(i);
            scale = scales.load_masked(i);
        }
        auto normed =
            (x - ct::reshape<ct::shape<ROWS, 1>>(mean)) * ct::reshape<ct::shape<ROWS, 1>>(scale);
        ys.store_masked(ct::element_cast<T>(normed * w + b), i, 0);
    }
}

// A row of any length, 64 values at a time, through addresses; masked-off elements add nothing.
template <class T>
__tile_global__ void norm_long_row(const T* x, const T* w, const T* b, int length, float eps,
                                   float* mean_, float* scale_, T* y) {
    namespace ct = cuda::tiles;
    using Floats = ct::tile<float, ct::shape<64>>;
    using Numbers = ct::tile<int, ct::shape<64>>;
    int row = ct::bid().x, parts = (length + 63) / 64;
    const T* from = x + row * length;
    T* to = y + row * length;
    auto sums = ct::zeros<Floats>();
    for (auto part : ct::irange(0, parts)) {
        auto at = part * 64 + ct::iota<Numbers>();
        sums = sums + ct::element_cast<float>(ct::load_masked(from + at, at < length, T(0)));
    }
    float mean = static_cast<float>(ct::sum<0>(sums)) / static_cast<float>(length);
    auto squares = ct::zeros<Floats>();
    for (auto part : ct::irange(0, parts)) {
        auto at = part * 64 + ct::iota<Numbers>();
        auto mask = at < ct::full<Numbers>(length);
        auto all = ct::element_cast<float>(ct::load_masked(from + at, mask, T(0)));
        auto apart = ct::select(mask, all - mean, ct::zeros<Floats>());
        squares = squares + apart * apart;
    }
    float variance = static_cast<float>(ct::sum<0>(squares)) / static_cast<float>(length);
    float scale = ct::rsqrt(variance + eps);
    mean_[row] = mean;
    scale_[row] = scale;
    for (auto part : ct::irange(0, parts)) {
        auto at = part * 64 + ct::iota<Numbers>();
        auto mask = at < length;
        auto weight = ct::element_cast<float>(ct::load_masked(w + at, mask, T(0)));
        auto bias = ct::element_cast<float>(ct::load_masked(b + at, mask, T(0)));
        auto all = ct::element_cast<float>(ct::load_masked(from + at, mask, T(0)));
        ct::store_masked(to + at, ct::element_cast<T>((all - mean) * scale * weight + bias), mask);
    }
}

int main() {
    constexpr int kRows = 50, kLength = 128, kBlocks = 5, kRagged = 100;
    constexpr float kEps = 1e-5f;
    __half *x, *w, *b, *y;
    float *mean, *scale;
    cudaMalloc(&x, kRows * kLength * sizeof(__half)),
        cudaMalloc(&y, kRows * kLength * sizeof(__half));
    cudaMalloc(&w, kLength * sizeof(__half)), cudaMalloc(&b, kLength * sizeof(__half));
    cudaMalloc(&mean, kRows * sizeof(float)), cudaMalloc(&scale, kRows * sizeof(float));
    int wrong = 0;
    for (int kernel = 0; kernel < 3; ++kernel) {
        const int length = kernel == 2 ? kRagged : kLength;
        fill<<<kRows * length / 64 + 1, 64>>>(x, w, b, kRows, length);
        if (kernel == 0) {
            norm_rows<__half, 4, kRows, kLength, kBlocks, true, kEps>
                <<<dim3(kBlocks, 1, 1)>>>(x, w, b, mean, scale, y);
        } else if (kernel == 1) {  // with the means of the first one
            norm_rows<__half, 4, kRows, kLength, kBlocks, false, kEps>
                <<<kBlocks, 1>>>(x, w, b, mean, scale, y);
        } else {
            norm_long_row<__half><<<kRows, 1>>>(x, w, b, length, kEps, mean, scale, y);
        }
        if (cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) return 1;
        std::vector<__half> in(kRows * length), got(kRows * length);
        cudaMemcpy(in.data(), x, in.size() * sizeof(__half), cudaMemcpyDeviceToHost);
        cudaMemcpy(got.data(), y, got.size() * sizeof(__half), cudaMemcpyDeviceToHost);
        for (int r = 0; r < kRows; ++r) {
            double sum = 0, squares = 0;
            for (int i = 0; i < length; ++i) sum += float(in[r * length + i]);
            const double middle = sum / length;
            for (int i = 0; i < length; ++i) {
                squares += std::pow(float(in[r * length + i]) - middle, 2);
            }
            for (int i = 0; i < length; ++i) {
                const double want = (float(in[r * length + i]) - middle) /
                                        std::sqrt(squares / length + kEps) * (1 + 0.25 * (i % 5)) +
                                    0.5 * (i % 3);
                // All values are below 8, where the 16-bit spacing is at most 2^-8.
                wrong += !(std::fabs(float(got[r * length + i]) - want) <= 0.5 / 256 + 1e-5);
            }
        }
    }
    std::printf("wrong elements: %d\n", wrong);
    cudaFree(x), cudaFree(y), cudaFree(w), cudaFree(b), cudaFree(mean), cudaFree(scale);
    return wrong != 0;
}
