// The CPU reference.
#include "common/tensor/index.hpp"
#include "day05_matmul/matmul.hpp"
#include "day05_matmul/stack.hpp"

namespace sixdays::day05_matmul {
namespace {

// [matmul]
void matmul_loop(View<const float> a, View<const float> b, const Epilogue& epilogue,
                 View<float> out) {
    const std::int64_t M = out.extent(0), N = out.extent(1), K = a.extent(1);
    for (std::int64_t m = 0; m < M; ++m) {
        for (std::int64_t n = 0; n < N; ++n) {
            float sum = 0;
            for (std::int64_t k = 0; k < K; ++k) {
                sum += a(m, k) * b(k, n);
            }
            out(m, n) = epilogue(sum, n, out(m, n));
        }
    }
}
// [matmul]

}  // namespace

void matmul_cpu(View<const float> a, View<const float> b, const Epilogue& epilogue,
                View<float> out) {
    require_product("matmul", a, b, epilogue, out);
    if (out.size() == 0) return;
    for_each_matrix(a, b, epilogue, out, matmul_loop);
}

}  // namespace sixdays::day05_matmul
