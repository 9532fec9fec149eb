// The same numbers in other libraries' conventions.
#include "day02_strides/conventions.hpp"

#include "day02_strides/pack.hpp"
#include "day02_strides/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day02_strides;
using namespace sixdays::testing;

namespace {

TEST_CASE("extents listed innermost first describe the same memory",
          "[day02][conventions][small]") {
    CHECK(innermost_first({50257, 768}) == Dims{768, 50257});
    CHECK(innermost_first({2, 3, 4}) == Dims{4, 3, 2});
    CHECK(innermost_first({}) == Dims{});
    // (V, C) = (3, 2) is stored as 2, 3. Read as a row-major shape, with rows of 3, it selects the
    // wrong element; reversed first, the right one.
    const Tensor<float> memory({6}, {1, 2, 3, 4, 5, 6});
    const Dims listed = innermost_first({3, 2});
    const View<const float> wrong(memory.data(), row_major(listed));
    const View<const float> right(memory.data(), row_major(innermost_first(listed)));
    CHECK(right(1, 0) == 3);
    CHECK(wrong(1, 0) == 4);
    // Or: the first listed dimension is the fast one, so the list is a column-major shape.
    const View<const float> listed_view(memory.data(), column_major(listed));
    for (std::int64_t v = 0; v < 3; ++v) {
        for (std::int64_t c = 0; c < 2; ++c) CHECK(listed_view(c, v) == right(v, c));
    }
}

TEST_CASE("byte strides equal NumPy's and convert back", "[day02][conventions][small]") {
    // numpy.zeros((2, 3, 4), numpy.float32).strides is (48, 16, 4); transposed (4, 16, 48).
    const Layout x = row_major({2, 3, 4});
    CHECK(byte_strides(x, 4) == Strides{48, 16, 4});
    CHECK(byte_strides(x, 8) == Strides{96, 32, 8});
    CHECK(byte_strides(Layout({3}, {-2}), 2) == Strides{-4});
    CHECK(equivalent(from_byte_strides({4, 3, 2}, {4, 16, 48}, 4), Layout({4, 3, 2}, {1, 4, 12})));
    CHECK(equivalent(from_byte_strides({3}, {-4}, 2), Layout({3}, {-2})));
    CHECK(
        rejection([] {
            (void)from_byte_strides({2, 3}, {14, 4}, 4);
        }) ==
        "byte strides (14, 4): the stride of dim 0 is 14, not a multiple of an element's 4 bytes");
    CHECK_NOTHROW(from_byte_strides({1, 3}, {14, 4}, 4));  // extent 1: its stride is never used
    CHECK(rejection([] { (void)from_byte_strides({2, 3}, {4}, 4); }) != "");
    CHECK(rejection([&] { (void)byte_strides(x, 0); }) != "");
    CHECK(rejection([] { (void)from_byte_strides({3}, {4}, -4); }) != "");
    CHECK(byte_strides(row_major({3}), 1) == Strides{1});  // bytes, the smallest element
    CHECK(equivalent(from_byte_strides({3}, {5}, 1), Layout({3}, {5})));
    CHECK(rejection([] { (void)byte_strides(Layout({2}, {INT64_MAX / 2}), 4); }) != "");
}

TEST_CASE("the leading dimension is the stride that is not 1", "[day02][conventions][small]") {
    const auto strides = [](const Layout& l) {
        const MatrixStrides s = matrix_strides(l);
        return Strides{s.row, s.column};
    };
    CHECK(strides(row_major({3, 4})) == Strides{4, 1});
    CHECK(strides(column_major({3, 4})) == Strides{1, 3});
    CHECK(leading_dimension(row_major({3, 4})) == 4);
    CHECK(leading_dimension(column_major({3, 4})) == 3);
    CHECK(leading_dimension(pitched_rows(3, 4, 6)) == 6);
    CHECK(leading_dimension(Layout({4, 3}, {1, 6})) == 6);  // the same memory, transposed
    CHECK(rejection([] {
              (void)leading_dimension(Layout({3, 4}, {8, 2}));
          }) == "shape (3, 4), strides (8, 2) has no leading dimension: neither stride is 1");
    CHECK(rejection([] { (void)matrix_strides(row_major({3})); }) != "");
    CHECK(equivalent(pitched_rows(3, 4, 4), row_major({3, 4})));  // no padding
    CHECK(rejection([] { (void)pitched_rows(3, 4, 3); }) ==
          "a pitch of 3 for rows of 4 elements: the rows would overlap");
}

TEST_CASE("a partly filled cache has the strides of its capacity", "[day02][conventions][small]") {
    // (B, H, capacity, D) = (2, 3, 8, 4), of which 5 positions are filled.
    const Layout filled = cache_filled_to(5, 2, 3, 8, 4);
    CHECK(filled.shape == Shape{2, 3, 5, 4});
    CHECK(filled.strides == Strides{96, 32, 4, 1});  // a head is 8 * 4 apart, not 5 * 4
    CHECK(!is_contiguous(filled));
    CHECK(is_injective(filled));
    CHECK(required_span(filled) == 1 * 96 + 2 * 32 + 4 * 4 + 3 + 1);
    CHECK(is_contiguous(cache_filled_to(8, 2, 3, 8, 4)));
    CHECK(cache_filled_to(0, 2, 3, 8, 4).size() == 0);
    CHECK(rejection([] { (void)cache_filled_to(9, 2, 3, 8, 4); }) ==
          "9 positions of a cache that has room for 8");
    // Packed, it holds only the filled positions.
    Tensor<float> cache({2, 3, 8, 4});
    for (std::int64_t i = 0; i < cache.size(); ++i) cache.data()[i] = static_cast<float>(i);
    const DeviceIn<float> device(cache);
    Tensor<float> want({2, 3, 5, 4});
    std::int64_t next = 0;
    for (std::int64_t b = 0; b < 2; ++b) {
        for (std::int64_t h = 0; h < 3; ++h) {
            for (std::int64_t t = 0; t < 5; ++t) {
                for (std::int64_t c = 0; c < 4; ++c) want.data()[next++] = cache(b, h, t, c);
            }
        }
    }
    DeviceOut<float> got({2, 3, 5, 4});
    pack_cuda({device.view().data, filled}, got.view());
    CHECK(got.matches(want));
}

TEST_CASE("at() checks every index and reports the wrong one", "[day02][conventions][small]") {
    Tensor<float> x({2, 3}, {1, 2, 3, 4, 5, 6});
    CHECK(at(x.view(), {1, 2}) == 6);
    CHECK(at(x.view(), {0, 0}) == 1);  // 0 is an index of every dimension
    at(x.view(), {1, 2}) = 7;
    CHECK(x(1, 2) == 7);
    CHECK(at(View<const float>(x.data(), column_major({2, 3})), {1, 2}) == 7);
    CHECK(rejection([&] {
              (void)at(x.view(), {1, 3});
          }) == "index (1, 3) of shape (2, 3): index 3 of dim 1 is not in [0, 3)");
    CHECK(rejection([&] {
              (void)at(x.view(), {-1, 0});
          }) == "index (-1, 0) of shape (2, 3): index -1 of dim 0 is not in [0, 2)");
    CHECK(rejection([&] { (void)at(x.view(), {1}); }) ==
          "index (1) of shape (2, 3): ranks 1 and 2 differ");
    CHECK(rejection([&] { (void)at(x.view(), {}); }) != "");
}

}  // namespace
