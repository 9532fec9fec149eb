// Layer norm of small numbers against independent answers, and over several dimensions.
#include "common/gpu/tile.hpp"
#include "day06_transformer_ops/norm/norm.hpp"
#include "day06_transformer_ops/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// Layer norm with the CPU reference and with every path that supports these views.
void check_layer_norm(View<const float> host, View<const float> device,
                      const NormParameters& on_host, const NormParameters& on_device,
                      const Tensor<double>& want, double units) {
    const auto bound = [units](const Index&) { return units * kU; };
    HostOut<float> reference(want.shape());
    layer_norm_cpu<float>(host, on_host, reference.view());
    CHECK(reference.close_to(want, bound));
    int paths = 0;
    for (const NormPath path :
         {NormPath::thread_per_row, NormPath::warp_per_row, NormPath::registers, NormPath::tile}) {
        CAPTURE(name(path));
        DeviceOut<float> got(want.shape());
        if (path == NormPath::tile && !gpu::has_tile()) continue;
        const auto asked = [&] {
            (void)plan_norm<float>("layer_norm", device, on_device, got.view(), {.path = path});
        };
        if (!rejection(asked).empty()) continue;
        layer_norm_cuda<float>(device, on_device, got.view(), {.path = path});
        CHECK(got.close_to(want, bound));
        ++paths;
    }
    CHECK(paths >= 2);
}

TEST_CASE("layer norm of 1 2 3 4 is -1.341635 -0.447212 0.447212 1.341635",
          "[day06][norm][small]") {
    // NumPy, in float64: (x - 2.5) / numpy.sqrt(1.25 + 1e-5). Divided by C - 1 instead of C the
    // variance would be 5 / 3, and the first number -1.1619.
    const Tensor<double> want(
        {1, 4}, {-1.3416354199689269, -0.447211806656309, 0.447211806656309, 1.3416354199689269});
    const Tensor<float> x({1, 4}, {1, 2, 3, 4});
    const DeviceIn<float> in(x);
    // The mean and the squares are exact; 5 roundings of numbers below 2: eps, root, two divisions,
    // a product.
    check_layer_norm(x.view(), in.view(), {}, {}, want, 10);
}

TEST_CASE("layer norm over the last three dimensions is layer norm of a view that merges them",
          "[day06][norm][small]") {
    // NumPy, in float64, of these x, w and b, axes = (1, 2, 3):
    // (x - x.mean(axes, keepdims=True)) / numpy.sqrt(x.var(axes, keepdims=True) + 1e-5) * w + b
    const Tensor<float> x({2, 2, 2, 3}, {-1, 6, 2,  -2, 5, 1,  -3, 4, 0,  -4, 3,  -1,  //
                                         6,  2, -2, 5,  1, -3, 4,  0, -4, 3,  -1, 6});
    const Tensor<float> w({2, 2, 3}, {0.5f, 1.25f, 2.0f, 1.0f, 1.75f, 0.75f,  //
                                      1.5f, 0.5f, 1.25f, 2.0f, 1.0f, 1.75f});
    const Tensor<float> b({2, 2, 3}, {-2, 3, 1, -1, 4, 2, 0, -2, 3, 1, -1, 4});
    const Tensor<double> want(
        {2, 12},
        {-2.297841541372268,  5.098429041486432,   1.7581421053112272,   -1.920601127877919,
         6.369194079097586,   2.040614755641673,   -1.868278759516953,   -1.48554642853881,
         2.661543702986059,   -2.1408744362893697, -0.29601090221100335, 2.9575546051970623,
         -1.3114235678059858, 3.219092501152641,   -1.0532097250876067,  0.07668314852154956,
         3.780907498847359,   1.0046940661922883,  1.1643201489826058,   -2.2128327154054226,
         0.9655696321540486,  1.9514874335771832,  -1.7261351466773243,  6.41001751267905});
    const DeviceIn<float> dx(x), dw(w), db(b);
    // [several dims]
    const auto merged = [](View<const float> v) { return reshape(v, {v.extent(0), -1}); };
    const auto flat = [](View<const float> v) { return reshape(v, {-1}); };
    // x (N, C, H, W) as N rows of C * H * W elements; weight and bias (C, H, W) as one row
    const NormParameters parameters{flat(w.view()), flat(b.view())};
    HostOut<float> out({2, 12});
    layer_norm_cpu<float>(merged(x.view()), parameters, out.view());
    // [several dims]
    // norm.hpp's bound: 14 units of the mean |x - x(0)|, 5, scaled by 0.33, and 14 of |z| below
    // 1.7; times a weight up to 2; 2 units of a result below 6.5.
    check_layer_norm(merged(x.view()), merged(dx.view()), parameters,
                     {flat(dw.view()), flat(db.view())}, want, 110);
    CHECK(out.close_to(want, [](const Index&) { return 110 * kU; }));
    // Images of a batch may have gaps between them; within an image the dimensions must merge.
    const View<const float> every_other = slice(x.view(), 0, 0, 2, 2);
    CHECK(merged(every_other).shape() == Shape{1, 12});
    CHECK(contains(rejection([&] { (void)merged(slice(x.view(), 3, 0, 2)); }), "copy"));
}

}  // namespace
