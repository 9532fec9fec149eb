// Products with register tiles of 6 rows by 16 columns. Built with -ffp-contract=fast, like
// linear_fast.cpp: a multiply-add is one instruction (FMA) where the CPU has it.
#include "day06_transformer_ops/training/model/product_fast.hpp"

#include <algorithm>
#include <cstring>

#include "common/tensor/tensor.hpp"
#include "common/tensor/transform.hpp"
#include "day01_flat_memory/elementwise.hpp"
#include "day04_argmax/reduce.hpp"
#include "day05_matmul/stack.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

using day05_matmul::Epilogue;

constexpr std::int64_t kRows = 6, kColumns = 16;  // a tile, whose sums fit in registers

typedef float Lanes __attribute__((vector_size(kColumns * sizeof(float))));

// Packs columns n to n + 16 of b (K, N) into a panel (K, 16), contiguous for each k. Columns past
// the last are zeros.
void pack(const View<const float>& b, std::int64_t n, float* panel) {
    for (std::int64_t k = 0; k < b.extent(0); ++k) {
        for (std::int64_t lane = 0; lane < kColumns; ++lane) {
            panel[k * kColumns + lane] = n + lane < b.extent(1) ? b(k, n + lane) : 0;
        }
    }
}

// Six rows of a, one panel of b. Rows past the last read the last one again.
[[gnu::always_inline]] inline void block(const View<const float>& a, std::int64_t m,
                                         const float* panel, float (&out)[kRows][kColumns]) {
    const float* row[kRows];
    for (std::int64_t r = 0; r < kRows; ++r) row[r] = &a(std::min(m + r, a.extent(0) - 1), 0);
    const std::int64_t K = a.extent(1), step = a.stride(1);
    Lanes sums[kRows] = {};
    for (std::int64_t k = 0; k < K; ++k) {
        Lanes x;
        std::memcpy(&x, panel + k * kColumns, sizeof x);
#pragma GCC unroll 6
        for (std::int64_t r = 0; r < kRows; ++r) sums[r] += row[r][k * step] * x;
    }
    std::memcpy(out, sums, sizeof sums);
}

// Rows m to `end`. Compiled for three CPU levels; the program picks one at run time.
#if defined(__x86_64__) && __GNUC__ >= 12
[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#elif defined(__x86_64__)
[[gnu::target_clones("avx2", "default")]]
#endif
void rows(const View<const float>& a, const float* panels, const Epilogue& epilogue,
          const View<float>& out, std::int64_t m, std::int64_t end) {
    const std::int64_t N = out.extent(1), K = a.extent(1);
    for (; m < end; m += kRows) {
        for (std::int64_t n = 0; n < N; n += kColumns) {
            float sums[kRows][kColumns];
            block(a, m, panels + n * K, sums);
            for (std::int64_t r = 0; r < std::min(kRows, end - m); ++r) {
                for (std::int64_t lane = 0; lane < std::min(kColumns, N - n); ++lane) {
                    float& to = out(m + r, n + lane);
                    to = epilogue(sums[r][lane], n + lane, to);
                }
            }
        }
    }
}

}  // namespace

void matmul_fast(View<const float> a, View<const float> b, const Epilogue& epilogue,
                 View<float> out, gpt2::Threads& threads) {
    day05_matmul::require_product("matmul", a, b, epilogue, out);
    if (b.rank() != 2) reject("matmul_fast: b has shape ", b.shape(), ", a stack");
    if (day05_matmul::sums_nothing(a, epilogue)) {
        return day05_matmul::matmul_cpu(a, b, epilogue, out);
    }
    a = as_matrix(a), out = as_matrix(out);
    const std::int64_t M = out.extent(0), N = out.extent(1), K = a.extent(1);
    const std::int64_t panels = (N + kColumns - 1) / kColumns;
    std::vector<float> packed(static_cast<std::size_t>(panels * kColumns * K));
    threads.run([&](int part) {
        const auto [begin, end] = gpt2::part_of(panels, part, threads.count());
        for (std::int64_t p = begin; p < end; ++p) {
            pack(b, p * kColumns, packed.data() + p * kColumns * K);
        }
    });
    threads.run([&](int part) {
        const auto [begin, end] = gpt2::part_of((M + kRows - 1) / kRows, part, threads.count());
        rows(a, packed.data(), epilogue, out, begin * kRows, std::min(end * kRows, M));
    });
}

void linear_backward_fast(View<const float> in, View<const float> weight, View<const float> grad,
                          View<float> d_in, const LinearGradients& d, gpt2::Threads& threads) {
    check_linear_backward(in, weight, grad, d_in, d);
    const View<const float> x = as_matrix(in), g = as_matrix(grad);
    matmul_fast(g, transpose(weight), {}, as_matrix(d_in), threads);
    matmul_fast(transpose(x), g, {1, 1}, d.weight, threads);
    if (d.bias.data != nullptr) {
        Tensor<float> sums({weight.extent(1)});
        day04_argmax::reduce_cpu(day04_argmax::Reduction::sum, g, {0}, sums.view());
        day01_flat_memory::add_cpu(sums.view(), d.bias, d.bias);
    }
}

}  // namespace sixdays::day06_transformer_ops
