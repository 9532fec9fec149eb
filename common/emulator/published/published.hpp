/// @file
/// Algorithms in their published form, for the emulator and for a GPU: each is correct, or has one
/// of two planted bugs.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "common/emulator/tests/device.hpp"

namespace sixdays::emulator::published {

using tests::Device;

/// The result of a run: its first error, and whether all values match the host's
/// results.
struct Outcome {
    cudaError_t error = cudaSuccess;
    bool right = false;
};

/// Each runs its kernel once on its own data. mistake: 0 for none, or 1 or 2.
Outcome last_block_sum(int mistake);
Outcome look_back_scan(int mistake);
Outcome cas_histogram(int mistake);
Outcome warp_filter(int mistake);
Outcome async_matmul(int mistake);
Outcome online_softmax(int mistake);
Outcome split_k(int mistake);
Outcome bf16_matvec(int mistake);
Outcome bitonic_sort(int mistake);
Outcome compaction(int mistake);
Outcome flash_attention(int mistake);
Outcome layer_norm(int mistake);
Outcome tiled_transpose(int mistake);

struct Algorithm {
    const char* name;  // also its file's
    Outcome (*run)(int mistake);
    std::array<const char*, 2> mistakes;  // names of bugs 1 and 2
};
const std::vector<Algorithm>& algorithms();

/// After a launch that wrote `got`: whether every value is within `bound` of the expected one.
template <class T>
Outcome compare(const Device<T>& got, const std::vector<T>& expected, double bound = 0) {
    const cudaError_t launched = cudaPeekAtLastError();
    const cudaError_t finished = cudaDeviceSynchronize();
    if (launched != cudaSuccess) return {launched};
    if (finished != cudaSuccess) return {finished};
    const std::vector<T> values = got.host();
    bool right = values.size() == expected.size();
    for (std::size_t i = 0; right && i < values.size(); ++i) {
        right =
            std::abs(static_cast<double>(values[i]) - static_cast<double>(expected[i])) <= bound;
    }
    return {cudaSuccess, right};
}

/// n small integers from -7 to 8; the sequence repeats after 97 * 16.
inline std::vector<float> numbers(int n) {
    std::vector<float> values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>((i * 37 + i / 97) % 16) - 7.0f;
    }
    return values;
}

/// The positive values in ascending order.
inline std::vector<float> positive(std::vector<float> values) {
    std::erase_if(values, [](float v) { return !(v > 0.0f); });
    std::sort(values.begin(), values.end());
    return values;
}

/// a (M, K) times b (K, N).
inline std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b,
                                  unsigned M, unsigned N, unsigned K) {
    std::vector<float> sums(M * N, 0.0f);
    for (unsigned i = 0; i < M * N * K; ++i) {
        const unsigned row = i / (N * K), col = i / K % N, at = i % K;
        sums[row * N + col] += a[row * K + at] * b[at * N + col];
    }
    return sums;
}

}  // namespace sixdays::emulator::published
