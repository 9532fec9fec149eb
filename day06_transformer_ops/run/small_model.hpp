/// @file
/// The model of the example run, small enough for pencil and paper, and how it is printed.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "common/tensor/transform.hpp"
#include "day06_transformer_ops/bench/bench.hpp"
#include "day06_transformer_ops/block/block.hpp"

namespace sixdays::day06_transformer_ops {

inline const float kLog2 = std::log(2.0f), kRoot2 = std::sqrt(2.0f);

// `copies` identity matrices of 4 x 4 side by side; the second one times `second`.
inline Tensor<float> units(std::int64_t copies, float second) {
    return lesson::filled<float>({4, 4 * copies}, [=](std::int64_t i) {
        const std::int64_t row = i / (4 * copies), column = i % (4 * copies);
        return row != column % 4 ? 0 : column / 4 == 1 ? second : 1;
    });
}

// The block's parameters, with these matrices in host or device memory.
inline BlockParameters parameters(const float* to_qkv, const float* attention_output,
                                  const float* up, const float* no_bias) {
    BlockParameters p;
    p.qkv = {to_qkv, Shape{4, 12}}, p.qkv_bias = {no_bias, Shape{12}};
    p.attention_output = {attention_output, Shape{4, 4}},
    p.attention_output_bias = p.down_bias = {no_bias, Shape{4}};
    p.up = {up, Shape{4, 8}}, p.up_bias = {no_bias, Shape{8}};
    p.down = transpose(p.up);
    p.heads = 2;
    return p;
}

// B = 1 sequence of T = 3 tokens, a vocabulary of V = 4, C = 4 elements per token, H = 2 heads of
// D = 2, and F = 8 hidden elements of the MLP. Each section of the run fills in its results.
struct SmallModel {
    const Tensor<std::int64_t> ids{{1, 3}, {0, 1, 2}}, places{{3}, {0, 1, 2}};
    const Tensor<float> tokens{{4, 4}, {3, 0, 2, 1, 4, 5, 1, 0, 3, 1, 2, 3, 5, 0, 0, 4}};
    const Tensor<float> positions{{3, 4}, {0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1}};
    const Tensor<float> to_qkv = units(3, kLog2*kRoot2 / 2), attention_output = units(1, 1);
    const Tensor<float> up = units(2, -1), no_bias{{12}};
    Tensor<float> x{{1, 3, 4}}, normed{{1, 3, 4}}, qkv{{1, 3, 12}}, mixed{{1, 3, 4}};
    Tensor<float> hidden{{1, 3, 8}}, embedded{{1, 3, 4}};  // the last: the initial x

    [[nodiscard]] BlockParameters block() const {
        return parameters(to_qkv.data(), attention_output.data(), up.data(), no_bias.data());
    }
};

// Its matrices in device memory.
struct OnDevice {
    gpu::Buffer<float> to_qkv, attention_output, up, no_bias;

    explicit OnDevice(const SmallModel& m)
        : to_qkv(m.to_qkv), attention_output(m.attention_output), up(m.up), no_bias(m.no_bias) {}
    [[nodiscard]] BlockParameters block() const {
        return parameters(to_qkv.data(), attention_output.data(), up.data(), no_bias.data());
    }
};

// "  0.5000  0.2500"
inline std::string shown(const View<const float>& row) {
    std::string text;
    for (std::int64_t i = 0; i < row.extent(0); ++i) {
        char number[32];
        std::snprintf(number, sizeof number, " %7.4f", static_cast<double>(row(i)));
        text += number;
    }
    return text;
}
// The row of "sat", the last token, in a tensor (1, T, n).
inline View<const float> sat(const Tensor<float>& x) {
    return select(select(x.view(), 1, x.shape()[1] - 1), 0, 0);
}

// Prints a tensor (1, 3, n), one line per token.
inline void every_token(const Tensor<float>& x) {
    const char* const words[] = {"the", "cat", "sat"};
    for (int t = 0; t < 3; ++t) {
        std::printf("   %s          %s\n", words[t],
                    shown(select(select(x.view(), 1, t), 0, 0)).c_str());
    }
}

template <class T>
void layout(const char* what, const View<T>& x, std::int64_t first = 0) {
    std::printf("   %-12s shape %-15s strides %s", what, to_string(x.shape()).c_str(),
                to_string(x.strides()).c_str());
    if (first > 0) std::printf(", offset %d", static_cast<int>(first));
    std::printf("\n");
}

inline bool near(const Tensor<float>& got, const Tensor<float>& want) {
    return distance(want, got) <= 1e-4;
}
inline bool near(const View<const float>& row, const std::vector<double>& want) {
    bool all = row.extent(0) == static_cast<std::int64_t>(want.size());
    for (std::size_t i = 0; all && i < want.size(); ++i) {
        all = std::fabs(row(static_cast<std::int64_t>(i)) - want[i]) < 1e-4;
    }
    return all;
}

}  // namespace sixdays::day06_transformer_ops
