// The limits of the stride helpers: rejected arguments, 64-bit overflow, and View and Tensor.
#include <cstring>
#include <set>
#include <type_traits>

#include "common/tensor/index.hpp"
#include "common/tensor/packings.hpp"
#include "common/tensor/view.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using sixdays::testing::contains;
using sixdays::testing::rejection;

namespace {
constexpr std::int64_t k2to31 = std::int64_t{1} << 31;
constexpr std::int64_t k2to62 = std::int64_t{1} << 62;
}  // namespace

TEST_CASE("an invalid shape or stride is rejected with its values", "[tensor][small]") {
    CHECK(rejection([] { (void)Dims{1, 2, 3, 4, 5, 6, 7, 8, 9}; }) ==
          "rank 9 asked for, but a tensor here has 0 to 8 dims");
    CHECK(rejection([] { (void)Dims::filled(9, 1); }) ==
          "rank 9 asked for, but a tensor here has 0 to 8 dims");
    CHECK(contains(rejection([] { (void)Dims::filled(-1, 1); }), "rank -1 asked for"));
    const char* negative =
        "shape (2, -3): the extent of dim 1 is -3, and an extent cannot be negative";
    CHECK(rejection([] { (void)size({2, -3}); }) == negative);
    CHECK(rejection([] { (void)row_major({2, -3}); }) == negative);
    CHECK(rejection([] { (void)column_major({2, -3}); }) == negative);
    CHECK(rejection([] { (void)Layout({2, -3}, {1, 1}); }) == negative);
    CHECK(rejection([] {
              (void)Layout({2, 3}, {1});
          }) == "shape (2, 3) has rank 2, strides (1) have rank 1; one stride per dim is needed");
    CHECK(rejection([] {
              (void)Tensor<float>({2, 3}, {1, 2, 3});
          }) == "shape (2, 3) has 6 elements, but 3 were given");
    CHECK(rejection([] { (void)Tensor<float>({2, -3}); }) == negative);
    CHECK(rejection([] { (void)View<float>(nullptr, Shape{2, -3}); }) == negative);
}

TEST_CASE("sizes beyond 64 bits are rejected, even if an extent is 0", "[tensor][small]") {
    CHECK(size({k2to31, k2to31}) == k2to62);
    const char* sentence =
        "shape (2147483648, 2147483648, 2): the number of elements does not fit in 64 bits";
    CHECK(rejection([] { (void)size({k2to31, k2to31, 2}); }) == sentence);
    CHECK(rejection([] { (void)row_major({k2to31, k2to31, 2}); }) == sentence);
    CHECK(rejection([] { (void)column_major({k2to31, k2to31, 2}); }) == sentence);
    CHECK(rejection([] { (void)Layout({k2to31, k2to31, 2}, {0, 0, 0}); }) == sentence);
    CHECK(contains(rejection([] { (void)size({k2to62, 0, 2}); }), "does not fit in 64 bits"));
    CHECK(contains(rejection([] { (void)size({0, -1}); }), "cannot be negative"));
}

TEST_CASE("offsets beyond 2^31 and near 2^62 are exact", "[tensor][small]") {
    const Layout rows = row_major({k2to31, 3});  // more rows than an int can count
    CHECK(offset(rows, k2to31 - 1, 2) == 3 * k2to31 - 1);
    CHECK(unravel(3 * k2to31 - 1, rows.shape) == Index{k2to31 - 1, 2});
    CHECK(ravel({k2to31 - 1, 2}, rows.shape) == 3 * k2to31 - 1);

    const Layout huge = row_major({k2to31, k2to31});
    CHECK(huge.strides == Strides{k2to31, 1});
    CHECK(offset(huge, k2to31 - 1, k2to31 - 1) == k2to62 - 1);
    CHECK(required_span(huge) == k2to62);
    CHECK(is_contiguous(huge));
    CHECK(is_injective(huge));
    CHECK(unravel(k2to62 - 1, huge.shape) == Index{k2to31 - 1, k2to31 - 1});
    CHECK(column_major({k2to31, k2to31}).strides == Strides{1, k2to31});
    CHECK(column_major({0, 3}).strides == Strides{1, 1});  // an extent of 0 counts as 1 here
    CHECK(row_major({3, 0}).strides == Strides{1, 1});

    const Layout flipped({k2to31, k2to31}, {-k2to31, -1});
    CHECK(reach(flipped).lowest == -(k2to62 - 1));
    CHECK(reach(flipped).highest == 0);
    CHECK(required_span(flipped) == k2to62);
}

TEST_CASE("constructing a layout with offsets beyond 64 bits is rejected", "[tensor][small]") {
    CHECK(required_span(Layout({2}, {INT64_MAX - 1})) == INT64_MAX);
    CHECK(
        rejection([] { (void)Layout({2}, {INT64_MAX}); }) ==
        "shape (2) with strides (9223372036854775807): the span of the offsets does not fit in 64 "
        "bits");
    CHECK(contains(rejection([] { (void)Layout({2}, {INT64_MIN}); }), "does not fit in 64 bits"));
    CHECK(contains(rejection([] { (void)Layout({3}, {k2to62}); }), "does not fit in 64 bits"));
    CHECK(contains(rejection([] {
                       (void)Layout({2, 2}, {k2to62, -k2to62});
                   }),
                   "does not fit in 64 bits"));
    // A stride that no index ever multiplies may have any value.
    CHECK(required_span(Layout({1, 2}, {INT64_MIN, 1})) == 2);
    CHECK(is_injective(Layout({1, 2}, {INT64_MIN, 1})));
    CHECK(is_contiguous(Layout({1, 2}, {INT64_MAX, 1})));
    CHECK(required_span(Layout({0, 2}, {INT64_MAX, INT64_MIN})) == 0);
}

TEST_CASE("layouts and views are trivially copyable, as kernel arguments must be",
          "[tensor][small]") {
    CHECK(std::is_trivially_copyable_v<Layout>);
    CHECK(std::is_trivially_copyable_v<View<float>>);
    CHECK(std::is_trivially_copyable_v<View<const float>>);
    CHECK(std::is_standard_layout_v<View<const float>>);
    const Layout layout = row_major({2, 3});
    Layout copy;
    std::memcpy(static_cast<void*>(&copy), &layout, sizeof layout);
    CHECK(copy.shape == layout.shape);
    CHECK(copy.strides == layout.strides);
}

TEST_CASE("a view converts to a read-only view, and never back", "[tensor][small]") {
    Tensor<float> tensor({2, 3}, {1, 2, 3, 4, 5, 6});
    const View<float> view = tensor.view();
    const View<const float> reader = view;
    CHECK(reader.data == tensor.data());
    CHECK(reader(1, 2) == 6);
    CHECK(reader(Index{1, 0}) == 4);
    view(1, 0) = 9;
    CHECK(tensor(1, 0) == 9);
    CHECK(std::is_convertible_v<View<float>, View<const float>>);
    CHECK_FALSE(std::is_convertible_v<View<const float>, View<float>>);
    CHECK_FALSE(std::is_convertible_v<View<float>, View<double>>);
    CHECK(std::is_same_v<decltype(std::as_const(tensor).view()), View<const float>>);

    const View<const float> flipped(tensor.data() + 5, Layout({2, 3}, {-3, -1}));
    CHECK(flipped(0, 0) == 6);
    CHECK(flipped(1, 2) == 1);
    CHECK(flipped.rank() == 2);
    CHECK(flipped.extent(1) == 3);
    CHECK(flipped.stride(0) == -3);
    CHECK(flipped.size() == 6);

    Tensor<float> scalar(Shape{});
    CHECK(scalar() == 0);
    CHECK(scalar.view()(Index{}) == 0);
    CHECK(scalar.size() == 1);
}

TEST_CASE("tensors overlap exactly if their byte ranges do", "[tensor][small]") {
    // Small views into one array of 40 bytes, as floats and as shorts, against sets of bytes.
    alignas(8) std::byte memory[40] = {};
    const auto span_of = [&](const auto& view) {
        std::set<std::ptrdiff_t> bytes, all;
        for (const Index& index : packings::indices_of(view.layout.shape)) {
            const auto* first = reinterpret_cast<const std::byte*>(&view(index));
            for (std::size_t b = 0; b < sizeof *view.data; ++b) bytes.insert(first + b - memory);
        }
        if (bytes.empty()) return all;
        for (std::ptrdiff_t b = *bytes.begin(); b <= *bytes.rbegin(); ++b) all.insert(b);
        return all;
    };
    packings::Cases cases;
    const auto* floats = reinterpret_cast<const float*>(memory);
    const auto* shorts = reinterpret_cast<const std::int16_t*>(memory);
    for (std::ptrdiff_t start = 2; start < 8; ++start) {
        for (const std::int64_t stride : {-1, 0, 1, 2}) {
            if (start + stride * 2 > 9) continue;
            for (const std::int64_t extent : {0, 1, 3}) {
                const View<const float> a(floats + start, Layout({extent}, {stride}));
                for (std::ptrdiff_t other = 2; other < 18; ++other) {
                    const View<const std::int16_t> b(shorts + other, Layout({2}, {-2}));
                    bool common = false;
                    for (const auto byte : span_of(a))
                        common = common || span_of(b).count(byte) > 0;
                    cases.expect(overlap(a, b) == common, a.layout);
                    cases.expect(overlap(b, a) == common, a.layout);
                }
            }
        }
    }
    CHECK(cases.failure() == "");
    CHECK(cases.count() == 2112);
}
