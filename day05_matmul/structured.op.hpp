/// @file
/// Descriptors of the structured products, for tests (common/testing/operation/operation.hpp).
#pragma once

#include <cmath>

#include "common/testing/operation/operation.hpp"
#include "day05_matmul/structured.hpp"

namespace sixdays::day05_matmul {

inline constexpr Structure kStructures[] = {Structure::lower, Structure::upper,
                                            Structure::symmetric_lower, Structure::symmetric_upper,
                                            Structure::diagonal};

/// Is a(m, k) read?
inline bool is_read(Structure structure, std::int64_t m, std::int64_t k) {
    if (structure == Structure::lower || structure == Structure::symmetric_lower) return k <= m;
    return structure == Structure::diagonal ? k == m : k >= m;
}

/// Operands: a (M, M), b (M, N), out. Integers, whose sums are exact, and NaN where a is not read.
inline testing::Operation structured_operation(Structure structure, std::int64_t M,
                                               std::int64_t N) {
    using namespace testing;
    Operation op{
        "structured_matmul",
        {reads<float>("a", {M, M}).with([=](std::int64_t i) {
             return is_read(structure, i / M, i % M) ? double(i * 37 % 19) - 9 : NAN;
         }),
         reads<float>("b", {M, N}).with([](std::int64_t i) { return double(i * 29 % 17) - 8; }),
         writes<float>("out", {M, N})}};
    op.cpu = [=](const Call& c) {
        structured_matmul_cpu(c.in<float>(0), structure, c.in<float>(1), c.out<float>(2));
    };
    op.cuda = [=](const Call& c) {
        structured_matmul_cuda(c.in<float>(0), structure, c.in<float>(1), c.out<float>(2));
    };
    op.exact = [=](const Inputs& inputs, int) {
        const bool mirrors =
            structure == Structure::symmetric_lower || structure == Structure::symmetric_upper;
        const Tensor<double>&a = *inputs[0], &b = *inputs[1];
        Expected want({M, N});
        for (std::int64_t i = 0; i < M * N; ++i) {
            const std::int64_t m = i / N, n = i % N;
            for (std::int64_t k = 0; k < M; ++k) {
                if (is_read(structure, m, k)) {
                    want.value.data()[i] += a(m, k) * b(k, n);
                } else if (mirrors) {
                    want.value.data()[i] += a(k, m) * b(k, n);
                }
            }
        }
        return std::vector{want};
    };
    return op;
}

}  // namespace sixdays::day05_matmul
