// The CPU reference.
#include "day05_matmul/matmul_bf16.hpp"
#include "day05_matmul/stack.hpp"

namespace sixdays::day05_matmul {
namespace {

template <class T, class Out>
void matmul_bf16_loop(View<const T> a, View<const T> b, const Epilogue& epilogue, View<Out> out) {
    const std::int64_t M = out.extent(0), N = out.extent(1), K = a.extent(1);
    for (std::int64_t m = 0; m < M; ++m) {
        for (std::int64_t n = 0; n < N; ++n) {
            float sum = 0;
            for (std::int64_t k = 0; k < K; ++k) {
                sum += static_cast<float>(a(m, k)) * static_cast<float>(b(k, n));
            }
            out(m, n) = static_cast<Out>(epilogue(sum, n, out(m, n)));
        }
    }
}

}  // namespace

template <class T, class Out>
void matmul_bf16_cpu(View<const T> a, View<const T> b, const Epilogue& epilogue, View<Out> out) {
    check_matmul_bf16(a, b, epilogue, out);
    if (out.size() == 0) return;
    for_each_matrix(a, b, epilogue, out, matmul_bf16_loop<T, Out>);
}

#define SIXDAYS_FOR(T, Out) \
    template void matmul_bf16_cpu(View<const T>, View<const T>, const Epilogue&, View<Out>);
SIXDAYS_FOR(bf16, float)
SIXDAYS_FOR(bf16, bf16)
SIXDAYS_FOR(f16, float)
SIXDAYS_FOR(f16, f16)
#undef SIXDAYS_FOR

}  // namespace sixdays::day05_matmul
