// The reference's statements about types are asserted, those about values are computed. An example
// that must not compile is a concept that must be false.
#include "common/gpu/tests/tiles/examples.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
// nvcc 13.5's header sets unused parameters for extents of rank 0.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-but-set-parameter"
#include <cuda_tile.h>
#pragma GCC diagnostic pop

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/gpu/launch.hpp"

namespace sixdays::gpu::tests {

// Another library's extents.
struct Square {
    using rank_type = std::size_t;
    using index_type = int;
    static constexpr rank_type rank() { return 2; }
    static constexpr rank_type rank_dynamic() { return 0; }
    static constexpr std::size_t static_extent(rank_type) { return 4; }
    constexpr index_type extent(rank_type) const { return 4; }
};

namespace {

namespace ct = cuda::tiles;
using namespace ct::literals;
using std::uint32_t, std::uint64_t;

template <class A, class B>
inline constexpr bool same = std::is_same_v<A, B>;
constexpr std::size_t kAny = ct::dynamic_extent;

// --- Scalars -------------------------------------------------------------------------------------
static_assert(ct::integral_scalar<char> && ct::integral_scalar<unsigned> &&
              ct::integral_scalar<long long> && ct::integral_scalar<char32_t> &&
              ct::integral_scalar<wchar_t> && ct::integral_scalar<bool>);
static_assert(!ct::scalar<std::byte>);  // an enumeration
#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 TooWide;
static_assert(!ct::scalar<TooWide>);
#endif
static_assert(ct::basic_floating_point_scalar<double> && ct::basic_floating_point_scalar<float> &&
              ct::basic_floating_point_scalar<__half> &&
              ct::basic_floating_point_scalar<__nv_bfloat16>);
static_assert(!ct::basic_floating_point_scalar<__nv_tf32> && ct::scalar<__nv_tf32>);
struct Foo;
static_assert(ct::pointer_scalar<int* const> && ct::pointer_scalar<const double*> &&
              ct::pointer_scalar<void*> && ct::pointer_scalar<const volatile __half*>);
static_assert(!ct::scalar<int**> && !ct::scalar<int Foo::*> && !ct::scalar<void (*)(int, double)> &&
              !ct::scalar<const Foo*>);

// --- Extents -------------------------------------------------------------------------------------
// Dynamic extents are computed in a kernel: nvcc does not treat them as constants.
static_assert(ct::extents<uint32_t, 4, 8>::rank_dynamic() == 0 &&
              ct::extents<uint32_t, kAny, 8>::rank_dynamic() == 1 &&
              ct::extents<uint32_t, kAny, kAny>::rank_dynamic() == 2);
static_assert(same<ct::extents<std::int16_t, 3, kAny>::index_type, std::int16_t> &&
              same<ct::extents<uint64_t, kAny, kAny>::index_type, uint64_t>);

static_assert(ct::extents<uint32_t, 3, 4, 5>::rank() == 3 && ct::extents<uint32_t>::rank() == 0);
using Middle = ct::extents<uint32_t, 4, kAny, 7>;  // dimension 1 is dynamic
static_assert(Middle::static_extent(0) == 4 && Middle::static_extent(1) == kAny &&
              Middle::static_extent(2) == 7 && Middle::rank_dynamic() == 1);
static_assert(ct::extents<uint64_t, 4, 1>::static_extent(1) == 1);  // a singleton dimension
static_assert(same<ct::shape<4, 5>, ct::extents<uint32_t, 4, 5>>);
static_assert(ct::same_shape<ct::extents<uint32_t, 4, 8>, ct::extents<uint64_t, 4, 8>>);
static_assert(ct::shape_like<ct::shape<4, 5>> && !ct::shape_like<Middle>);

// Another library's extents work too.
static_assert(ct::extents_like<Square> && ct::same_shape<Square, ct::shape<4, 4>>);

// --- Tiles ---------------------------------------------------------------------------------------
template <class E, std::size_t... N>
using tile = ct::tile<E, ct::shape<N...>>;

static_assert(ct::tile_like<double> && ct::tile_like<const int> && ct::tile_like<tile<double>> &&
              ct::tile_like<tile<float, 4, 8>> && ct::tile_like<const volatile tile<float, 1, 1>>);
static_assert(same<ct::tile_element_t<tile<double, 4>>, double> &&
              same<ct::tile_element_t<int>, int>);
static_assert(!ct::tile_shape<ct::shape<4, 7>> && !ct::tile_shape<ct::shape<0>> &&
              !ct::tile_shape<ct::extents<std::int16_t, 4, 8>> && ct::tile_shape<ct::shape<>>);
static_assert(same<ct::tile_shape_t<tile<int, 4, 8>>, ct::shape<4, 8>> &&
              same<ct::tile_shape_t<int>, ct::shape<>>);
static_assert(ct::integral_tile<int> && ct::integral_tile<tile<int, 4>>);
static_assert(ct::pointer_tile<double*> && ct::pointer_tile<tile<double*, 8>>);
static_assert(!ct::scalar<tile<double>> &&
              !ct::scalar<tile<double, 1, 1>>);  // singletons, but tiles

// --- Element type conversions --------------------------------------------------------------------
static_assert(ct::scalar_convertible_to<double, __half> &&
              !ct::non_narrowing_scalar_convertible_to<double, __half>);
static_assert(ct::scalar_convertible_to<__nv_bfloat16, __half> &&
              !ct::non_narrowing_scalar_convertible_to<__nv_bfloat16, __half> &&
              !ct::non_narrowing_scalar_convertible_to<__half, __nv_bfloat16>);
static_assert(ct::non_narrowing_scalar_convertible_to<__half, float> &&
              ct::non_narrowing_scalar_convertible_to<float, double> &&
              !ct::non_narrowing_scalar_convertible_to<int, float>);
static_assert(ct::tile_convertible_to<int, tile<int>> &&
              !ct::tile_convertible_to<int, tile<int, 1>>);

// --- Shape conversions ---------------------------------------------------------------------------
static_assert(ct::shape_broadcastable_to<ct::shape<4, 1>, ct::shape<4, 8>> &&
              ct::shape_broadcastable_to<ct::shape<2>, ct::shape<4, 2>> &&
              ct::shape_broadcastable_to<ct::shape<5, 2>, ct::shape<5, 2>>);
static_assert(!ct::shape_broadcastable_to<ct::shape<4, 8>, ct::shape<4, 1>> &&
              !ct::shape_broadcastable_to<ct::shape<4, 2>, ct::shape<2>>);
static_assert(ct::broadcastable_to<double, ct::shape<4, 8>> &&
              ct::broadcastable_to<tile<float, 2>, ct::shape<8, 2>> &&
              ct::broadcastable_to<tile<float, 2, 1, 8>, ct::shape<2, 16, 8>>);
static_assert(ct::shape_broadcast_compatible<ct::shape<5, 1>, ct::shape<1, 3>> &&
              ct::shape_broadcast_compatible<ct::shape<2, 4, 1>, ct::shape<4, 3>> &&
              ct::shape_broadcast_compatible<ct::shape<>, ct::shape<3, 4, 5>>);
static_assert(!ct::shape_broadcast_compatible<ct::shape<4, 2>, ct::shape<5, 2>>);
template <class A, class B>
using both = ct::shape_broadcast_t<A, B>;
static_assert(same<both<ct::shape<4, 1>, ct::shape<4, 8>>, ct::shape<4, 8>>);
static_assert(same<both<ct::shape<1, 5>, ct::shape<3, 1>>, ct::shape<3, 5>>);
static_assert(same<both<ct::shape<4, 2, 1>, ct::shape<2, 6>>, ct::shape<4, 2, 6>>);
static_assert(same<both<ct::shape<4>, ct::shape<1, 2, 1>>, ct::shape<1, 2, 4>>);

template <class A, class... B>
inline constexpr bool all_meet = (ct::broadcast_compatible<A, B> && ...);
template <class... T>
inline constexpr bool pairwise = (all_meet<T, T...> && ...);
static_assert(pairwise<tile<int, 2, 1, 8>, tile<int, 1, 4, 1>, tile<float, 4, 8>, double>);

// --- Arithmetic conversions ----------------------------------------------------------------------
template <class A, class B, class RESULT>
concept adds_to =
    ct::arithmetic_tile_convertible<A, B> && same<ct::arithmetic_tile_conversion_t<A, B>, RESULT>;
template <class A, class B, class RESULT>
concept compares_as =
    ct::arithmetic_tile_comparable<A, B> && same<ct::arithmetic_tile_comparison_t<A, B>, RESULT>;
template <class A, class B>
inline constexpr bool add = ct::arithmetic_tile_convertible<A, B>;
template <class A, class B>
inline constexpr bool compare = ct::arithmetic_tile_comparable<A, B>;

// The common type of two scalars.
static_assert(adds_to<int, double, double> && adds_to<__half, float, float>);
static_assert(!add<__half, __nv_bfloat16>);
static_assert(adds_to<short, short, short>);  // no promotion
static_assert(adds_to<char16_t, unsigned short, unsigned short> &&
              adds_to<unsigned short, char16_t, unsigned short>);
// Not in the reference's table: signedness, ranks and character types.
static_assert(adds_to<int, unsigned char, int> && adds_to<bool, signed char, signed char> &&
              adds_to<long, long long, long long> && adds_to<wchar_t, int, int>);
static_assert(!add<signed char, unsigned short> && !add<int, unsigned> &&
              !add<long, unsigned long long> && !compare<int, unsigned>);

// "2.0 * x" and "2.0 == x" of the second example.
template <class A, class B>
concept multiplied = requires(A a, B b) {
    a* b;
};
template <class A, class B>
concept equated = requires(A a, B b) {
    a == b;
};
static_assert(!multiplied<double, tile<int, 8>> && equated<double, tile<int, 8>>);
static_assert(multiplied<int, tile<int, 8>>);

// Examples A to D: what is added, and what is compared.
using Four = tile<int, 4, 1>;
using Eight = tile<float, 1, 8>;
using Ints = tile<int, 4, 8>;
using Floats = tile<float, 4, 8>;
using Halves = tile<__half, 4, 8>;
static_assert(adds_to<Four, Eight, Floats> && compares_as<Four, Eight, Floats>);  // A
static_assert(!add<float, Ints> && compares_as<float, Ints, Floats>);             // B
static_assert(!add<__nv_bfloat16, Halves> && !compare<__nv_bfloat16, Halves>);    // C
static_assert(!add<unsigned, Ints> && !compare<unsigned, Ints>);                  // D
static_assert(!add<Ints, float> && compares_as<Ints, float, Floats>);             // B, swapped
static_assert(!add<Halves, __nv_bfloat16> && !compare<Halves, __nv_bfloat16>);    // C
static_assert(!add<Ints, unsigned> && !compare<Ints, unsigned>);                  // D
// The operators follow the same rules.
static_assert(multiplied<Four, Eight> && !multiplied<float, Ints> && equated<float, Ints>);
static_assert(!multiplied<__nv_bfloat16, Halves> && !equated<__nv_bfloat16, Halves>);
static_assert(!multiplied<unsigned, Ints> && !equated<unsigned, Ints>);

// --- kernels -------------------------------------------------------------------------------------
template <std::size_t... N, class T, class X>
__tile__ void put(T* out, const X& x) {
    const ct::extents<int, (N * ...)> all{};
    const ct::partition_view view{ct::tensor_span{out, all}, ct::shape<(N * ...)>{}};
    view.store(ct::reshape<ct::shape<(N * ...)>>(x), 0);
}

__tile_global__ void add_numbers(const int* a, const int* b, int* c) {
    const auto i = ct::bid().x;
    c[i] = ct::add(a[i], b[i]);
}

__tile_global__ void lengths(int* out) {
    const ct::extents<uint32_t, 4, 8> a{};
    const ct::extents<uint32_t, kAny, 8> b{4};
    const ct::extents<uint32_t, kAny, kAny> c{4, 8};
    out[0] = static_cast<int>(10 * a.extent(0) + a.extent(1));
    out[1] = static_cast<int>(10 * b.extent(0) + b.extent(1));
    out[2] = static_cast<int>(10 * c.extent(0) + c.extent(1));
    const ct::extents<std::int16_t, 3, kAny> small{2};
    const ct::extents<uint64_t, kAny, kAny> large{4, 5};
    out[3] = 10 * small.extent(0) + small.extent(1);
    out[4] = static_cast<int>(10 * large.extent(0) + large.extent(1));
}

// out: 1 where two extents, or two mappings, are equivalent
__tile_global__ void equivalences(int* out) {
    const ct::extents<uint32_t, 3, 4, 7> shape{};
    out[0] = ct::extents_equal(shape, ct::extents<uint32_t, 3, kAny, 7>{4});
    out[1] = ct::extents_equal(shape, ct::extents<uint32_t, kAny, 4, kAny>{3, 7});
    const ct::extents<uint32_t, kAny, 8> mixed{4};
    out[2] = ct::extents_equal(ct::extents<std::int16_t, 4, 8>{}, mixed);
    out[3] = ct::extents_equal(shape, mixed);
    out[4] = ct::extents_equal(mixed, ct::shape<8, 4>{});
    const ct::layout_strided_mapping rows{mixed, ct::strides<uint32_t, kAny, 1>{8}};
    out[5] = ct::layout_mapping_equal(rows, ct::layout_right_mapping{ct::shape<4, 8>{}});
    out[6] = ct::layout_mapping_equal(rows, ct::layout_left_mapping{ct::shape<4, 8>{}});
}

__tile_global__ void index_space(int* out) {
    const ct::extents<int, 2, kAny> all{3};
    int n = 0;
    for (const int i : ct::irange(0, all.extent(0))) {
        for (const int j : ct::irange(0, all.extent(1))) {
            out[n] = i;
            out[n + 1] = j;
            n += 2;
        }
    }
}

__tile_global__ void arrangement(int* out) {
    put<4, 2>(out, ct::iota<tile<int, 4, 2>>());
}

__tile_global__ void conversion(const float* in, float* out) {
    const ct::partition_view from{ct::tensor_span{in, ct::extents{4_ic}}, ct::shape<4>{}};
    const auto x = ct::element_cast<__nv_bfloat16>(from.load(0));
    put<4>(out, ct::element_cast<float>(ct::element_cast<__half>(x)));
}

__tile_global__ void broadcasts(int* first, int* second, int* mutual) {
    const auto column = 1 + ct::iota<tile<int, 4, 1>>();
    put<4, 8>(first, ct::broadcast<ct::shape<4, 8>>(column));
    put<4, 2>(second, ct::broadcast<ct::shape<4, 2>>(1 + ct::iota<tile<int, 2>>()));
    const auto a = 1 + ct::iota<tile<int, 1, 4>>();
    const auto b = 5 + ct::iota<tile<int, 2, 1>>();
    using Both = ct::shape_broadcast_t<ct::shape<1, 4>, ct::shape<2, 1>>;
    put<2, 4>(mutual, ct::broadcast<Both>(a));
    put<2, 4>(mutual + 8, ct::broadcast<Both>(b));
}

__tile_global__ void arithmetic(double* out, int* equal) {
    float x_data[1][2] = {{2, 6}};
    double y_data[2][1] = {{4}, {1}};
    const tile<float, 1, 2> x = ct::load(&x_data[0][0] + ct::iota<tile<int, 1, 2>>());
    const tile<double, 2, 1> y = ct::load(&y_data[0][0] + ct::iota<tile<int, 2, 1>>());
    const tile<double, 2, 2> result = x - y;
    put<2, 2>(out, result);
    const auto some = ct::full<tile<int, 8>>(42);
    put<8>(equal, ct::element_cast<int>(42.0 == some) + 2 * ct::element_cast<int>(42.5 == some));
}

__tile_global__ void span_of(const float* data, float* out) {
    const auto span = ct::tensor_span{data, ct::extents{2_ic, 4_ic}};
    const ct::partition_view from{span, ct::shape<2, 4>{}};
    put<2, 4>(out, from.load(0, 0));
}

__tile_global__ void strides(const float* data, int n, int m, float* real, float* imaginary) {
    const auto shape = ct::extents{n, m};
    const auto strides = ct::strides{2 * m, 2_ic};
    const auto mapping = ct::layout_strided_mapping{shape, strides};
    const ct::tensor_span real_span{data, mapping}, imaginary_span{data + 1, mapping};
    const ct::partition_view re{real_span, ct::shape<2, 4>{}},
        im{imaginary_span, ct::shape<2, 4>{}};
    put<2, 4>(real, re.load(0, 0));
    put<2, 4>(imaginary, im.load(0, 0));
}

__tile_global__ void modifiers(float* out) {
    const float eps = 0x0.000002p0f;
    out[0] = ct::add(8.0f, 5 * eps, ct::round_toward_negative_t{});
    out[1] = ct::add(8.0f, 5 * eps);
    out[2] = ct::sub(0x1.1p-126f, 0x1.0p-126f, ct::round_ties_to_even_t{},
                     ct::round_subnormals_to_zero_t{});
    out[3] = ct::sub(0x1.1p-126f, 0x1.0p-126f);
}

__tile_global__ void memory(int* out) {
    int x = 0;
    const auto same_word = ct::full<tile<int*, 4>>(&x);
    ct::atomic_store(same_word, ct::iota<tile<int, 4>>(), ct::memory_order_relaxed_t{},
                     ct::thread_scope_block_t{});
    out[0] = x;
}

}  // namespace

void example_add(View<const int> a, View<const int> b, View<int> c) {
    const unsigned grid = blocks_for(c.size(), 1);
    add_numbers<<<grid, 1>>>(a.data, b.data, c.data);
    check_launch("add_numbers", grid, 1);
}
void example_lengths(View<int> out) {
    lengths<<<1, 1>>>(out.data);
    check_launch("lengths", 1, 1);
}
void example_equivalences(View<int> out) {
    equivalences<<<1, 1>>>(out.data);
    check_launch("equivalences", 1, 1);
}
void example_index_space(View<int> out) {
    index_space<<<1, 1>>>(out.data);
    check_launch("index_space", 1, 1);
}
void example_arrangement(View<int> out) {
    arrangement<<<1, 1>>>(out.data);
    check_launch("arrangement", 1, 1);
}
void example_conversion(View<const float> in, View<float> out) {
    conversion<<<1, 1>>>(in.data, out.data);
    check_launch("conversion", 1, 1);
}
void example_broadcasts(View<int> first, View<int> second, View<int> mutual) {
    broadcasts<<<1, 1>>>(first.data, second.data, mutual.data);
    check_launch("broadcasts", 1, 1);
}
void example_arithmetic(View<double> out, View<int> equal) {
    arithmetic<<<1, 1>>>(out.data, equal.data);
    check_launch("arithmetic", 1, 1);
}
void example_span(View<const float> data, View<float> out) {
    span_of<<<1, 1>>>(data.data, out.data);
    check_launch("span_of", 1, 1);
}
void example_strides(View<const float> data, View<float> real, View<float> imaginary) {
    strides<<<1, 1>>>(data.data, static_cast<int>(real.extent(0)), static_cast<int>(real.extent(1)),
                      real.data, imaginary.data);
    check_launch("strides", 1, 1);
}
void example_modifiers(View<float> out) {
    modifiers<<<1, 1>>>(out.data);
    check_launch("modifiers", 1, 1);
}
void example_memory(View<int> out) {
    memory<<<1, 1>>>(out.data);
    check_launch("memory", 1, 1);
}

}  // namespace sixdays::gpu::tests
