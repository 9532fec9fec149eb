// The page's worked example: a tensor small enough for paper, and the weights of a larger one.
// Expected indices: numpy.argmax(x, axis) of the same numbers, and by hand.
#include "common/tensor/transform.hpp"
#include "day04_argmax/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day04_argmax;
using namespace sixdays::testing;

namespace {

TEST_CASE("argmax of a (2, 3, 4) tensor over each dimension equals the result by hand",
          "[day04][argmax][small]") {
    const Tensor<float> x({2, 3, 4}, {35, 21, 24, 11, 8,  48, 39, 48, 10, 42, 20, 16,  //
                                      16, 37, 6,  46, 40, 44, 44, 47, 31, 7,  40, 10});
    const Tensor<std::int64_t> over[] = {
        Tensor<std::int64_t>({3, 4}, {0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0}),
        Tensor<std::int64_t>({2, 4}, {0, 1, 1, 1, 1, 1, 1, 1}),
        Tensor<std::int64_t>({2, 3}, {0, 1, 1, 3, 3, 2})};  // 8 48 39 48: the first 48
    for (int dim = 0; dim < 3; ++dim) {
        Operation op = argmax_operation(x.shape(), dim);
        op.operands[0].with(taken_from(x));
        know(op, std::vector(over[dim].data(), over[dim].data() + over[dim].size()));
        CHECK(computes_its_result(op));
    }
}

TEST_CASE("(2, 3, 4, 5, 6) without dim 2 has the weights 90 30 0 6 1", "[day04][lines][small]") {
    const Shape shape{2, 3, 4, 5, 6};
    const float* nowhere = nullptr;
    const Lines lines = lines_of("test", View<const float>(nowhere, shape), {2});
    const Layout weights = unsqueeze(row_major(lines.first.layout.shape), 2);
    CHECK(weights.strides == Strides{90, 30, 0, 6, 1});
    // The weights turn indices into the thread number, the strides into the first offset of the
    // line.
    for (std::int64_t thread = 0; thread < 180; ++thread) {
        const Index at = unravel(thread, lines.first.layout.shape);
        CHECK(90 * at[0] + 30 * at[1] + 6 * at[2] + at[3] == thread);
        CHECK(offset(lines.first.layout, at) == 360 * at[0] + 120 * at[1] + 6 * at[2] + at[3]);
    }
}

}  // namespace
