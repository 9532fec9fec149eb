// Tests of the set transpose: the CPU reference against independently derived results, every step
// against the exact result, over every element.
#include "common/testing/testing.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/steps/transpose/matrices.hpp"
#include "day03_views/tests/helpers.hpp"
#include "day03_views/transpose.op.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;
using namespace sixdays::testing;
using P = TransposePath;

namespace {

// --- transpose: the CPU reference ----------------------------------------------------------------

TEST_CASE("a transpose equals the result worked by hand", "[day03][transpose][small]") {
    const Tensor<float> in({2, 3}, {1, 2, 3, 4, 5, 6});
    HostOut<float> out({3, 2});
    transpose_cpu(in.view(), out.view());
    CHECK(out.matches(Tensor<float>({3, 2}, {1, 4, 2, 5, 3, 6})));
}

TEST_CASE("a stack of matrices is transposed matrix by matrix", "[day03][transpose][small]") {
    const Tensor<float> in({2, 2, 3}, {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60});
    HostOut<float> out({2, 3, 2});
    transpose_cpu(in.view(), out.view());
    CHECK(out.matches(Tensor<float>({2, 3, 2}, {1, 4, 2, 5, 3, 6, 10, 40, 20, 50, 30, 60})));
}

// --- every path against the exact result ---------------------------------------------------------

// Every path that supports it: contiguous, and with rows at multiples of 16 bytes.
void check_transpose_of(int bytes, const Shape& shape) {
    CHECK(computes_its_result(transpose_operation(bytes, shape)));
    const std::int64_t vector = 16 / bytes;
    const auto whole = [&](const Shape& s) {
        const std::int64_t row = s[s.rank - 1];
        return pitched(s, (row + vector - 1) / vector * vector);
    };
    Shape transposed = shape;
    std::swap(transposed[shape.rank - 1], transposed[shape.rank - 2]);
    CHECK(computes_its_result(transpose_operation(bytes, whole(shape), whole(transposed))));
}

// A stack of two matrices (M, N). Padding in elements: between rows, between matrices, and before
// the first one, for in and for out.
Operation stack_operation(int bytes, std::int64_t M, std::int64_t N,
                          const std::array<std::int64_t, 6>& n) {
    const auto place = [&](std::int64_t rows, std::int64_t columns, std::size_t i) {
        const std::int64_t pitch = columns + n[i];
        return Place(Layout({2, rows, columns}, {rows * pitch + n[i + 2], pitch, 1}), n[i + 4]);
    };
    return transpose_operation(bytes, place(M, N, 0), place(N, M, 1));
}

TEST_CASE("every optimization step is correct around its tile size", "[day03][transpose][small]") {
    for (const std::int64_t M : {1, 2, 31, 33, 64, 65}) {
        for (const std::int64_t N : {1, 3, 32, 63, 64, 67}) check_transpose_of(4, {M, N});
    }
    check_transpose_of(4, {129, 127});
    for (const Shape& shape : {Shape{0, 5}, {5, 0}, {3, 0, 5}}) check_transpose_of(4, shape);
}

TEST_CASE("elements of every size are transposed, also at edges", "[day03][transpose][small]") {
    for (const Shape& shape : {Shape{65, 67}, {129, 31}, {31, 129}, {127, 145}}) {
        for (const int bytes : {1, 2, 8, 16}) check_transpose_of(bytes, shape);
    }
}

TEST_CASE("matrices are transposed with gaps and at any address", "[day03][transpose][small]") {
    for (const int bytes : {4, 1, 2}) {
        for (const std::int64_t lead : {0, 1, 3}) {
            for (const auto& [M, N] : {std::pair{33, 70}, {66, 34}}) {
                const Place in(pitched({M, N}, N + 3), lead), out(pitched({N, M}, M + 3), lead);
                CHECK(computes_its_result(transpose_operation(bytes, in, out)));
            }
        }
    }
}

TEST_CASE("stacks of up to six dimensions are transposed", "[day03][transpose][small]") {
    for (const Shape& shape : {Shape{3, 33, 35}, {2, 3, 5, 34}, {2, 1, 2, 1, 3, 2, 7, 9}}) {
        check_transpose_of(4, shape);
        check_transpose_of(1, shape);
    }
    // (B, H, M, N) from (H, B, M, N), written to (B, H, N, M), the last one first.
    const Layout stack = permute(row_major({3, 2, 34, 37}), {1, 0, 2, 3});
    const Layout last_first = flip(row_major({2, 3, 37, 34}), 0).layout;
    CHECK(computes_its_result(transpose_operation(4, stack, last_first)));
}

TEST_CASE("every transpose is correct at all shapes around a tile", "[day03][transpose][full]") {
    const std::vector<std::int64_t> extents = {1, 31, 32, 33, 64, 65, 127, 129};
    for (const std::int64_t M : extents) {
        for (const std::int64_t N : extents) {
            check_transpose_of(4, {M, N});
            CHECK(computes_its_result(stack_operation(2, M, N, {3, 3})));
            CHECK(computes_its_result(stack_operation(1, M, N, {3, 3})));
        }
    }
}

// --- which path ----------------------------------------------------------------------------------

TEST_CASE("one misaligned pitch or address of in or out rules out a vectorized path",
          "[day03][transpose][conditions][small]") {
    const struct {
        int bytes;
        std::int64_t M, N;
        P best;       // where all requirements are met
        bool misses;  // whether each number is tried
    } all[] = {
        {4, 36, 40, P::vectorized, true},
        {2, 40, 48, P::small_elements, true},
        {1, 48, 48, P::small_elements, true},
        {8, 36, 40, P::in_flight, false},
        {16, 36, 40, P::in_flight, false},
        {4, 40, 3, P::short_rows_vectorized, true},
        {4, 3, 40, P::short_rows_vectorized, true},
        {2, 40, 3, P::short_rows_vectorized, false},
        {1, 48, 3, P::short_rows_vectorized, true},
        {8, 40, 3, P::short_rows, false},
        {4, 36, 32, P::short_rows_vectorized, false},
        {4, 32, 32, P::vectorized, false},
    };
    for (const auto& x : all) {
        const Operation op = stack_operation(x.bytes, x.M, x.N, {});
        CHECK(computes_its_result(op));
        const Layout in = row_major(op.operands[0].shape), out = row_major(op.operands[1].shape);
        CHECK(choose_transpose({nullptr, x.bytes, in}, {nullptr, x.bytes, out}) == x.best);
        for (std::size_t which = 0; which < 6 && x.misses; ++which) {
            for (const std::int64_t n : {1, 8 / x.bytes, 16 / x.bytes}) {
                std::array<std::int64_t, 6> numbers{};
                numbers[which] = n;
                CHECK(computes_its_result(stack_operation(x.bytes, x.M, x.N, numbers)));
            }
        }
    }
    for (const auto& [M, N] :
         {std::pair{47, 61}, {47, 64}, {48, 61}, {36, 33}, {33, 36}, {7, 11}}) {
        const std::int64_t in = (4 - N % 4) % 4, out = (4 - M % 4) % 4;  // to whole pitches
        CHECK(computes_its_result(stack_operation(4, M, N, {in, out, 4, 8})));
        CHECK(computes_its_result(stack_operation(4, M, N, {in, out, 0, 0, 1, 1})));
    }
    // The long rows of a square have gaps, or both do.
    for (const std::array<std::int64_t, 6>& gaps :
         {std::array<std::int64_t, 6>{4, 0}, {0, 4}, {4, 4}}) {
        CHECK(computes_its_result(stack_operation(4, 20, 20, gaps)));
    }
}

TEST_CASE("a path rejects unsupported views and writes nothing", "[day03][transpose][small]") {
    DeviceIn<float> from(distinct<float>({40, 45}));
    DeviceOut<float> got({45, 40});
    const auto why = [&](P path) {
        return rejection([&] { transpose_cuda(from.view(), got.view(), {.path = path}); });
    };
    const std::string views =
        "; in has elements of 4 bytes, shape (40, 45), strides (45, 1), out shape (45, 40), "
        "strides "
        "(40, 1)";
    CHECK(why(P::vectorized) ==
          "transpose: the path 'vectorized' needs elements of 4 bytes, and every row to begin at a "
          "multiple of 16 bytes" +
              views);
    CHECK(why(P::small_elements) ==
          "transpose: the path 'small elements' needs elements of 1 or 2 bytes, and every row to "
          "begin at a multiple of 16 bytes" +
              views);
    CHECK(why(P::short_rows) ==
          "transpose: the path 'short rows' needs rows or columns of at most 32 elements" + views);
    CHECK(why(P::short_rows_vectorized) ==
          "transpose: the path 'short rows, vectorized' needs short rows without gaps between "
          "them, of "
          "elements of 1, 2 or 4 bytes, and long ones that begin at multiples of 16 bytes" +
              views);
    CHECK(got.untouched());

    const Tensor<std::uint8_t> bytes = distinct<std::uint8_t>({3, 5});
    DeviceIn<std::uint8_t> few(bytes);
    DeviceOut<std::uint8_t> back({5, 3});
    for (const P path : {P::write_coalesced, P::shared_tile, P::padded}) {
        const std::string words =
            rejection([&] { transpose_cuda(few.view(), back.view(), {.path = path}); });
        CHECK(contains(words, "columns; in has elements of 1 bytes"));
    }
    CHECK(contains(
        rejection([&] { transpose_cuda(few.view(), back.view(), {.path = P::whole_sectors}); }),
        "needs elements of 2 or 4 bytes"));
    CHECK(back.untouched());

    // 65,535 blocks of 8 rows is the limit of grid.y. Nothing is launched, so any address is valid.
    const auto rows = [&](std::int64_t M) {
        const UntypedOut out{got.view().data, 4, row_major({1, M})};
        check_transpose({got.view().data + M, 4, Layout({M, 1}, {1, 1})}, out, P::one_element);
    };
    const auto columns = [&](P path, std::int64_t N) {
        const UntypedOut out{got.view().data, 4, Layout({N, 1}, {1, 1})};
        check_transpose({got.view().data + N, 4, row_major({1, N})}, out, path);
    };
    CHECK_NOTHROW(rows(524280));
    CHECK_NOTHROW(columns(P::write_coalesced, 524280));
    CHECK(contains(rejection([&] { columns(P::write_coalesced, 524281); }),
                   "needs elements of 4 bytes and at most 524280 columns; in has"));
    for (const P path : {P::shared_tile, P::padded}) {
        CHECK_NOTHROW(columns(path, 2097120));
        CHECK(contains(rejection([&] { columns(path, 2097121); }),
                       "needs elements of 4 bytes and at most 2097120 columns; in has"));
    }
    CHECK(contains(rejection([&] { rows(524281); }),
                   "the path 'one element' needs at most 524280 rows"));

    alignas(16) static float memory[192];
    const auto by_tiles = [&](const Layout& in, const Layout& out) {
        return rejection([&] {
            check_transpose({memory + 32, 4, in}, {memory + 96, 4, out}, P::tile);
        });
    };
    CHECK(by_tiles(Layout({4, 8}, {-8, 1}), row_major({8, 4})) ==
          "transpose: the path 'tile' needs elements of at most 8 bytes, and between rows no "
          "negative stride, for CUDA Tile C++ takes strides for sizes; in has elements of 4 bytes, "
          "shape (4, 8), strides (-8, 1), out shape (8, 4), strides (4, 1)");
    // Matrices of a stack may be in any order.
    CHECK(by_tiles(Layout({2, 2, 4}, {-8, 4, 1}), Layout({2, 4, 2}, {-8, 2, 1})) == "");
}

TEST_CASE("more tiles than a grid has blocks are rejected", "[day03][transpose][small]") {
    const auto tiles = [](const Shape& shape, std::int64_t TM, std::int64_t TN) {
        const Layout in = row_major(shape);
        Matrices x = matrices_to_transpose({nullptr, 1, in}, {nullptr, 1, transpose(in)});
        return cut_into_tiles(x, TM, TN);
    };
    CHECK(tiles({65, 129}, 64, 64) == 2 * 3);
    CHECK(tiles({7, 65, 128}, 64, 64) == 7 * 2 * 2);
    CHECK(tiles({0, 5}, 64, 64) == 0);
    CHECK(tiles({2147483647, 1}, 1, 1) == 2147483647);
    CHECK(tiles({715827882, 3, 1}, 2, 2) == 715827882u * 2);
    const char* words = "all of them together are more than 2^31 - 1 tiles of (1, 1)";
    CHECK(contains(rejection([&] { (void)tiles({2147483648, 1}, 1, 1); }), words));
    CHECK(contains(rejection([&] { (void)tiles({1, 2147483648}, 1, 1); }), words));
    CHECK(contains(rejection([&] { (void)tiles({65536, 32768}, 1, 1); }), words));
    CHECK(contains(rejection([&] { (void)tiles({2, 65536, 16384}, 1, 1); }), words));
    CHECK(contains(rejection([&] { (void)tiles({2147483648, 1, 1}, 1, 1); }), words));
    CHECK(contains(rejection([&] { (void)tiles({std::int64_t{1} << 33, 1, 1}, 1, 1); }), words));
    CHECK(contains(rejection([&] { (void)tiles({65536, 65536, 65536, 1, 1}, 1, 1); }), words));

    // transpose_cuda rejects it before it launches: these addresses hold no memory.
    const auto at = [](std::uintptr_t address) { return reinterpret_cast<std::uint8_t*>(address); };
    const Shape many{65536, 32768, 1, 1};
    const std::string before = last_kernel();
    const std::string why = rejection([&] {
        transpose_cuda(View<const std::uint8_t>(at(1 << 12), many),
                       View<std::uint8_t>(at(std::uintptr_t{1} << 40), many));
    });
    CHECK(contains(why,
                   "transpose: matrices of shape (1, 1): all of them together are more than "
                   "2^31 - 1 tiles of (64, 64)"));
    CHECK(last_kernel() == before);
}

TEST_CASE("sectors and wavefronts of the steps equal a hand count", "[day03][transpose][small]") {
    // A matrix of 64 x 64 floats: 4,096 of them, 512 sectors to read and 512 to write.
    const Tensor<float> in = distinct<float>({64, 64});
    DeviceIn<float> from(in);
    DeviceOut<float> got({64, 64});
    const struct {
        P path;
        std::int64_t sectors, passes, fewest_passes;
    } steps[] = {
        {P::one_element, 512 + 4096, 0, 0},
        {P::write_coalesced, 4096 + 512, 0, 0},
        {P::shared_tile, 1024, 128 + 32 * 128, 256},
        {P::padded, 1024, 256, 256},
        {P::in_flight, 1024, 256, 256},
        {P::vectorized, 1024, 256, 256},
        {P::whole_sectors, 1024, 256, 256},
    };
    for (const auto& step : steps) {
        CAPTURE(name(step.path));
        const auto touched =
            gpu::touched([&] { transpose_cuda(from.view(), got.view(), {.path = step.path}); });
        CHECK(touched.has_value() == gpu::is_emulated());
        if (!touched) continue;
        CHECK(touched->sectors == step.sectors);
        CHECK(touched->passes == step.passes);
        CHECK(touched->fewest_passes == step.fewest_passes);
    }
}

TEST_CASE("small elements waste no sector and no wavefront", "[day03][transpose][small]") {
    gpu::Buffer<std::uint8_t> a(128 * 128 * 2), b(128 * 128 * 2);
    a.fill_bytes(1);
    for (const int e : {1, 2}) {
        const auto touched = gpu::touched([&] {
            const Layout square = row_major({128, 128});
            transpose_untyped_cuda({a.data(), e, square}, {b.data(), e, square});
        });
        CHECK(touched.has_value() == gpu::is_emulated());
        if (!touched) continue;
        CHECK(touched->sectors == 2 * 128 * 128 * e / 32);
        CHECK(touched->passes == touched->fewest_passes);
        const auto single = gpu::touched([&] {
            const Layout square = row_major({128, 128});
            transpose_untyped_cuda({a.data(), e, square}, {b.data(), e, square},
                                   {.path = P::in_flight});
        });
        CHECK(single->sectors == 2 * 128 * 128 * e / 32);
        CHECK(single->passes == single->fewest_passes);
    }
}

TEST_CASE("rows at any address: no block ends within a sector", "[day03][transpose][small]") {
    // The first of three tiles writes 128 elements of a row of out, up to the end of the sector.
    const std::int64_t M = 259, N = 64;
    const gpu::Buffer<float> in(distinct<float>({M, N}));
    gpu::Buffer<float> out(N * M);
    out.fill_bytes(0xff);  // NaNs
    const bool ran = gpu::run_only_blocks(0, 1, [&] {
        transpose_cuda(in.view({M, N}), out.view({N, M}));
    });
    CHECK(ran == gpu::is_emulated());
    if (!ran) return;
    CHECK(last_kernel() == "transpose_whole_sectors_kernel");
    const std::vector<float> got = out.download();
    for (std::int64_t n = 0; n < N; ++n) {
        const float* row = got.data() + n * M;
        const std::int64_t end = std::find_if(row, row + M, [](float x) { return x != x; }) - row;
        const auto address = reinterpret_cast<std::uintptr_t>(out.data() + n * M + end);
        CAPTURE(n, end);
        CHECK(address % 32 == 0);
        CHECK((128 <= end && end < 128 + 8));
        CHECK(std::all_of(row + end, row + M, [](float x) { return x != x; }));
    }
}

TEST_CASE("transpose rejects invalid operands", "[day03][transpose][small]") {
    Tensor<float> in({2, 3}), out({3, 2});
    const auto rejected = [&](const UntypedIn& from, const UntypedOut& to, const char* words) {
        CHECK(both_reject([&] { transpose_untyped_cpu(from, to); },
                          [&] { transpose_untyped_cuda(from, to); }, words));
        CHECK(contains(rejection([&] { check_transpose(from, to, P::in_flight); }), words));
    };
    const UntypedIn from = in.view();
    rejected(from, {out.data(), 4, row_major({2, 3})}, "out must have (3, 2), but has (2, 3)");
    rejected({in.data(), 4, row_major({6})}, {out.data(), 4, row_major({6})},
             "a matrix needs at least rank 2");
    rejected({in.data(), 4, Layout({2, 3}, {1, 2})}, out.view(), "rows must be contiguous");
    rejected(from, {out.data(), 4, Layout({3, 2}, {1, 3})}, "transpose: out has");
    const Layout one = row_major({1, 1});
    rejected({reinterpret_cast<char*>(in.data()) + 1, 4, one}, {out.data(), 4, one},
             "in begins 1 bytes past a multiple of 4");
    rejected(from, {out.data(), 2, row_major({3, 2})}, "in has elements of 4 bytes, but out of 2");
    rejected({in.data(), 3, one}, {out.data(), 3, one}, "elements of 3 bytes cannot be moved");
}

TEST_CASE("transpose rejects an output that overlaps its input, up to the last element",
          "[day03][transpose][small]") {
    // in (2, 3) with rows 4 apart spans 7 elements, out 6.
    const Layout in({2, 3}, {4, 1}), out = row_major({3, 2});
    Tensor<float> memory({19});
    gpu::Buffer<float> device(19);
    device.fill_bytes(0);
    const auto from = [&](float* data) { return View<const float>(data + 6, in); };
    const auto to = [&](float* data, std::int64_t at) { return View<float>(data + at, out); };
    for (std::int64_t at = 1; at <= 12; ++at) {  // 6 elements, from just before to just after
        CAPTURE(at);
        CHECK(both_reject([&] { transpose_cpu(from(memory.data()), to(memory.data(), at)); },
                          [&] { transpose_cuda(from(device.data()), to(device.data(), at)); },
                          "transpose: in overlaps out, which is written; in spans bytes ["));
    }
    for (const std::int64_t at : {0, 13}) {
        CAPTURE(at);
        CHECK(rejection([&] { transpose_cpu(from(memory.data()), to(memory.data(), at)); }) == "");
        CHECK(rejection([&] { transpose_cuda(from(device.data()), to(device.data(), at)); }) == "");
    }
}

}  // namespace
