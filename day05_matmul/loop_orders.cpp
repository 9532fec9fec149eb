#include "day05_matmul/loop_orders.hpp"

#include <algorithm>

#include "common/tensor/arguments.hpp"
#include "day05_matmul/stack.hpp"

namespace sixdays::day05_matmul {
namespace {

void check(View<const float> a, View<const float> b, View<float> out) {
    require_product("matmul", a, b, {}, out);
    require_rank("matmul", "out", out, 2);
}

}  // namespace

void matmul_mnk(View<const float> a, View<const float> b, View<float> out) {
    check(a, b, out);
    for (std::int64_t m = 0; m < out.extent(0); ++m) {
        for (std::int64_t n = 0; n < out.extent(1); ++n) {
            float sum = 0;
            for (std::int64_t k = 0; k < a.extent(1); ++k) sum += a(m, k) * b(k, n);
            out(m, n) = sum;
        }
    }
}

void matmul_mkn(View<const float> a, View<const float> b, View<float> out) {
    check(a, b, out);
    for (std::int64_t m = 0; m < out.extent(0); ++m) {
        for (std::int64_t n = 0; n < out.extent(1); ++n) out(m, n) = 0;
        for (std::int64_t k = 0; k < a.extent(1); ++k) {
            const float x = a(m, k);
            for (std::int64_t n = 0; n < out.extent(1); ++n) out(m, n) += x * b(k, n);
        }
    }
}

void matmul_blocked(View<const float> a, View<const float> b, View<float> out) {
    check(a, b, out);
    constexpr std::int64_t BK = 64, BN = 256;
    const std::int64_t M = out.extent(0), N = out.extent(1), K = a.extent(1);
    for (std::int64_t m = 0; m < M; ++m) {
        for (std::int64_t n = 0; n < N; ++n) out(m, n) = 0;
    }
    for (std::int64_t n0 = 0; n0 < N; n0 += BN) {
        for (std::int64_t k0 = 0; k0 < K; k0 += BK) {
            for (std::int64_t m = 0; m < M; ++m) {
                for (std::int64_t k = k0; k < std::min(K, k0 + BK); ++k) {
                    const float x = a(m, k);
                    for (std::int64_t n = n0; n < std::min(N, n0 + BN); ++n) {
                        out(m, n) += x * b(k, n);
                    }
                }
            }
        }
    }
}

}  // namespace sixdays::day05_matmul
