// The CPU reference.
#include "day05_matmul/structured.hpp"

namespace sixdays::day05_matmul {

void structured_matmul_cpu(View<const float> a, Structure structure, View<const float> b,
                           View<float> out) {
    check_structured_matmul(a, structure, b, out);
    const std::int64_t M = out.extent(0), N = out.extent(1);
    for (std::int64_t m = 0; m < M; ++m) {
        for (std::int64_t n = 0; n < N; ++n) {
            const Counted count = counted(structure, m, M);
            float sum = 0;
            for (std::int64_t k = count.begin; k < count.end; ++k) {
                sum += element(a, structure, m, k) * b(k, n);
            }
            out(m, n) = sum;
        }
    }
}

}  // namespace sixdays::day05_matmul
