// Swish as an epilogue: known answers, and what is rejected. tests/all_paths.cpp and
// tests/matmul_bf16.cpp check every path against a bound.
#include "common/testing/operation/cases.hpp"
#include "day05_matmul/matmul.op.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

TEST_CASE("swish of a product and a bias equals NumPy", "[day05][swish][small]") {
    // x = numpy.array([[-4, -1, -1], [4, 1, -1]]); x / (1 + numpy.exp(-x))
    Operation op = matmul_operation({2, 3, 1, {.swish = true}, 1, {}, {}, {}, {}, {}, true});
    const Values values[] = {list({1, -1}), list({-4, -1, 0}), {}, list({0, 0, -1})};
    for (const std::size_t i : {0, 1, 3}) op.operands[i].values = values[i];
    const std::vector<double> want = {-0.07194483984836623, -0.2689414213699951,
                                      -0.2689414213699951,  3.928055160151634,
                                      0.7310585786300049,   -0.2689414213699951};
    know(op, want);
    CHECK(computes_its_result(op));
}

TEST_CASE("swish of large sums, infinities and NaN is PyTorch's silu", "[day05][swish][small]") {
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

TEST_CASE("relu together with swish is rejected, for floats and for 16 bits",
          "[day05][swish][small]") {
    const Product both{2, 2, 2, {.relu = true, .swish = true}};
    const std::string words = "relu and swish are both set; choose one of them";
    CHECK(rejects_as_it_is(matmul_operation(both), words));
    CHECK(rejects_as_it_is(matmul_bf16_operation<bf16>(both), words));
}

}  // namespace
