// mdspan is the library version of what Day 02 writes: C++23's, here the CUDA Toolkit's libcu++
// version for C++17. Its three layouts give the same offsets, spans and properties as ours for
// every matrix and cube with extents up to 4. Skipped where the headers are not found.
//
//     ours                    mdspan
//     row_major               layout_right
//     column_major            layout_left
//     Layout(shape, strides)  layout_stride (which rejects strides of 0 and below)
//     required_span           required_span_size
//     is_injective            is_unique; mdspan assumes it of a layout_stride
//     (no gaps)               is_exhaustive
//     View                    mdspan with the default accessor; an accessor may decode 16-bit
//                             floats on access; here the loop converts
#include <cuda/std/array>
#include <cuda/std/mdspan>

#include <cstdint>
#include <utility>

#include "common/tensor/layout.hpp"
#include "common/tensor/packings.hpp"
#include "common/testing/testing.hpp"
#include "day02_strides/static_row_major.hpp"

using namespace sixdays;
namespace md = cuda::std;

namespace {

template <int RANK>
using Extents = md::dextents<std::int64_t, RANK>;

template <int RANK>
md::array<std::int64_t, RANK> array_of(const Dims& dims) {
    md::array<std::int64_t, RANK> numbers{};
    for (int d = 0; d < RANK; ++d) numbers[static_cast<std::size_t>(d)] = dims[d];
    return numbers;
}

template <class Mapping, std::size_t... D>
std::int64_t place(const Mapping& mapping, const Index& index, std::index_sequence<D...>) {
    return mapping(index[static_cast<int>(D)]...);
}

// Do both have the same offset at every index, and the same strides, span and properties?
template <int RANK, class Mapping>
bool agree(const Layout& ours, const Mapping& theirs) {
    bool ok = theirs.required_span_size() == required_span(ours);
    for (int d = 0; d < RANK; ++d) {
        // Without elements mdspan multiplies by 0 and row_major() by 1; such strides are never
        // used.
        const bool used = ours.extent(d) > 1 && ours.size() > 0;
        ok &= !used || theirs.stride(static_cast<std::size_t>(d)) == ours.stride(d);
    }
    for (const Index& index : packings::indices_of(ours.shape)) {
        ok &= place(theirs, index, std::make_index_sequence<RANK>()) == offset(ours, index);
    }
    const bool no_gaps = required_span(ours) == ours.size();
    return ok && theirs.is_unique() == is_injective(ours) && theirs.is_exhaustive() == no_gaps;
}

template <int RANK>
void compare() {
    int shapes = 0;
    packings::for_each_dims(RANK, 0, 4, [&](const Shape& shape) {
        CAPTURE(to_string(shape));
        const Extents<RANK> extents(array_of<RANK>(shape));
        using Right = md::layout_right::mapping<Extents<RANK>>;
        using Left = md::layout_left::mapping<Extents<RANK>>;
        using Stride = md::layout_stride::mapping<Extents<RANK>>;
        CHECK(agree<RANK>(row_major(shape), Right(extents)));
        CHECK(agree<RANK>(column_major(shape), Left(extents)));
        ++shapes;
        if (size(shape) == 0) return;  // mdspan needs strides above 0
        for (const std::int64_t pad : {0, 1}) {
            packings::for_each_packing(RANK, pad, [&](const packings::Packing& packing) {
                for (const bool backwards : packing.backwards) {
                    if (backwards) return;  // mdspan has no negative strides
                }
                const Layout layout(shape, packings::strides_of(packing, shape));
                CHECK(agree<RANK>(layout, Stride(extents, array_of<RANK>(layout.strides))));
            });
        }
    });
    CHECK(shapes > 0);
}

TEST_CASE("mdspan's layouts equal ours for all extents up to 4", "[day02][mdspan][small]") {
    compare<1>();
    compare<2>();
    compare<3>();
}

TEST_CASE("a rank-0 mdspan has one element", "[day02][mdspan][small]") {
    const md::layout_right::mapping<md::extents<std::int64_t>> scalar;
    CHECK(scalar() == offset(Layout(), Index{}));
    CHECK(scalar.required_span_size() == required_span(Layout()));
}

TEST_CASE("mdspan compares all strides, equivalent() only those in use", "[day02][mdspan][small]") {
    using Stride = md::layout_stride::mapping<Extents<2>>;
    const Extents<2> row(1, 3);
    const Stride a(row, array_of<2>({3, 1})), b(row, array_of<2>({7, 1}));
    CHECK_FALSE(a == b);
    CHECK(equivalent(Layout({1, 3}, {3, 1}), Layout({1, 3}, {7, 1})));
}

TEST_CASE("extents of an mdspan can be compile-time constants", "[day02][mdspan][small]") {
    constexpr md::layout_right::mapping<md::extents<std::int64_t, 2, 3, 4>> theirs;
    using Ours = day02_strides::StaticRowMajor<2, 3, 4>;
    static_assert(theirs(1, 2, 3) == Ours::offset(1, 2, 3));
    static_assert(theirs.stride(0) == Ours::stride(0) && theirs.stride(2) == Ours::stride(2));
    static_assert(sizeof(theirs) == sizeof(Ours), "neither holds a number");
    // One static extent and one dynamic: the static 3 is not stored.
    const md::extents<std::int64_t, md::dynamic_extent, 3> half(5);
    CHECK(half.extent(0) == 5);
    CHECK(half.static_extent(1) == 3);
}

TEST_CASE("an mdspan and a View read the same elements", "[day02][mdspan][small]") {
    const Tensor<float> memory({6}, {1, 2, 3, 4, 5, 6});
    const Layout layout = column_major({2, 3});
    const View<const float> view(memory.data(), layout);
    const md::mdspan<const float, Extents<2>, md::layout_left> span(memory.data(), 2, 3);
    for (std::int64_t m = 0; m < 2; ++m) {
        for (std::int64_t k = 0; k < 3; ++k) {
            const float theirs = span(m, k);
            CHECK(theirs == view(m, k));
        }
    }
}

}  // namespace
