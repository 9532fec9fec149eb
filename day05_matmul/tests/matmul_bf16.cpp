// Products of 16-bit numbers: loop and ports against a sum in double, by every path, in every
// layout.
#include "day05_matmul/matmul_bf16.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>

#include "common/testing/far_end.hpp"
#include "day05_matmul/steps/matmul_bf16/operands.hpp"
#include "day05_matmul/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

using B = MatmulBf16Path;
// Does this device run Hopper's steps?
const bool kHopper = gpu::is_emulated() || (gpu::why_unavailable().empty() && gpu::on_hopper());
const std::vector<B> kInQuads = [] {
    std::vector<B> paths = {B::ring, B::fragments_ahead};
    if (kHopper) paths.insert(paths.end(), {B::warpgroups, B::persistent});
    return paths;
}();
const std::vector<B> kAll = [] {
    std::vector<B> paths = {B::one_element, B::one_warp, B::shared_tiles};
    paths.insert(paths.end(), kInQuads.begin(), kInQuads.end());
    if (gpu::has_tile()) paths.push_back(B::tile);
    return paths;
}();
bool in_quads(B path) {
    return std::find(kInQuads.begin(), kInQuads.end(), path) != kInQuads.end();
}

// How a matrix of 16-bit numbers lies, in quads of eight.
Layout lies_in(const Shape& shape, Lies lies) {
    const int m = shape.rank - 2, n = shape.rank - 1;
    Shape room = shape;
    if (lies == Lies::column_gaps) std::swap(room[m], room[n]);
    if (lies == Lies::gaps || lies == Lies::column_gaps) {
        const Shape across = room;
        room[n] = (room[n] + 7) / 8 * 8 + 8;
        const Layout layout(across, row_major(room).strides);
        return lies == Lies::gaps ? layout : transpose(layout, m, n);
    }
    return layout_of(shape, lies);
}

struct Case {
    Lies a = Lies::gaps, b = Lies::gaps, out = Lies::row_major;
    Epilogue then = {};
    bool bias = false;
    std::int64_t lead = 0;  // elements between a multiple of 16 bytes and each operand
    std::int64_t lead_out = 0;
};

struct Exact {
    Tensor<double> values, bound;
};

// A product of two 16-bit numbers has at most 22 significant bits, so it is exact in a float, and
// only adding rounds. An addition of floats is off by half a last place, 2^-24 of its result. A
// tensor core adds 8 products and the sum so far at once: it shifts the nine to the exponent of the
// largest and cuts off what falls behind 24 bits, 2^-23 of the largest each, whatever their order
// (Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer
// Science 7, 2021). So for each of K / 8 steps nine times 2^-23 of all that is added, and four
// roundings for the epilogue.
template <class T>
Exact exact_product(const Tensor<T>& a, const Tensor<T>& b, const Epilogue& then,
                    const Tensor<float>& before, const Tensor<float>& bias) {
    const std::int64_t M = a.shape()[0], K = a.shape()[1], N = b.shape()[1];
    Exact exact{Tensor<double>(before.shape()), Tensor<double>(before.shape())};
    const double steps = static_cast<double>((K + 7) / 8);
    for (std::int64_t i = 0; i < M * N; ++i) {
        const std::int64_t m = i / N, n = i % N;
        double sum = 0, size = 0;
        for (std::int64_t k = 0; k < K; ++k) {
            const double product = static_cast<double>(static_cast<float>(a.data()[m * K + k])) *
                                   static_cast<double>(static_cast<float>(b.data()[k * N + n]));
            sum += product;
            size += std::abs(product);
        }
        sum *= then.alpha, size *= std::abs(then.alpha);
        if (then.beta != 0) {
            const double old = static_cast<double>(then.beta) * before.data()[i];
            sum += old, size += std::abs(old);
        }
        if (then.bias.data != nullptr) sum += bias.data()[n], size += std::abs(bias.data()[n]);
        exact.values.data()[i] = then.relu && sum < 0 ? 0 : sum;
        exact.bound.data()[i] = (9 * steps + 4) * std::ldexp(size, -23);
        through_swish(then, exact.values.data()[i], exact.bound.data()[i]);
    }
    return exact;
}

template <class T>
void check_product(B path, const Size& s, const Case& c, std::optional<Exact>* kept = nullptr) {
    CAPTURE(name(path), s.M, s.N, s.K, int(c.a), int(c.b), int(c.out), c.then.alpha, c.then.beta,
            c.bias, c.lead, c.lead_out, sizeof(T));
    const Tensor<T> a = seeded<T>({s.M, s.K}, 1, -1, 1), b = seeded<T>({s.K, s.N}, 2, -1, 1);
    Tensor<float> before = seeded<float>({s.M, s.N}, 3, -1, 1);
    if (c.then.beta == 0) std::fill_n(before.data(), before.size(), std::nanf(""));
    const Tensor<float> bias = seeded<float>({s.N}, 4, -1, 1);
    DeviceIn<T> da(a, lies_in(a.shape(), c.a), {c.lead}), db(b, lies_in(b.shape(), c.b), {c.lead});
    DeviceIn<float> dbias(bias);
    auto got = DeviceOut<float>::holding(before, layout_of(before.shape(), c.out), {c.lead_out});
    Epilogue then = c.then;
    if (c.bias) then.bias = dbias.view();
    if (path == B::tile &&
        (c.a == Lies::flipped || c.b == Lies::flipped || c.out == Lies::flipped)) {
        const auto refused = [&] {
            check_matmul_bf16<T>(da.view(), db.view(), then, got.view(), path);
        };
        CHECK(contains(refusal(refused),
                       "matmul_bf16: the path 'tile' needs rows and columns with no negative "
                       "stride, for CUDA Tile C++ takes strides for sizes; a has"));
        return;
    }
    std::optional<Exact> own;
    std::optional<Exact>& exact = kept != nullptr ? *kept : own;
    if (!exact) exact = exact_product(a, b, then, before, bias);
    matmul_bf16_cuda<T>(da.view(), db.view(), then, got.view(), {.path = path});
    CHECK(got.close_to(exact->values, [&](const Index& i) { return exact->bound.view()(i); }));
    if (path == B::tile) CHECK(last_kernel() == "matmul_tile");
    CHECK(da.unchanged());
    CHECK(db.unchanged());
    CHECK(dbias.unchanged());
}

// Any other GPU refuses Hopper's steps, and there is no more to ask of them.
void check_refused_before_hopper() {
    DeviceIn<bf16> a(Tensor<bf16>({64, 64})), b(Tensor<bf16>({64, 64}));
    DeviceOut<float> out({64, 64});
    for (const B path : {B::warpgroups, B::persistent}) {
        const auto refused = [&] {
            check_matmul_bf16<bf16>(a.view(), b.view(), {}, out.view(), path);
        };
        CHECK(contains(refusal(refused), "needs a GPU of compute capability 9.0"));
    }
}

// What the emulator grants a block, and Hopper; and the emulator's ring of 128 x 192, three stages.
constexpr std::size_t kEmulated = 163 * 1024, kOnHopper = 227 * 1024, kEmulatedRing = 120 * 1024;

// Which tiles do steps 6 and 7 take here?
RingCut cut_here(const Size& s) {
    const int multiprocessors = gpu::multiprocessors();
    return gpu::is_emulated() ? cut_for_hopper(s.M, s.N, multiprocessors, kEmulated, kEmulatedRing)
                              : cut_for_hopper(s.M, s.N, multiprocessors, kOnHopper);
}

// --- the loop ------------------------------------------------------------------------------------

TEST_CASE("matmul_bf16: the loop, by hand", "[day05][matmul_bf16][small]") {
    const Tensor<float> numbers({2, 3}, {1, 2, 3, 4, 5, 6}), others({3, 2}, {7, 8, 9, 10, 11, 12});
    Tensor<bf16> a({2, 3}), b({3, 2});
    for (int i = 0; i < 6; ++i) {
        a.data()[i] = bf16(numbers.data()[i]), b.data()[i] = bf16(others.data()[i]);
    }
    Tensor<float> out({2, 2});
    const Tensor<float> bias({2}, {100, -1000});
    matmul_bf16_cpu<bf16>(a.view(), b.view(), {}, out.view());
    CHECK((out(0, 0) == 58 && out(0, 1) == 64 && out(1, 0) == 139 && out(1, 1) == 154));
    matmul_bf16_cpu<bf16>(a.view(), b.view(), {.bias = bias.view(), .relu = true}, out.view());
    CHECK((out(0, 0) == 158 && out(0, 1) == 0 && out(1, 0) == 239 && out(1, 1) == 0));
}

TEST_CASE("matmul_bf16: sums are float, and sums in bf16 are refused by the bound",
          "[day05][matmul_bf16][small]") {
    // 1 + 256 * 2^-9: in bf16, where 1 + 2^-9 is 1, nothing would ever be added.
    const std::int64_t K = 257;
    Tensor<bf16> a({1, K}), b({K, 1});
    for (std::int64_t k = 0; k < K; ++k) {
        a(0, k) = bf16(k == 0 ? 1.0f : std::ldexp(1.0f, -9)), b(k, 0) = bf16(1);
    }
    Tensor<float> out({1, 1});
    matmul_bf16_cpu<bf16>(a.view(), b.view(), {}, out.view());
    CHECK(out(0, 0) == 1.5f);
    bf16 worse(0);
    for (std::int64_t k = 0; k < K; ++k) {
        worse = bf16(static_cast<float>(worse) + static_cast<float>(a(0, k)));
    }
    const Exact exact = exact_product(a, b, {}, out, Tensor<float>({1}));
    CHECK(std::abs(static_cast<float>(worse) - exact.values(0, 0)) > 100 * exact.bound(0, 0));
    DeviceIn<bf16> da(a), db(b);
    for (const B path : kAll) {
        if (in_quads(path)) continue;  // a column of b is no quad wide
        CAPTURE(name(path));
        DeviceOut<float> got({1, 1});
        matmul_bf16_cuda<bf16>(da.view(), db.view(), {}, got.view(), {.path = path});
        CHECK(got.close_to(exact.values, [&](const Index& i) { return exact.bound.view()(i); }));
    }
}

// --- ports ---------------------------------------------------------------------------------------

TEST_CASE("matmul_bf16: every path, every epilogue", "[day05][matmul_bf16][small]") {
    const std::vector<Case> cases = {
        {},
        {.then = {.alpha = -2}},
        {.then = {.beta = 3}},
        {.bias = true},
        {.then = {.relu = true}},
        {.then = {.swish = true}},
        {.then = {.alpha = 0.75f, .beta = -1.5f, .swish = true}, .bias = true},
        {.then = {.alpha = 0.75f, .beta = -1.5f, .relu = true}, .bias = true},
    };
    for (const B path : kAll) {
        for (const Case& c : cases) check_product<bf16>(path, {35, 21, 40}, c);
        check_product<f16>(path, {35, 21, 40}, cases.back());
    }
}

// Numbers are whole, so all others are exact.
template <class T>
void check_nan(const Size& s, Epilogue then, bool with_bias) {
    Tensor<T> a = seeded_integers<T>({s.M, s.K}, 1, -9, 9),
              b = seeded_integers<T>({s.K, s.N}, 2, -9, 9);
    Tensor<float> before = whole({s.M, s.N}, 3), bias = whole({s.N}, 4);
    const float nan = std::nanf("");
    a(3, 5) = T(nan), b(7, 2) = T(nan), bias(4) = nan, before(1, 1) = nan;
    if (with_bias) then.bias = bias.view();
    auto want = HostOut<float>::holding(before);
    matmul_bf16_cpu<T>(a.view(), b.view(), then, want.view());
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < s.M * s.N; ++i) {
        const std::int64_t m = i / s.N, n = i % s.N;
        const bool is_nan =
            m == 3 || n == 2 || (with_bias && n == 4) || (then.beta != 0 && m == 1 && n == 1);
        if (std::isnan(want.view()(m, n)) != is_nan) ++wrong;
    }
    CHECK(wrong == 0);
    const DeviceIn<T> da(a), db(b);
    const DeviceIn<float> dbias(bias);
    if (with_bias) then.bias = dbias.view();
    for (const B path : kAll) {
        CAPTURE(name(path), s.M, s.N, then.alpha, then.beta, then.relu, with_bias, sizeof(T));
        auto got = DeviceOut<float>::holding(before);
        matmul_bf16_cuda<T>(da.view(), db.view(), then, got.view(), {.path = path});
        CHECK(got.close_to(want.values(), 0, Nans::where_expected));
    }
}

TEST_CASE("matmul_bf16: a NaN stays a NaN, through ReLU too", "[day05][matmul_bf16][small]") {
    for (const Size& s : {Size{40, 24, 40}, Size{128, 128, 16}}) {  // edges; tiles that lie inside
        for (const bool with_bias : {false, true}) {
            check_nan<bf16>(s, {}, with_bias);
            check_nan<bf16>(s, {.relu = true}, with_bias);
            check_nan<f16>(s, {.alpha = -2, .relu = true}, with_bias);
            check_nan<bf16>(s, {.beta = 3, .relu = true}, with_bias);
        }
    }
}

TEST_CASE("matmul_bf16: every path, every layout", "[day05][matmul_bf16][small]") {
    for (const Lies a : kAllLies) {
        for (const Lies b : kAllLies) {
            for (const B path : {B::one_element, B::one_warp}) {
                check_product<bf16>(path, {19, 11, 21}, {.a = a, .b = b});
            }
        }
        check_product<bf16>(B::shared_tiles, {19, 11, 21}, {.a = a, .b = Lies::flipped});
        check_product<bf16>(B::shared_tiles, {19, 11, 21}, {.a = Lies::flipped, .b = a});
        check_product<f16>(B::shared_tiles, {19, 11, 21}, {.a = a, .b = a, .lead = 1});
        check_product<f16>(B::one_warp, {19, 11, 21}, {.out = a});
        for (const B path : kInQuads) check_product<bf16>(path, {19, 11, 21}, {.out = a});
        if (!gpu::has_tile()) continue;
        check_product<bf16>(B::tile, {19, 11, 21}, {.a = a, .b = Lies::gaps, .out = a});
        check_product<f16>(B::tile, {19, 11, 21}, {.a = Lies::column_gaps, .b = a, .lead = 1});
    }
    // Whole quads in each of the four orders, so that every promise is made, and each broken alone.
    if (gpu::has_tile()) {
        for (const Lies a : {Lies::gaps, Lies::column_gaps}) {
            for (const Lies b : {Lies::gaps, Lies::column_gaps}) {
                check_product<bf16>(B::tile, {136, 144, 72}, {.a = a, .b = b});
            }
        }
        for (const Size& s : std::vector<Size>{{137, 144, 72}, {136, 145, 72}, {136, 144, 73}}) {
            check_product<bf16>(B::tile, s, {});
        }
        check_product<bf16>(B::tile, {136, 144, 72}, {.lead = 1});
        check_product<bf16>(B::tile, {136, 144, 72}, {.lead_out = 1});
        for (const Lies lies : {Lies::odd_gaps, Lies::every_other}) {
            check_product<bf16>(B::tile, {136, 144, 72}, {.a = lies});
            check_product<bf16>(B::tile, {136, 144, 72}, {.b = lies});
            check_product<bf16>(B::tile, {136, 144, 72}, {.out = lies});
        }
        check_product<bf16>(B::tile, {136, 144, 72}, {.out = Lies::column_major, .bias = true});
    }
    for (const Lies a : {Lies::gaps, Lies::column_gaps}) {
        for (const Lies b : {Lies::gaps, Lies::column_gaps}) {
            for (const B path : kInQuads) {
                check_product<bf16>(path, {19, 11, 21}, {.a = a, .b = b});
                check_product<f16>(path, {9, 3, 70}, {.a = a, .b = b, .lead = 8});
            }
        }
    }
}

TEST_CASE("matmul_bf16: sizes around a fragment, a tile and the ring",
          "[day05][matmul_bf16][small]") {
    for (const std::int64_t K : {1, 7, 8, 15, 16, 17, 63, 64, 65, 200}) {
        for (const B path : kAll) check_product<bf16>(path, {5, 9, K}, {});
    }
    for (const auto& [M, N] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {1, 1}, {15, 7}, {16, 8}, {17, 9}, {63, 65}, {65, 63}, {127, 129}, {129, 127}}) {
        for (const B path : kAll) check_product<bf16>(path, {M, N, 24}, {});
    }
    check_product<bf16>(B::fragments_ahead, {129, 128, 136}, {});  // one tile that lies inside
}

// The stride of a dimension of extent 1 is never used and may be any number. Tiles name rows beyond
// the matrix all the same, and a copy of 0 bytes, too, starts at a multiple of 16 bytes.
void check_unused_strides(const Size& s) {
    const Tensor<bf16> a = seeded_integers<bf16>({s.M, s.K}, 1, -9, 9),
                       b = seeded_integers<bf16>({s.K, s.N}, 2, -9, 9);
    auto want = HostOut<float>({s.M, s.N});
    matmul_bf16_cpu<bf16>(a.view(), b.view(), {}, want.view());
    const auto layout = [](const Shape& shape, Lies lies) {
        Layout x = lies_in(shape, lies);
        for (int d = 0; d < 2; ++d) {
            if (x.extent(d) == 1) x.strides[d] = 13;
        }
        return x;
    };
    for (const Lies of_a : {Lies::gaps, Lies::column_gaps}) {
        for (const Lies of_b : {Lies::gaps, Lies::column_gaps}) {
            const DeviceIn<bf16> da(a, layout(a.shape(), of_a)), db(b, layout(b.shape(), of_b));
            CHECK(choose_matmul_bf16<bf16>(da.view(), db.view(), false) == B::fragments_ahead);
            CHECK(choose_matmul_bf16<bf16>(da.view(), db.view(), true) == B::persistent);
            for (const B path : kAll) {
                CAPTURE(name(path), s.M, s.N, s.K, int(of_a), int(of_b));
                DeviceOut<float> got({s.M, s.N});
                matmul_bf16_cuda<bf16>(da.view(), db.view(), {}, got.view(), {.path = path});
                CHECK(got.matches(want));
            }
        }
    }
}

template <class F>
void for_each_vector_size(const std::vector<std::int64_t>& extents, const F& f) {
    for (const std::int64_t M : extents) {
        for (const std::int64_t N : extents) {
            for (const std::int64_t K : extents) {
                if (M == 1 || N == 1 || K == 1) f(Size{M, N, K});
            }
        }
    }
}

TEST_CASE("matmul_bf16: a row or a column, whose stride is never used and may be any",
          "[day05][matmul_bf16][small]") {
    for_each_vector_size({1, 3, 32}, check_unused_strides);
}
TEST_CASE("matmul_bf16: all small rows and columns, whose stride is never used",
          "[day05][matmul_bf16][full]") {
    for_each_vector_size({1, 2, 3, 7, 8, 9, 16, 32}, check_unused_strides);
}

// A ring begins again, and again. Steps 6 and 7 make four tiles of 128 x 128 where there are four
// multiprocessors, as on the emulator, and else tiles of 64 x 64.
TEST_CASE("matmul_bf16: more tiles than stages", "[day05][matmul_bf16][small]") {
    for (const B path : kInQuads) {
        const bool cuts_two_ways = path == B::warpgroups || path == B::persistent;
        if (cuts_two_ways) check_product<bf16>(path, {129, 129, 600}, {});
        check_product<bf16>(path, {65, 72, 600}, {});
        check_product<f16>(path, {65, 72, 600}, {.a = Lies::column_gaps, .b = Lies::column_gaps});
    }
}

// More tiles of outputs than blocks that stay, of more stages than the ring has and of fewer: the
// ring goes on from one tile to the next. (On a GPU, whose blocks are many: the same with [huge].)
TEST_CASE("matmul_bf16: blocks that stay", "[day05][matmul_bf16][small]") {
    if (!kHopper) return check_refused_before_hopper();
    for (const std::int64_t K : {40, 136, 328}) {
        check_product<bf16>(B::persistent, {700, 130, K}, {});
        check_product<f16>(B::persistent, {130, 700, K},
                           {.a = Lies::column_gaps, .b = Lies::column_gaps, .bias = true});
        // Fifteen tiles of 64 x 64, two blocks on each of four multiprocessors.
        check_product<bf16>(B::persistent, {257, 129, K}, {.bias = true});
        // Six of 128 x 128.
        check_product<bf16>(B::persistent, {300, 250, K}, {.bias = true});
    }
    // More than 16 tiles down, and two across.
    check_product<bf16>(B::persistent, {2200, 264, 72}, {});
}

// Of 128 x 192 outputs, on the emulator's four multiprocessors: whole tiles, each edge alone, all
// together in each layout, as many tiles as multiprocessors and more; and rows of k's for more
// stages than the ring has. (A GPU cuts these into other tiles, and larger ones so with [huge].)
TEST_CASE("matmul_bf16: tiles of 128 x 192", "[day05][matmul_bf16][small]") {
    if (!kHopper) return check_refused_before_hopper();
    const Case with_more = {.then = {.alpha = 0.75f, .relu = true}, .bias = true};
    for (const B path : {B::warpgroups, B::persistent}) {
        for (const Size& s : std::vector<Size>{{256, 384, 256},
                                               {250, 384, 64},
                                               {256, 380, 64},
                                               {256, 384, 72},
                                               {130, 700, 264}}) {
            CAPTURE(s.M, s.N);
            if (gpu::is_emulated()) CHECK(cut_here(s) == RingCut::middle);
            check_product<f16>(path, s, with_more);
        }
        for (const Lies a : {Lies::gaps, Lies::column_gaps}) {
            for (const Lies b : {Lies::gaps, Lies::column_gaps}) {
                check_product<bf16>(path, {250, 380, 200}, {.a = a, .b = b});
            }
        }
    }
}

// Outputs of a whole tile go in pairs: each condition of that false alone, all others true.
TEST_CASE("matmul_bf16: outputs in pairs, and one by one", "[day05][matmul_bf16][small]") {
    const std::vector<Case> cases = {
        {},
        {.then = {.alpha = -2}},
        {.then = {.relu = true}},
        {.bias = true},
        {.then = {.alpha = 0.75f, .relu = true}, .bias = true},
        {.then = {.swish = true}, .bias = true},
        {.then = {.beta = 3}},
        {.then = {.alpha = 0.75f, .beta = -1.5f, .relu = true}, .bias = true},
        {.out = Lies::gaps, .then = {.beta = 3}},
        {.then = {.beta = 3}, .lead_out = 1},
        {.out = Lies::gaps},
        {.out = Lies::odd_gaps},      // every other row begins between two pairs
        {.out = Lies::every_other},   // neighbours do not lie side by side
        {.out = Lies::column_major},  // nor do they here
        {.lead_out = 1},
        {.lead_out = 2},
    };
    for (const Case& c : cases) check_product<bf16>(B::shared_tiles, {128, 128, 16}, c);
    check_product<bf16>(B::shared_tiles, {127, 128, 16}, {});
    check_product<bf16>(B::shared_tiles, {128, 127, 16}, {});
    check_product<bf16>(B::fragments_ahead, {128, 128, 64}, cases[4]);
    if (!kHopper) return;
    for (const B path : {B::warpgroups, B::persistent}) {
        for (const Case& c : cases) check_product<bf16>(path, {128, 128, 16}, c);
        check_product<bf16>(path, {127, 128, 16}, {});
        check_product<bf16>(path, {128, 127, 16}, {});
        // The same of tiles of 128 x 128, where four are one for each multiprocessor.
        check_product<bf16>(path, {256, 256, 16}, cases[4]);
        check_product<bf16>(path, {255, 256, 16}, {});
        check_product<bf16>(path, {256, 255, 16}, {});
    }
}

// Step 7 stores whole lines of a tile that lies inside, where rows of out begin at quads.
TEST_CASE("matmul_bf16: outputs in whole lines", "[day05][matmul_bf16][small]") {
    if (!kHopper) return check_refused_before_hopper();
    const Case with_more = {.then = {.alpha = 0.75f, .relu = true}, .bias = true};
    for (const std::int64_t N : {256, 388, 390}) {  // 390: every other row begins between two quads
        check_product<bf16>(B::persistent, {256, N, 72}, {});
        check_product<f16>(B::persistent, {140, N, 24}, with_more);
    }
    for (const std::int64_t N : {132, 134}) {  // the same of tiles of 64 x 64
        check_product<f16>(B::persistent, {100, N, 24}, with_more);
    }
}

// More tiles down than one group of eight, and more than one group: each tile is somebody's.
TEST_CASE("matmul_bf16: many tiles", "[day05][matmul_bf16][full]") {
    check_product<bf16>(B::shared_tiles, {128 * 9 + 3, 128 * 2 + 1, 16}, {});
    for (const B path : kInQuads) {
        check_product<bf16>(path, {128 * 9 + 3, 128 * 2 + 1, 16}, {});
    }
}

// Tiles that lie wholly in the matrix beside such as do not, and more of them than the ring has
// stages.
TEST_CASE("matmul_bf16: whole tiles and edges", "[day05][matmul_bf16][full]") {
    for (const Lies a : {Lies::gaps, Lies::column_gaps}) {
        for (const Lies b : {Lies::gaps, Lies::column_gaps}) {
            for (const B path : kInQuads) {
                check_product<bf16>(path, {140, 150, 267}, {.a = a, .b = b});
                check_product<f16>(path, {128, 128, 256}, {.a = a, .b = b});
            }
        }
    }
}

// 128 x 256 tiles, on a GPU that has multiprocessors for so many; and more of them than the ring
// has stages.
TEST_CASE("matmul_bf16: the wide ring", "[day05][matmul_bf16][huge]") {
    const Size s{2050, 3100, 600};
    std::optional<Exact> plain, with_more;  // the same numbers in every layout: seconds to sum
    for (const Lies a : {Lies::gaps, Lies::column_gaps}) {
        for (const Lies b : {Lies::gaps, Lies::column_gaps}) {
            for (const B path : kInQuads) {
                check_product<bf16>(path, s, {.a = a, .b = b}, &plain);
            }
        }
    }
    for (const B path : kInQuads) {
        check_product<f16>(path, s, {.then = {.beta = 3}, .bias = true}, &with_more);
    }
    // Lines of 128 x 256 tiles.
    if (kHopper) {
        check_product<bf16>(B::persistent, {2050, 3100, 16},
                            {.then = {.alpha = -2, .relu = true}, .bias = true});
    }
    if (!kHopper) return;
    // 128 x 192, in every layout; 128 x 128, more than one for each multiprocessor; and 64 x 64,
    // more than two.
    std::optional<Exact> middle;
    for (const Lies a : {Lies::gaps, Lies::column_gaps}) {
        for (const Lies b : {Lies::gaps, Lies::column_gaps}) {
            for (const B path : {B::warpgroups, B::persistent}) {
                check_product<bf16>(path, {2050, 2100, 400}, {.a = a, .b = b}, &middle);
            }
        }
    }
    check_product<bf16>(B::persistent, {2050, 1900, 72}, {});
    check_product<bf16>(B::persistent, {300, 5750, 264}, {.bias = true});
}

// On a GPU, since the emulator has neither so many multiprocessors nor rings so long: tiles of
// 128 x 128 and of 128 x 192 that are all whole, each edge alone, and all together in each layout.
TEST_CASE("matmul_bf16: edges of square and of middle tiles", "[day05][matmul_bf16][huge]") {
    if (!kHopper) return check_refused_before_hopper();
    struct Sizes {
        RingCut cut;
        Size whole, some;  // `some` is ragged in M, N and K
    };
    const bool as_measured = gpu::multiprocessors() == 132;  // an H100 or H200; else others are cut
    for (const auto& [cut, whole, some] :
         {Sizes{RingCut::square, {1152, 1024, 64}, {1056, 1000, 600}},
          Sizes{RingCut::middle, {1024, 2304, 64}, {1000, 2250, 392}}}) {
        for (const Size& s : {whole, Size{some.M, whole.N, whole.K}, Size{whole.M, some.N, whole.K},
                              Size{whole.M, whole.N, whole.K + 8}}) {
            CAPTURE(s.M, s.N);
            if (as_measured) CHECK(cut_here(s) == cut);
            std::optional<Exact> exact;
            for (const B path : {B::warpgroups, B::persistent}) {
                check_product<bf16>(path, s, {}, &exact);
            }
        }
        if (as_measured) CHECK(cut_here(some) == cut);
        std::optional<Exact> exact, with_more;
        for (const B path : {B::warpgroups, B::persistent}) {
            for (const Lies a : {Lies::gaps, Lies::column_gaps}) {
                for (const Lies b : {Lies::gaps, Lies::column_gaps}) {
                    check_product<bf16>(path, some, {.a = a, .b = b}, &exact);
                }
            }
            check_product<f16>(path, some, {.then = {.beta = 3}, .bias = true}, &with_more);
        }
    }
}

TEST_CASE("matmul_bf16: stacks, nothing to sum, and no outputs", "[day05][matmul_bf16][small]") {
    const Tensor<bf16> a = seeded_integers<bf16>({2, 1, 5, 8}, 1, -9, 9);
    const Tensor<bf16> b = seeded_integers<bf16>({3, 8, 16}, 2, -9, 9);
    auto want = HostOut<float>({2, 3, 5, 16});
    matmul_bf16_cpu<bf16>(a.view(), b.view(), {}, want.view());
    // Matrix (1, 2), second row, by another loop.
    for (std::int64_t n = 0; n < 16; ++n) {
        float sum = 0;
        for (std::int64_t k = 0; k < 8; ++k) {
            sum += static_cast<float>(a(1, 0, 1, k)) * static_cast<float>(b(2, k, n));
        }
        CHECK(want.view()(1, 2, 1, n) == sum);
    }
    DeviceIn<bf16> da(a), db(b);
    for (const B path : kAll) {
        CAPTURE(name(path));
        DeviceOut<float> got({2, 3, 5, 16});
        matmul_bf16_cuda<bf16>(da.view(), db.view(), {}, got.view(), {.path = path});
        CHECK(got.matches(want));
        auto zeros = DeviceOut<float>({5, 16});
        const Tensor<float> nothing({5, 16});
        const View<const bf16> none_a(nullptr, Shape{5, 0}), none_b(nullptr, Shape{0, 16});
        matmul_bf16_cuda<bf16>(none_a, none_b, {}, zeros.view(), {.path = path});
        CHECK(zeros.matches(HostOut<float>::holding(nothing)));
        matmul_bf16_cuda<bf16>(View<const bf16>(nullptr, Shape{0, 8}), select(db.view(), 0, 0), {},
                               View<float>(nullptr, Shape{0, 16}), {.path = path});
    }
}

TEST_CASE("matmul_bf16: what is refused, and which path is taken", "[day05][matmul_bf16][small]") {
    DeviceIn<bf16> a(seeded<bf16>({16, 24}, 1, -1, 1)), b(seeded<bf16>({24, 32}, 2, -1, 1));
    DeviceOut<float> out({16, 32});
    const auto refused = [&](View<const bf16> x, View<const bf16> y, View<float> to,
                             std::optional<B> path, const std::string& words) {
        CHECK(both_refuse([&] { check_matmul_bf16<bf16>(x, y, {}, to, path); },
                          [&] { matmul_bf16_cuda<bf16>(x, y, {}, to, {.path = path}); }, words));
        if (path) return;
        CHECK(contains(refusal([&] { matmul_bf16_cpu<bf16>(x, y, {}, to); }), words));
    };
    refused(b.view(), b.view(), out.view(), {}, "matmul_bf16: a has shape (24, 32), so K is 32");
    refused(a.view(), b.view(), View<float>(nullptr, Shape{16, 32}), {}, "out is a null pointer");
    CHECK(choose_matmul_bf16<bf16>(a.view(), b.view(), false) == B::fragments_ahead);
    CHECK(choose_matmul_bf16<bf16>(a.view(), b.view(), true) == B::persistent);
    // A stack of one matrix, whose stride is never used either, and of several.
    const auto stacked = [](View<const bf16> x, std::int64_t matrices, std::int64_t stride) {
        return View<const bf16>(x.data, Layout({matrices, x.extent(0), x.extent(1)},
                                               {stride, x.stride(0), x.stride(1)}));
    };
    const auto of_stack = [&](std::int64_t matrices, std::int64_t stride) {
        return choose_matmul_bf16<bf16>(stacked(a.view(), matrices, stride), b.view(), false);
    };
    CHECK(of_stack(1, 13) == B::fragments_ahead);
    CHECK(of_stack(2, 24) == B::fragments_ahead);
    CHECK(of_stack(2, 13) == B::shared_tiles);
    // One condition of the ring false, of one operand, all others true.
    const auto odd = [](View<const bf16> x, int how) {
        if (how == 0) x.data += 1;
        if (how == 1) x.stride(0) += 1;
        if (how == 2) x.stride(1) = 2;
        return x;
    };
    for (int how = 0; how < 3; ++how) {
        CAPTURE(how);
        for (const bool of_a : {true, false}) {
            const View<const bf16> x = of_a ? odd(a.view(), how) : a.view();
            const View<const bf16> y = of_a ? b.view() : odd(b.view(), how);
            CHECK(choose_matmul_bf16<bf16>(x, y, true) == B::shared_tiles);
            refused(x, y, out.view(), B::ring, "the path 'ring' needs a and b whose rows");
            refused(x, y, out.view(), B::fragments_ahead,
                    "the path 'fragments ahead' needs a and b");
            // The same of columns.
            const View<const bf16> xt = transpose(x), yt = transpose(y);
            DeviceOut<float> across({32, 16});
            CHECK(choose_matmul_bf16<bf16>(yt, xt, true) == B::shared_tiles);
            refused(yt, xt, across.view(), B::ring, "the path 'ring' needs");
        }
    }
    // Rows that overlap, run backwards or lie too far apart are quads, but Hopper's engine takes no
    // tiles of them; nor of 2^31 rows or columns.
    const auto bent = [](View<const bf16> x, int how) {
        if (how == 0) x.stride(0) = 16;
        if (how == 1) x.stride(0) = -x.stride(0);
        if (how == 2) x.stride(0) = std::int64_t{1} << 38;
        if (how == 3) x.extent(0) = std::int64_t{1} << 31;
        if (how == 4) x.extent(1) = x.stride(0) = std::int64_t{1} << 31;
        return x;
    };
    for (int how = 0; how < 5; ++how) {
        CAPTURE(how);
        for (const bool of_a : {true, false}) {
            const View<const bf16> x = of_a ? bent(a.view(), how) : a.view();
            const View<const bf16> y = of_a ? b.view() : bent(b.view(), how);
            CHECK(choose_matmul_bf16<bf16>(x, y, true) == B::fragments_ahead);
            CHECK(choose_matmul_bf16<bf16>(transpose(y), transpose(x), true) == B::fragments_ahead);
            if (how > 1 || !kHopper) continue;  // else its span meets that of out
            refused(x, y, out.view(), B::warpgroups, "the path 'warpgroups' needs a and b whose");
            refused(x, y, out.view(), B::persistent, "the path 'persistent' needs a and b whose");
        }
    }
    View<const bf16> high = a.view(), tall = a.view();
    high.extent(0) = kMostRows + 1, high.stride(0) = 0;
    tall.extent(0) = 8 * kMostRows + 1, tall.stride(0) = 0;
    const auto to = [&](std::int64_t rows) {
        return View<float>(out.view().data, Shape{rows, 32});
    };
    refused(high, b.view(), to(kMostRows + 1), B::one_element, "at most 524280 rows of out");
    refused(tall, b.view(), to(8 * kMostRows + 1), B::one_warp, "at most 4194240 rows of out");
    high.extent(0) = kMostRows;
    CHECK_NOTHROW(check_matmul_bf16<bf16>(high, b.view(), {}, to(kMostRows), B::one_element));
}

TEST_CASE("matmul_bf16: how the ring cuts", "[day05][matmul_bf16][small]") {
    const std::size_t most = kOnHopper;
    CHECK(cut_for_ring(4096, 4096, 132, most) == RingCut::wide);
    CHECK(cut_for_ring(4096, 4096, 132, kWideRing - 1) == RingCut::square);
    CHECK(cut_for_ring(128 * 11, 256 * 12, 132, most) == RingCut::wide);
    CHECK(cut_for_ring(128 * 11, 256 * 12, 133, most) == RingCut::square);
    CHECK(cut_for_ring(128 * 10 + 1, 256 * 11 + 1, 132, most) == RingCut::wide);
    CHECK(cut_for_ring(128 * 10, 256 * 11 + 1, 132, most) == RingCut::square);
    CHECK(cut_for_ring(128 * 10 + 1, 256 * 11, 132, most) == RingCut::square);
    // Steps 6 and 7 count what the multiprocessor with most tiles has to do, in tiles of 64 x 64.
    constexpr auto small = RingCut::small, square = RingCut::square, middle = RingCut::middle,
                   wide = RingCut::wide;
    struct Row {
        std::int64_t M, N;
        RingCut cut, with_less;  // shared memory
    };
    for (const Row& r :
         std::vector<Row>{{1024, 768, small, small},                 // two for four, six, eight
                          {1056, 1024, square, square},              // three for four, six, eight
                          {128 * 11, 128 * 12, square, square},      // four for four, six, eight
                          {128 * 11 + 1, 128 * 12, middle, square},  // five for eight, six, eight
                          {128 * 11, 128 * 12 + 1, middle, square},
                          {1024, 2304, middle, square},
                          {4096, 768, middle, square},
                          {4096, 2304, middle, square},  // 18 for 20, 18, 24
                          {4096, 3072, wide, square},    // 24 each
                          {8192, 2304, wide, square},    // 36 for 36, 36, 40: not a tenth less
                          {2050, 3100, wide, square},    // as the case with [huge] wants them
                          {2050, 2100, middle, square},
                          {2050, 1900, square, square},
                          {300, 5750, small, small},  // four for eight
                          {16384, 16384, wide, square}}) {
        CAPTURE(r.M, r.N);
        CHECK(cut_for_hopper(r.M, r.N, 132, most) == r.cut);
        CHECK(cut_for_hopper(r.M, r.N, 132, kMiddleRing) == r.cut);
        CHECK(cut_for_hopper(r.M, r.N, 132, kMiddleRing - 1) == r.with_less);
    }
    // The emulator has a ring for middle tiles, and none for wide ones.
    const std::size_t ring = kEmulatedRing;
    CHECK(cut_for_hopper(256, 384, 4, kEmulated, ring) == middle);  // six for eight
    CHECK(cut_for_hopper(256, 384, 4, ring, ring) == middle);
    CHECK(cut_for_hopper(256, 384, 4, ring - 1, ring) == square);
    CHECK(cut_for_hopper(300, 250, 4, kEmulated, ring) == square);    // eight for twelve
    CHECK(cut_for_hopper(4096, 4096, 4, kEmulated, ring) == square);  // wide ones would do
    CHECK(cut_for_hopper(1024, 768, 96, most) == small);              // two for four
    CHECK(cut_for_hopper(1024, 768, 95, most) == square);             // three for four
    CHECK(cut_for_hopper(1024, 2304, 144, most) == square);
}

}  // namespace
