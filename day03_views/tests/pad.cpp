// Tests of pad, an operation of the set broadcast: padding with a given value, and dropping.
#include "common/testing/testing.hpp"

#include <cstdint>
#include <limits>
#include <vector>

#include "common/tensor/transform.hpp"
#include "day03_views/broadcast.op.hpp"
#include "day03_views/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;
using namespace sixdays::testing;

namespace {

// Bit by bit, so that -0 is not 0.
void check_pad_both(const Tensor<float>& in, const Dims& before, float value,
                    const Tensor<float>& answer) {
    CAPTURE(to_string(before), value);
    HostOut<float> want(answer.shape(), {}, Poison{0x55});
    pad_cpu(in.view(), before, value, want.view());
    CHECK(want.matches(answer));
    DeviceIn<float> device(in);
    DeviceOut<float> got(answer.shape(), {}, Poison{0x55});
    pad_cuda(device.view(), before, value, got.view());
    CHECK(got.matches(answer));
}

TEST_CASE("pad writes the given value past the edges and drops what does not fit",
          "[day03][pad][small]") {
    const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
    const Tensor<float> x({2, 3}, {1, 2, 3, 4, 5, 6});
    const auto check = [&](const Dims& before, float v, const Shape& shape,
                           const std::vector<float>& answer) {
        check_pad_both(x, before, v, Tensor<float>(shape, answer));
    };
    for (const float v : {0.0f, -0.0f, -inf, nan}) {
        check({1, 1}, v, {3, 5}, {v, v, v, v, v, v, 1, 2, 3, v, v, 4, 5, 6, v});
        check({0, 0}, v, {3, 4}, {1, 2, 3, v, 4, 5, 6, v, v, v, v, v});
        check({-1, -2}, v, {2, 2}, {6, v, v, v});  // the first row, two columns dropped
        check({0, -1}, v, {1, 2}, {2, 3});         // only dropped
        check({1, -1}, v, {2, 4}, {v, v, v, v, 2, 3, v, v});
        check({5, 0}, v, {2, 2}, {v, v, v, v});  // entirely outside
        check({0, -3}, v, {2, 2}, {v, v, v, v});
        const std::int64_t far = std::int64_t{1} << 62;
        check({far, -far}, v, {1, 2}, {v, v});
        check({1, 1}, v, {0, 5}, {});
    }
    // An empty input: only padding. Rank 0: no padding.
    check_pad_both(Tensor<float>({0, 3}), {0, 0}, 7, Tensor<float>({1, 2}, {7, 7}));
    check_pad_both(Tensor<float>(Shape{}, {5}), {}, 7, Tensor<float>(Shape{}, {5}));
}

TEST_CASE("pad supports any rank and size", "[day03][pad][small]") {
    const auto check = [](const Shape& in, const Dims& before, const Shape& out) {
        CHECK(computes_its_result(pad_operation(row_major(in), before, -1, row_major(out))));
    };
    for (const std::int64_t n : {1, 255, 256, 257, 700}) {
        check({n}, {3}, {n + 5});
        check({3, n}, {0, -2}, {2, n});
    }
    check({1, 2, 1, 2, 1, 2, 1, 2}, {1, 0, 1, 0, 1, 0, 1, 0}, {2, 2, 2, 2, 2, 2, 2, 2});
}

TEST_CASE("a partial tile is padded when read and cropped when written back",
          "[day03][pad][small]") {
    // (37, 45) in tiles of 16 x 16: edge tiles are smaller, padded tiles are not.
    const Tensor<float> in = distinct<float>({37, 45});
    DeviceIn<float> from(in);
    DeviceOut<float> got({37, 45});
    const Shape shape{16, 16};
    const Dims tiles = tiles_per_dim({37, 45}, shape);
    gpu::Buffer<float> whole(16 * 16);
    double sum = 0, answer = 0;
    for (std::int64_t i = 0; i < tiles[0]; ++i) {
        for (std::int64_t j = 0; j < tiles[1]; ++j) {
            pad_cuda(tile(from.view(), shape, {i, j}), {0, 0}, 0, whole.view(shape));
            for (const float x : whole.download()) sum += x;  // 0 adds nothing
            pad_cuda(whole.view(shape), {0, 0}, 0, tile(got.view(), shape, {i, j}));
        }
    }
    CHECK(got.matches(in));
    for (std::int64_t k = 0; k < in.size(); ++k) answer += in.data()[k];
    CHECK(sum == answer);
}

TEST_CASE("pad rejects other ranks, overflowing offsets and overlap", "[day03][pad][small]") {
    const Tensor<float> in({2, 3});
    Tensor<float> out({3, 4});
    const auto rejected = [&](const View<const float>& from, const Dims& before,
                              const char* words) {
        CHECK(both_reject([&] { pad_cpu(from, before, 0, out.view()); },
                          [&] { pad_cuda(from, before, 0, out.view()); }, words));
    };
    rejected(in.view(), {0}, "pad: before is (0), but out has rank 2");
    const std::int64_t far = (std::int64_t{1} << 62) + 1;
    rejected(in.view(), {0, far}, "but must be -2^62 to 2^62");
    rejected(in.view(), {-far, 0}, "but must be -2^62 to 2^62");
    rejected(row(in.view(), 0), {0, 0}, "pad: in has shape (3) of rank 1, but rank 2 is needed");
    rejected(out.view(), {0, 0}, "pad: in overlaps out");
}

}  // namespace
