// A wrong but repeatable result ends --bench with an error message.
#include "day06_transformer_ops/bench/bench.hpp"

#include "common/testing/testing.hpp"
#include "day06_transformer_ops/softmax/softmax.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;

namespace {

TEST_CASE("a benchmark checks the first, a middle and the last row", "[day06][small]") {
    const Shape shape{5, 8};
    const Tensor<float> x = testing::seeded<float>(shape, 3, -6, 6);
    Tensor<float> right(shape);
    softmax_cpu(x.view(), 1, right.view());
    const Op<float> op = {"softmax",
                          "online",
                          [](View<const float> in, View<float> out) { softmax_cpu(in, 1, out); },
                          {}};
    const gpu::Buffer<float> in(x);
    const auto said = [&](std::int64_t row, float off) {
        Tensor<float> y = right;
        y(row, 3) += off;
        const gpu::Buffer<float> out(y);
        try {
            hold_against_loop(op, shape, in.data(), out.data());
        } catch (const std::runtime_error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(said(0, 0).empty());
    CHECK(said(0, 1e-6f).empty());
    for (const std::int64_t row : {0, 2, 4}) {
        CHECK(said(row, 0.5f).find("softmax, online, shape (5, 8): index " + std::to_string(row) +
                                   " of dim 0 is ") == 0);
    }
    CHECK_FALSE(said(2, NAN).empty());
}

}  // namespace
