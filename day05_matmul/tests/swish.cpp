// Swish as a product's epilogue: known answers, and what is rejected. tests/all_paths.cpp and
// tests/matmul_bf16.cpp hold every path to a bound.
#include "common/tensor/half.hpp"
#include "day05_matmul/matmul_bf16.hpp"
#include "day05_matmul/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

TEST_CASE("swish of a product and a bias: what NumPy says", "[day05][swish][small]") {
    // x = numpy.array([[-4, -1, -1], [4, 1, -1]]); x / (1 + numpy.exp(-x))
    const Tensor<float> a({2, 1}, {1, -1}), b({1, 3}, {-4, -1, 0}), bias({3}, {0, 0, -1});
    const Tensor<double> want(
        {2, 3}, {-0.07194483984836623, -0.2689414213699951, -0.2689414213699951, 3.928055160151634,
                 0.7310585786300049, -0.2689414213699951});
    const auto bound = [&](const Index& i) {
        return 16 * std::ldexp(std::fabs(want.view()(i)), -24);
    };
    HostOut<float> reference({2, 3});
    matmul_cpu(a.view(), b.view(), {.bias = bias.view(), .swish = true}, reference.view());
    CHECK(reference.close_to(want, bound));
    const DeviceIn<float> da(a), db(b), dbias(bias);
    DeviceOut<float> got({2, 3});
    matmul_cuda(da.view(), db.view(), {.bias = dbias.view(), .swish = true}, got.view());
    CHECK(got.close_to(want, bound));
}

TEST_CASE("swish of large sums, infinities and NaN, as PyTorch's silu", "[day05][swish][small]") {
    const float inf = INFINITY;
    const Tensor<float> a({1, 1}, {1}), b({1, 5}, {1000, -1000, inf, -inf, std::nanf("")});
    HostOut<float> reference({1, 5});
    matmul_cpu(a.view(), b.view(), {.swish = true}, reference.view());
    const Tensor<float> y = reference.values();
    CHECK(y(0, 0) == 1000);
    CHECK(y(0, 1) == 0);
    CHECK(y(0, 2) == inf);
    CHECK(std::isnan(y(0, 3)));  // -inf * 0
    CHECK(std::isnan(y(0, 4)));
}

TEST_CASE("relu and swish at once are rejected, by floats and by 16 bits",
          "[day05][swish][small]") {
    const Tensor<float> a({2, 2}, {1, 2, 3, 4});
    const Tensor<bf16> a16({2, 2});
    const DeviceIn<float> da(a);
    const DeviceIn<bf16> da16(a16);
    HostOut<float> h({2, 2});
    DeviceOut<float> g({2, 2});
    const Epilogue both{.relu = true, .swish = true};
    CHECK(both_refuse([&] { matmul_cpu(a.view(), a.view(), both, h.view()); },
                      [&] { matmul_cuda(da.view(), da.view(), both, g.view()); },
                      "matmul: relu and swish are both asked for"));
    CHECK(both_refuse([&] { matmul_bf16_cpu<bf16>(a16.view(), a16.view(), both, h.view()); },
                      [&] { matmul_bf16_cuda<bf16>(da16.view(), da16.view(), both, g.view()); },
                      "matmul_bf16: relu and swish are both asked for"));
    CHECK(h.untouched());
    CHECK(g.untouched());
}

}  // namespace
