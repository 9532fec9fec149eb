/// @file
/// Test descriptors of INT8 quantization (common/testing/operation/operation.hpp).
#pragma once

#include <utility>
#include <vector>

#include "day06_transformer_ops/embedding/int8.hpp"
#include "day06_transformer_ops/tests/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// Operands: in, values, scales and, with kept columns, kept.
inline testing::Operation quantize_operation(const Shape& shape, ScalePer per, bool keeps = false) {
    using namespace testing;
    const bool by_row = per == ScalePer::row;
    const std::int64_t lines = shape[by_row ? 0 : 1];
    Operation op{"quantize_int8",
                 {reads<float>("in", shape), writes<std::int8_t>("values", shape),
                  writes<float>("scales", {lines})}};
    if (keeps) {
        op.operands.push_back(reads<std::uint8_t>("kept", {shape[1]}).with([](std::int64_t c) {
            return c % 3 == 1 ? 200.0 : 0.0;
        }));
    }
    const auto kept = [=](const Call& c) {
        return keeps ? c.in<std::uint8_t>(3) : View<const std::uint8_t>();
    };
    op.cpu = [=](const Call& c) {
        quantize_int8_cpu(c.in<float>(0), per, kept(c), c.out<std::int8_t>(1), c.out<float>(2));
    };
    op.cuda = [=](const Call& c) {
        quantize_int8_cuda(c.in<float>(0), per, kept(c), c.out<std::int8_t>(1), c.out<float>(2));
    };
    op.exact = [=](const Inputs& inputs, int) {
        std::vector<Expected> all = {Expected(shape), Expected({lines})};
        const auto counts = [&](std::int64_t c) { return !keeps || (*inputs[3])(c) == 0; };
        Tensor<double>& scales = all[1].value;
        for (std::int64_t k = 0; k < size(shape); ++k) {
            double& largest = scales.data()[by_row ? k / shape[1] : k % shape[1]];
            const double x = std::fabs(inputs[0]->data()[k]);
            if (!counts(k % shape[1]) || std::isnan(largest)) continue;
            if (!(x <= largest)) largest = std::isfinite(x) ? x : NAN;  // NaN propagates
        }
        for (std::int64_t i = 0; i < lines; ++i) {
            scales.data()[i] /= 127;
            all[1].error.data()[i] = std::isnan(scales(i)) ? 0 : storing<float>(scales(i));
            all[1].error.data()[i] += std::isnan(scales(i)) ? 0 : scales(i) * kU;
        }
        for (std::int64_t k = 0; k < size(shape); ++k) {
            const double scale = scales(by_row ? k / shape[1] : k % shape[1]);
            if (!counts(k % shape[1]) || !(scale > 0x1p-149)) continue;
            const double steps = inputs[0]->data()[k] / scale;
            all[0].value.data()[k] = std::nearbyint(steps);
            // Scale and quotient are rounded, so a value near a tie may round either way.
            const double from_half = std::fabs(std::fabs(steps - std::nearbyint(steps)) - 0.5);
            all[0].error.data()[k] = from_half <= 3 * kU * std::fabs(steps) ? 1 : 0;
        }
        return all;
    };
    return op;
}

/// Operands: values, scales, out.
inline testing::Operation dequantize_operation(const Shape& shape, ScalePer per) {
    using namespace testing;
    const std::int64_t lines = shape[per == ScalePer::row ? 0 : 1];
    Operation op{"dequantize_int8",
                 {reads<std::int8_t>("values", shape).with([](std::int64_t k) {
                      return static_cast<double>(k * 37 % 255 - 127);
                  }),
                  reads<float>("scales", {lines}), writes<float>("out", shape)}};
    op.cpu = [=](const Call& c) {
        dequantize_int8_cpu(c.in<std::int8_t>(0), per, c.in<float>(1), c.out<float>(2));
    };
    op.cuda = [=](const Call& c) {
        dequantize_int8_cuda(c.in<std::int8_t>(0), per, c.in<float>(1), c.out<float>(2));
    };
    op.exact = [=](const Inputs& inputs, int) {
        std::vector<Expected> all = {Expected(shape)};
        for (std::int64_t k = 0; k < size(shape); ++k) {
            const std::int64_t line = per == ScalePer::row ? k / shape[1] : k % shape[1];
            const double y = inputs[0]->data()[k] * (*inputs[1])(line);
            all[0].value.data()[k] = y;
            all[0].error.data()[k] = std::isnan(y) ? 0 : std::fabs(y) * kU;
        }
        return all;
    };
    return op;
}

}  // namespace sixdays::day06_transformer_ops
