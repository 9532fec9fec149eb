// Tests of INT8 quantization: known answers, the error bound, outliers, argument checks.
#include "day06_transformer_ops/embedding/int8.hpp"

#include "day06_transformer_ops/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

using Kept = Tensor<std::uint8_t>;

constexpr Poison kNoValue{0x80};  // -128, which quantization never produces

// A matrix quantized and dequantized by the CPU reference. The kernels must give the same bits.
struct Quantized {
    Tensor<std::int8_t> values;
    Tensor<float> scales, back;
};
Quantized there_and_back(const Tensor<float>& x, ScalePer per, const Layout& layout,
                         const Kept* kept = nullptr) {
    const std::int64_t R = x.shape()[0], C = x.shape()[1];
    const Shape lines{per == ScalePer::row ? R : C};
    const HostIn<float> host(x, layout);
    const DeviceIn<float> device(x, layout);
    const DeviceIn<std::uint8_t> device_kept(kept != nullptr ? *kept : Kept({1}, {0}));
    const View<const std::uint8_t> none;
    HostOut<std::int8_t> values(row_major(x.shape()), Lead{0}, kNoValue);
    HostOut<float> scales(lines), back(x.shape());
    quantize_int8_cpu(host.view(), per, kept != nullptr ? kept->view() : none, values.view(),
                      scales.view());
    dequantize_int8_cpu(values.view(), per, scales.view(), back.view());
    DeviceOut<std::int8_t> got_values(column_major(x.shape()), Lead{0}, kNoValue);
    DeviceOut<float> got_scales(lines), got_back(layout);
    quantize_int8_cuda(device.view(), per, kept != nullptr ? device_kept.view() : none,
                       got_values.view(), got_scales.view());
    dequantize_int8_cuda(got_values.view(), per, got_scales.view(), got_back.view());
    CHECK(got_values.matches(values));
    for (std::int64_t i = 0; i < got_scales.values().size(); ++i) {
        const float a = got_scales.values()(i), b = scales.values()(i);
        CHECK((std::isnan(a) ? std::isnan(b) : a == b));
    }
    CHECK(got_back.close_to(
        back, [](const Index&) { return 0.0; }, Nans::where_expected));
    CHECK(host.unchanged());
    CHECK(device.unchanged());
    return {values.values(), scales.values(), back.values()};
}

TEST_CASE("INT8 with a scale per row and per column matches NumPy", "[day06][int8][small]") {
    // s = numpy.abs(x).max(axis, keepdims=True) / numpy.float32(127); numpy.rint(x / s)
    const Tensor<float> x({2, 4}, {0.5f, -1.25f, 2.0f, 0.75f, 0.125f, 0.25f, -0.5f, 0.0f});
    const Layout layout = row_major(x.shape());
    const Quantized rows = there_and_back(x, ScalePer::row, layout);
    CHECK(equal(rows.values, Tensor<std::int8_t>({2, 4}, {32, -79, 127, 48, 32, 64, -127, 0})));
    CHECK(equal(rows.scales, Tensor<float>({2}, {2.0f / 127, 0.5f / 127})));
    const Quantized columns = there_and_back(x, ScalePer::column, layout);
    CHECK(
        equal(columns.values, Tensor<std::int8_t>({2, 4}, {127, -127, 127, 127, 32, 25, -32, 0})));
    CHECK(equal(columns.scales,
                Tensor<float>({4}, {0.5f / 127, 1.25f / 127, 2.0f / 127, 0.75f / 127})));
}

TEST_CASE("INT8: no element has an error of more than half a quantization step",
          "[day06][int8][small]") {
    const Tensor<float> x = seeded<float>({129, 3}, 7, -9, 9);
    for (const ScalePer per : {ScalePer::row, ScalePer::column}) {
        const Quantized q = there_and_back(x, per, column_major(x.shape()));
        double most = 0;  // in steps: 0.5 is almost reached, so the bound is tight
        for (std::int64_t k = 0; k < x.size(); ++k) {
            const auto scale = double(q.scales(per == ScalePer::row ? k / 3 : k % 3));
            const auto exact = double(x.data()[k]);
            const double off = std::fabs(double(q.back.data()[k]) - exact);
            CHECK(off <= scale / 2 + std::fabs(exact) * 0x1p-22);
            CHECK(q.values.data()[k] >= -127);
            most = std::max(most, off / scale);
        }
        CHECK(most > 0.45);
    }
}

TEST_CASE("INT8: zeros, the largest and smallest floats, NaN and infinity",
          "[day06][int8][small]") {
    const float most = 3e38f, least = 0x1p-149f;
    const Tensor<float> x({6, 2},
                          {0, -0.0f, most, -most, least, -least, NAN, 1, 1, -INFINITY, 3, 1});
    const Quantized q = there_and_back(x, ScalePer::row, row_major(x.shape()));
    CHECK(q.scales(0) == 0);
    CHECK((q.back(0, 0) == 0 && q.back(0, 1) == 0));
    CHECK((q.values(1, 0) == 127 && q.values(1, 1) == -127));
    CHECK(std::isfinite(q.back(1, 0)));
    CHECK((q.scales(2) == 0 && q.values(2, 0) == 0));  // 2^-149 / 127 is 0
    for (const std::int64_t r : {3, 4}) {
        CHECK(std::isnan(q.scales(r)));
        for (const std::int64_t c : {0, 1}) {
            CHECK(q.values(r, c) == 0);
            CHECK(std::isnan(q.back(r, c)));
        }
    }
    CHECK(q.values(5, 0) == 127);  // other rows are unaffected
    CHECK(q.values(5, 1) == 42);
}

TEST_CASE("one outlier column: a scale per row has 56 times the error of a scale per column",
          "[day06][int8][small]") {
    Tensor<float> x({4, 16});  // multiples of 1/16 from -1.25 to 1.25
    for (std::int64_t i = 0; i < x.size(); ++i) {
        x.data()[i] = static_cast<float>((i * 37 + 11) % 41 - 20) / 16;
    }
    for (std::int64_t r = 0; r < 4; ++r) x(r, 5) *= 64;  // the outliers
    Kept kept({16});
    outlier_columns_cpu(x.view(), 3, kept.view());  // above mean + 3 standard deviations
    for (std::int64_t c = 0; c < 16; ++c) CHECK(kept(c) == (c == 5));
    const auto worst = [&](const Quantized& q) {
        double off = 0;
        for (std::int64_t r = 0; r < 4; ++r) {
            for (std::int64_t c = 0; c < 16; ++c) {
                const double error =
                    std::fabs(static_cast<double>(q.back(r, c)) - static_cast<double>(x(r, c)));
                if (c != 5) off = std::max(off, error);
            }
        }
        return off;
    };
    const Layout layout = row_major(x.shape());
    const Quantized rows = there_and_back(x, ScalePer::row, layout),
                    apart = there_and_back(x, ScalePer::row, layout, &kept);
    // NumPy, in float32, for the same matrix: 0.25, 0.0044291317 and 0.0044291317
    CHECK(worst(rows) == 0.25);
    CHECK(std::fabs(worst(there_and_back(x, ScalePer::column, layout)) - 0.0044291317) < 1e-9);
    CHECK(std::fabs(worst(apart) - 0.0044291317) < 1e-9);
    for (std::int64_t r = 0; r < 4; ++r) CHECK(apart.values(r, 5) == 0);
}

TEST_CASE("INT8: CPU reference and kernel reject the same", "[day06][int8][small]") {
    const Tensor<float> x = noise<float>({4, 8});
    Tensor<std::int8_t> values({4, 8});
    Tensor<float> rows({4}), columns({8});
    const Kept mask({8}), short_mask({7});
    const auto rejected = [&](ScalePer per, View<const std::uint8_t> kept, View<float> scales,
                              const char* words) {
        CHECK(both_reject([&] { quantize_int8_cpu(x.view(), per, kept, values.view(), scales); },
                          [&] { quantize_int8_cuda(x.view(), per, kept, values.view(), scales); },
                          words));
    };
    rejected(ScalePer::column, {}, rows.view(),
             "quantize_int8: scales has shape (4), but a matrix of shape (4, 8) with a scale per "
             "column needs (8)");
    rejected(ScalePer::row, short_mask.view(), rows.view(),
             "quantize_int8: kept has shape (7), but in has shape (4, 8)");
    rejected(static_cast<ScalePer>(2), {}, rows.view(),
             "quantize_int8: scale per 2 does not exist; it must be one of: row, column");
    rejected(ScalePer::column, mask.view(), columns.view(),
             "quantize_int8: kept needs a scale per row");
    const View<const float> one = row(x.view(), 0);
    CHECK(contains(
        rejection([&] { check_quantize_int8(one, ScalePer::row, {}, values.view(), rows.view()); }),
        "quantize_int8: in has shape (8) of rank 1"));
    CHECK(contains(rejection([&] {
                       check_dequantize_int8(row(View<const std::int8_t>(values.view()), 0),
                                             ScalePer::row, rows.view(), columns.view());
                   }),
                   "dequantize_int8: values has shape (8) of rank 1"));
    Kept marks({8});
    CHECK(contains(rejection([&] { outlier_columns_cpu(x.view(), 3, Kept({7}).view()); }),
                   "outlier_columns: kept has shape (7)"));
    CHECK(contains(rejection([&] { outlier_columns_cpu(x.view(), -1, marks.view()); }),
                   "sigmas is -1.000000, but must be 0 or more"));
}

}  // namespace
