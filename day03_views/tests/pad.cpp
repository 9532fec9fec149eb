// The proof of pad, an operation of the set broadcast: an edge of a chosen value, and what is
// dropped.
#include "common/testing/testing.hpp"

#include <cstdint>
#include <limits>
#include <vector>

#include "common/tensor/index.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/broadcast.hpp"
#include "day03_views/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;
using namespace sixdays::testing;

namespace {

void check_pad_both(const Tensor<float>& in, const Layout& layout, const Dims& before, float value,
                    const Layout& out, const Tensor<float>& answer) {
    CAPTURE(to_string(layout), to_string(before), to_string(out), value);
    HostIn<float> host(in, layout);
    HostOut<float> want(out, {}, Poison{0x55});
    pad_cpu(host.view(), before, value, want.view());
    CHECK(want.matches(answer));
    DeviceIn<float> device(in, layout);
    DeviceOut<float> got(out, {}, Poison{0x55});
    pad_cuda(device.view(), before, value, got.view());
    CHECK(got.matches(answer));
    CHECK(device.unchanged());
}

TEST_CASE("past an edge stands the chosen value, and what has no place is dropped",
          "[day03][pad][small]") {
    const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
    const Tensor<float> x({2, 3}, {1, 2, 3, 4, 5, 6});
    const auto check = [&](const Dims& before, float v, const Shape& shape,
                           const std::vector<float>& answer) {
        check_pad_both(x, row_major({2, 3}), before, v, row_major(shape),
                       Tensor<float>(shape, answer));
    };
    for (const float v : {0.0f, -0.0f, -inf, nan}) {
        check({1, 1}, v, {3, 5}, {v, v, v, v, v, v, 1, 2, 3, v, v, 4, 5, 6, v});
        check({0, 0}, v, {3, 4}, {1, 2, 3, v, 4, 5, 6, v, v, v, v, v});
        check({-1, -2}, v, {2, 2}, {6, v, v, v});  // the first row, two columns dropped
        check({0, -1}, v, {1, 2}, {2, 3});         // nothing but dropped
        check({1, -1}, v, {2, 4}, {v, v, v, v, 2, 3, v, v});
        check({5, 0}, v, {2, 2}, {v, v, v, v});  // altogether beyond
        check({0, -3}, v, {2, 2}, {v, v, v, v});
        const std::int64_t far = std::int64_t{1} << 62;
        check({far, -far}, v, {1, 2}, {v, v});
        check({1, 1}, v, {0, 5}, {});
    }
    // An empty input: nothing but edge. Rank 0: there is no edge.
    check_pad_both(Tensor<float>({0, 3}), row_major({0, 3}), {0, 0}, 7, row_major({1, 2}),
                   Tensor<float>({1, 2}, {7, 7}));
    check_pad_both(Tensor<float>(Shape{}, {5}), Layout(), {}, 7, Layout(),
                   Tensor<float>(Shape{}, {5}));
}

TEST_CASE("pad takes any layout, rank and size", "[day03][pad][small]") {
    // The second formula: all of out is the value, then in is assigned where both have an index.
    const auto check = [](const Shape& shape, const Layout& layout, const Dims& before,
                          const Layout& out) {
        const Tensor<float> in = distinct<float>(shape);
        Tensor<float> answer(out.shape);
        for (std::int64_t k = 0; k < answer.size(); ++k) answer.data()[k] = -1;
        for (const Index& from : packings::indices_of(shape)) {
            Index to = from;
            bool inside = true;
            for (int d = 0; d < shape.rank; ++d) {
                to[d] += before[d];
                inside = inside && to[d] >= 0 && to[d] < out.extent(d);
            }
            if (inside) answer.view()(to) = in.view()(from);
        }
        check_pad_both(in, layout, before, -1, out, answer);
    };
    for_each_layout({2, 3, 4}, [&](const Layout& layout) {
        check({2, 3, 4}, layout, {1, -1, 2}, row_major({4, 3, 7}));
        check({4, 2, 3}, row_major({4, 2, 3}), {-1, 1, 0}, layout);
    });
    for (const std::int64_t n : {1, 255, 256, 257, 700}) {
        check({n}, row_major({n}), {3}, row_major({n + 5}));
        check({3, n}, row_major({3, n}), {0, -2}, row_major({2, n}));
    }
    check({1, 2, 1, 2, 1, 2, 1, 2}, row_major({1, 2, 1, 2, 1, 2, 1, 2}), {1, 0, 1, 0, 1, 0, 1, 0},
          row_major({2, 2, 2, 2, 2, 2, 2, 2}));
}

TEST_CASE("a ragged tile is read with an edge around it, and written back without",
          "[day03][pad][small]") {
    // (37, 45) in tiles of 16 x 16: those at the edges are smaller, a padded tile never is.
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

TEST_CASE("pad refuses other ranks, overlap and numbers that overflow", "[day03][pad][small]") {
    const Tensor<float> in({2, 3});
    DeviceIn<float> din(in);
    HostOut<float> h({3, 4});
    DeviceOut<float> d({3, 4});
    const auto refused = [&](const Dims& before, const char* words) {
        CHECK(both_refuse([&] { pad_cpu(in.view(), before, 0, h.view()); },
                          [&] { pad_cuda(din.view(), before, 0, d.view()); }, words));
    };
    refused({0}, "pad: before is (0), but out has rank 2");
    const std::int64_t far = (std::int64_t{1} << 62) + 1;
    refused({0, far}, "but must be -2^62 to 2^62");
    refused({-far, 0}, "but must be -2^62 to 2^62");
    const auto both = [&](auto of, const char* words) {
        CHECK(both_refuse([&] { of(h.view(), [](auto... x) { pad_cpu(x...); }); },
                          [&] { of(d.view(), [](auto... x) { pad_cuda(x...); }); }, words));
    };
    both([](View<float> v, auto pad) { pad(row(v, 0), Dims{0}, 0.0f, v); },
         "pad: in has shape (4) of rank 1, but rank 2 is needed");
    both(
        [](View<float> v, auto pad) {
            pad(rows(v, 0, 2), Dims{0, 0}, 0.0f, rows(v, 1, 3));
        },
        "pad: in overlaps out");
    both([](View<float> v, auto pad) { pad(v, Dims{0, 0}, 0.0f, v); }, "pad: in overlaps out");
    both(
        [](View<float> v, auto pad) {
            pad(View<float>(nullptr, Shape{2, 2}), Dims{0, 0}, 0.0f, v);
        },
        "pad: in is a null pointer");
    both(
        [](View<float> v, auto pad) {
            pad(rows(v, 0, 1), Dims{0, 0}, 0.0f, View<float>(nullptr, v.layout));
        },
        "pad: out is a null pointer");
    both(
        [](View<float> v, auto pad) {
            pad(rows(v, 0, 1), Dims{0, 0}, 0.0f, broadcast_to(row(v, 2), {3, 4}));
        },
        "writers of it would race");
    CHECK(h.untouched());
    CHECK(d.untouched());
}

}  // namespace
