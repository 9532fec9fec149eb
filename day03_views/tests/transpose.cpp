// The proof of the set transpose: the loop against answers from outside the code, every step
// against the loop, over every element.
#include "common/testing/testing.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/copy.hpp"
#include "day03_views/steps/transpose/matrices.hpp"
#include "day03_views/tests/helpers.hpp"
#include "day03_views/transpose.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;
using namespace sixdays::testing;
using P = TransposePath;

namespace {

// --- transpose: the loop -------------------------------------------------------------------------

TEST_CASE("a transpose worked by hand", "[day03][transpose][small]") {
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

// --- transpose: every kernel against the loop ----------------------------------------------------

struct Step {
    P path;
    const char* kernel;
    int smallest, largest;  // bytes of an element
    bool quads;             // rows must begin at multiples of 16 bytes
};
const std::vector<Step> kSteps = {
    {P::one_element, "transpose_kernel", 1, 16, false},
    {P::write_coalesced, "transpose_write_coalesced_kernel", 4, 4, false},
    {P::shared_tile, "transpose_shared_tile_kernel", 4, 4, false},
    {P::padded, "transpose_padded_kernel", 4, 4, false},
    {P::in_flight, "transpose_in_flight_kernel", 1, 16, false},
    {P::quads, "transpose_quads_kernel", 4, 4, true},
    {P::small_elements, "transpose_small_elements_kernel", 1, 2, true},
    {P::whole_sectors, "transpose_whole_sectors_kernel", 2, 4, false},
    {P::short_rows, "transpose_short_rows_kernel", 1, 16, false},
    {P::tile, "transpose_tile", 1, 8, false},
};

std::int64_t round_up(std::int64_t n, std::int64_t to) {
    return (n + to - 1) / to * to;
}

template <class T>
void check_step(const Step& step, const Shape& shape, bool gaps, Lead lead = {}) {
    const int r = shape.rank;
    Shape transposed = shape;
    std::swap(transposed[r - 1], transposed[r - 2]);
    const std::int64_t quad = 16 / static_cast<std::int64_t>(sizeof(T));
    const auto layout = [&](const Shape& s) {
        const std::int64_t row = s[s.rank - 1];
        if (step.quads) return pitched(s, round_up(row, quad) + (gaps ? quad : 0));
        return pitched(s, row + (gaps ? 3 : 0));
    };
    CAPTURE(step.kernel, sizeof(T), to_string(shape), gaps, lead.elements);
    const Tensor<T> in = patterns<T>(shape);
    HostOut<T> want(transposed);
    transpose_cpu(in.view(), want.view());
    DeviceIn<T> from(in, layout(shape), lead);
    DeviceOut<T> got(layout(transposed), lead);
    transpose_cuda(from.view(), got.view(), {.path = step.path});
    CHECK(got.matches(want));
    CHECK(from.unchanged());
    if (in.size() > 0) CHECK(last_kernel() == step.kernel);
}

template <class T>
void check_steps(const Shape& shape, bool gaps = false, Lead lead = {}) {
    for (const Step& step : kSteps) {
        if (step.path == P::tile && !gpu::has_tile()) continue;  // an older nvcc
        const int bytes = static_cast<int>(sizeof(T));
        if (bytes < step.smallest || bytes > step.largest) continue;
        const std::int64_t M = shape[shape.rank - 2], N = shape[shape.rank - 1];
        if (step.path == P::short_rows && std::min(M, N) > kShortRow) continue;
        check_step<T>(step, shape, gaps, step.quads ? Lead{} : lead);
    }
}

TEST_CASE("every step of the ladder equals the loop around its tile", "[day03][transpose][small]") {
    for (const std::int64_t M : {1, 2, 31, 33, 64, 65}) {
        for (const std::int64_t N : {1, 3, 32, 63, 64, 67}) check_steps<float>({M, N});
    }
    check_steps<float>({129, 127});
    check_steps<float>({0, 5});
    check_steps<float>({5, 0});
    check_steps<float>({3, 0, 5});
}

TEST_CASE("elements of every size are transposed, also at edges", "[day03][transpose][small]") {
    for (const Shape& shape : {Shape{65, 67}, Shape{129, 31}, Shape{31, 129}, Shape{127, 145}}) {
        check_steps<std::uint8_t>(shape);
        check_steps<bf16>(shape);
        check_steps<std::int32_t>(shape);
        check_steps<double>(shape);
        check_steps<Bytes16>(shape);
    }
}

TEST_CASE("matrices with gaps between rows and at any address", "[day03][transpose][small]") {
    for (const Shape& shape : {Shape{33, 70}, Shape{66, 34}}) {
        for (const std::int64_t lead : {0, 1, 3}) {
            check_steps<float>(shape, true, {lead});
            check_steps<std::uint8_t>(shape, true, {lead});
            check_steps<bf16>(shape, true, {lead});
        }
    }
}

TEST_CASE("stacks of matrices, of up to six dims", "[day03][transpose][small]") {
    for (const Shape& shape :
         {Shape{3, 33, 35}, Shape{2, 3, 5, 34}, Shape{2, 1, 2, 1, 3, 2, 7, 9}}) {
        for (const bool gaps : {false, true}) {
            check_steps<float>(shape, gaps);
            check_steps<std::uint8_t>(shape, gaps);
        }
    }
}

TEST_CASE("a stack whose matrices lie in another order", "[day03][transpose][small]") {
    // (B, H, M, N) out of (H, B, M, N), written to (B, H, N, M), the last one first.
    const Tensor<float> in = distinct<float>({3, 2, 34, 37});
    const Layout stack = permute(in.view().layout, {1, 0, 2, 3});
    Tensor<float> values({2, 3, 34, 37});
    copy_cpu(View<const float>(in.data(), stack), values.view());
    HostOut<float> want({2, 3, 37, 34});
    transpose_cpu(View<const float>(in.data(), stack), want.view());
    DeviceIn<float> from(values, stack);
    const Cut last_first = flip(row_major({2, 3, 37, 34}), 0);
    DeviceOut<float> got(last_first.layout);
    transpose_cuda(from.view(), got.view());
    CHECK(got.matches(want));
}

TEST_CASE("every transpose of every shape around the tiles", "[day03][transpose][full]") {
    const std::vector<std::int64_t> extents = {1, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129};
    for (const std::int64_t M : extents) {
        for (const std::int64_t N : extents) {
            check_steps<float>({M, N});
            check_steps<bf16>({M, N}, true);
            check_steps<std::uint8_t>({M, N}, true);
            check_steps<Bytes16>({M, N});
        }
    }
}

TEST_CASE("transpose chooses by size and address, and takes what it chose",
          "[day03][transpose][small]") {
    const struct {
        int element;
        std::int64_t M, N, pitch_in, pitch_out, lead;  // in elements
        P path;
        const char* kernel;
    } cases[] = {
        {4, 8, 12, 12, 8, 0, P::quads, "transpose_quads_kernel"},
        {4, 8, 12, 12, 8, 1, P::whole_sectors, "transpose_whole_sectors_kernel"},
        {4, 8, 12, 13, 8, 0, P::whole_sectors, "transpose_whole_sectors_kernel"},
        {4, 8, 12, 12, 9, 0, P::whole_sectors, "transpose_whole_sectors_kernel"},
        {4, 7, 11, 12, 8, 0, P::quads, "transpose_quads_kernel"},  // ragged rows, aligned pitches
        {4, 1, 11, 11, 4, 0, P::quads, "transpose_quads_kernel"},  // one row: no pitch is used
        {4, 33, 36, 36, 36, 0, P::quads, "transpose_quads_kernel"},
        {4, 33, 35, 35, 33, 0, P::whole_sectors, "transpose_whole_sectors_kernel"},
        {2, 8, 16, 16, 8, 0, P::small_elements, "transpose_small_elements_kernel"},
        {2, 8, 12, 12, 8, 0, P::whole_sectors, "transpose_whole_sectors_kernel"},
        {1, 16, 32, 32, 16, 0, P::small_elements, "transpose_small_elements_kernel"},
        {1, 16, 24, 24, 16, 0, P::in_flight, "transpose_in_flight_kernel"},
        {8, 8, 8, 8, 8, 0, P::in_flight, "transpose_in_flight_kernel"},
        {16, 8, 8, 8, 8, 0, P::in_flight, "transpose_in_flight_kernel"},
        // One of the two is 32 at most, and the other is not.
        {4, 33, 32, 33, 33, 0, P::short_rows, "transpose_short_rows_kernel"},
        {4, 32, 33, 33, 33, 0, P::short_rows, "transpose_short_rows_kernel"},
        {16, 40, 3, 3, 40, 0, P::short_rows, "transpose_short_rows_kernel"},
        {4, 40, 3, 3, 40, 0, P::short_rows_quads, "transpose_rows_to_columns_kernel"},
        {4, 3, 40, 40, 3, 0, P::short_rows_quads, "transpose_columns_to_rows_kernel"},
        {1, 48, 1, 1, 48, 0, P::short_rows_quads, "transpose_rows_to_columns_kernel"},
        {4, 40, 3, 4, 40, 0, P::short_rows, "transpose_short_rows_kernel"},  // a gap after each row
        {4, 40, 3, 3, 41, 0, P::short_rows, "transpose_short_rows_kernel"},
        {4, 40, 3, 3, 40, 1, P::short_rows, "transpose_short_rows_kernel"},
        {8, 40, 3, 3, 40, 0, P::short_rows, "transpose_short_rows_kernel"},
    };
    gpu::Buffer<std::uint8_t> a(16 * 2048), b(16 * 2048);
    a.fill_bytes(1);
    for (const auto& c : cases) {
        CAPTURE(c.element, c.M, c.N, c.pitch_in, c.pitch_out, c.lead);
        const UntypedIn in{a.data() + c.lead * c.element, c.element,
                           pitched({c.M, c.N}, c.pitch_in)};
        const UntypedOut out{b.data(), c.element, pitched({c.N, c.M}, c.pitch_out)};
        CHECK(std::string(name(choose_transpose(in, out))) == name(c.path));
        transpose_untyped_cuda(in, out);
        CHECK(last_kernel() == c.kernel);
        transpose_untyped_cuda(in, out, {.path = c.path});
        CHECK(last_kernel() == c.kernel);
    }
}

TEST_CASE("a stack is read by quads only if every matrix begins at one",
          "[day03][transpose][small]") {
    gpu::Buffer<float> a(1024), b(1024);
    a.fill_bytes(1);
    const auto path = [&](std::int64_t step_in, std::int64_t step_out) {
        const Layout in({3, 8, 12}, {step_in, 12, 1}), out({3, 12, 8}, {step_out, 8, 1});
        return choose_transpose({a.data(), 4, in}, {b.data(), 4, out});
    };
    CHECK(path(96, 96) == P::quads);
    CHECK(path(100, 104) == P::quads);
    CHECK(path(98, 96) == P::whole_sectors);
    CHECK(path(96, 98) == P::whole_sectors);
    // The same for short rows: 40 of 3 floats.
    const auto short_path = [&](std::int64_t step_in, std::int64_t step_out) {
        const Layout in({3, 40, 3}, {step_in, 3, 1}), out({3, 3, 40}, {step_out, 40, 1});
        return choose_transpose({a.data(), 4, in}, {b.data(), 4, out});
    };
    CHECK(short_path(120, 124) == P::short_rows_quads);
    CHECK(short_path(122, 120) == P::short_rows);
    CHECK(short_path(120, 122) == P::short_rows);
}

TEST_CASE("a path refuses what it cannot take, and moves nothing", "[day03][transpose][small]") {
    DeviceIn<float> from(distinct<float>({40, 45}));
    DeviceOut<float> got({45, 40});
    const auto why = [&](P path) {
        return refusal([&] { transpose_cuda(from.view(), got.view(), {.path = path}); });
    };
    const std::string views =
        "; in has elements of 4 bytes, shape (40, 45), strides (45, 1), out shape (45, 40), "
        "strides "
        "(40, 1)";
    CHECK(why(P::quads) ==
          "transpose: the path 'quads' needs elements of 4 bytes, and every row to begin at a "
          "multiple of 16 bytes" +
              views);
    CHECK(why(P::small_elements) ==
          "transpose: the path 'small elements' needs elements of 1 or 2 bytes, and every row to "
          "begin at a multiple of 16 bytes" +
              views);
    CHECK(why(P::short_rows) ==
          "transpose: the path 'short rows' needs rows or columns of 32 elements at most" + views);
    CHECK(why(P::short_rows_quads) ==
          "transpose: the path 'short rows, quads' needs short rows without gaps between them, of "
          "elements of 1, 2 or 4 bytes, and long ones that begin at multiples of 16 bytes" +
              views);
    CHECK(got.untouched());

    const Tensor<std::uint8_t> bytes = distinct<std::uint8_t>({3, 5});
    DeviceIn<std::uint8_t> few(bytes);
    DeviceOut<std::uint8_t> back({5, 3});
    for (const P path : {P::write_coalesced, P::shared_tile, P::padded}) {
        const std::string words =
            refusal([&] { transpose_cuda(few.view(), back.view(), {.path = path}); });
        CHECK(contains(words, "columns; in has elements of 1 bytes"));
    }
    CHECK(contains(
        refusal([&] { transpose_cuda(few.view(), back.view(), {.path = P::whole_sectors}); }),
        "needs elements of 2 or 4 bytes"));
    CHECK(back.untouched());

    // 65,535 blocks of 8 rows is as far as grid.y goes. Nothing is launched, so any address will
    // do.
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
    CHECK(contains(refusal([&] { columns(P::write_coalesced, 524281); }),
                   "needs elements of 4 bytes and at most 524280 columns; in has"));
    for (const P path : {P::shared_tile, P::padded}) {
        CHECK_NOTHROW(columns(path, 2097120));
        CHECK(contains(refusal([&] { columns(path, 2097121); }),
                       "needs elements of 4 bytes and at most 2097120 columns; in has"));
    }
    CHECK(contains(refusal([&] { rows(524281); }),
                   "the path 'one element' needs at most 524280 rows"));

    // All conditions hold but for the size of the elements, or the direction from row to row.
    alignas(16) static float memory[192];
    const UntypedOut to{memory + 32, 4, row_major({8, 4})};
    CHECK_NOTHROW(check_transpose({memory, 4, row_major({4, 8})}, to, P::quads));
    CHECK(contains(refusal([&] {
                       check_transpose({memory, 4, row_major({4, 8})}, to, P::small_elements);
                   }),
                   "needs elements of 1 or 2 bytes"));
    const auto by_tiles = [&](int element, const Layout& in, const Layout& out) {
        return refusal([&] {
            check_transpose({memory + 32, element, in}, {memory + 96, element, out}, P::tile);
        });
    };
    const Layout rows_4({4, 8}, {8, 1}), rows_8({8, 4}, {4, 1});
    CHECK(by_tiles(4, rows_4, rows_8) == "");
    const std::string forwards =
        "transpose: the path 'tile' needs elements of 8 bytes at most, and from row to row no "
        "negative stride, for CUDA Tile C++ takes strides for sizes; in has elements of 4 bytes, ";
    CHECK(by_tiles(4, Layout({4, 8}, {-8, 1}), rows_8) ==
          forwards + "shape (4, 8), strides (-8, 1), out shape (8, 4), strides (4, 1)");
    CHECK(by_tiles(4, rows_4, Layout({8, 4}, {-4, 1})) ==
          forwards + "shape (4, 8), strides (8, 1), out shape (8, 4), strides (-4, 1)");
    CHECK(by_tiles(8, Layout({2, 3}, {3, 1}), Layout({3, 2}, {2, 1})) == "");
    CHECK(contains(by_tiles(16, Layout({2, 3}, {3, 1}), Layout({3, 2}, {2, 1})),
                   "needs elements of 8 bytes at most"));
    CHECK(by_tiles(4, Layout({1, 8}, {-8, 1}), row_major({8, 1})) == "");
    CHECK(by_tiles(4, row_major({8, 1}), Layout({1, 8}, {-8, 1})) == "");
    // Matrices of a stack may lie in any order.
    CHECK(by_tiles(4, Layout({2, 2, 4}, {-8, 4, 1}), Layout({2, 4, 2}, {-8, 2, 1})) == "");
}

TEST_CASE("as many tiles as a grid has blocks, and not one more", "[day03][transpose][small]") {
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
    CHECK(contains(refusal([&] { (void)tiles({2147483648, 1}, 1, 1); }), words));
    CHECK(contains(refusal([&] { (void)tiles({1, 2147483648}, 1, 1); }), words));
    CHECK(contains(refusal([&] { (void)tiles({65536, 32768}, 1, 1); }), words));
    CHECK(contains(refusal([&] { (void)tiles({2, 65536, 16384}, 1, 1); }), words));
    CHECK(contains(refusal([&] { (void)tiles({2147483648, 1, 1}, 1, 1); }), words));
    CHECK(contains(refusal([&] { (void)tiles({std::int64_t{1} << 33, 1, 1}, 1, 1); }), words));
    CHECK(contains(refusal([&] { (void)tiles({65536, 65536, 65536, 1, 1}, 1, 1); }), words));

    // The port says so, and nothing is launched: these addresses hold no memory.
    const auto at = [](std::uintptr_t address) { return reinterpret_cast<std::uint8_t*>(address); };
    const Shape many{65536, 32768, 1, 1};
    const std::string before = last_kernel();
    const std::string why = refusal([&] {
        transpose_cuda(View<const std::uint8_t>(at(1 << 12), many),
                       View<std::uint8_t>(at(std::uintptr_t{1} << 40), many));
    });
    CHECK(contains(why,
                   "transpose: matrices of shape (1, 1): all of them together are more than "
                   "2^31 - 1 tiles of (64, 64)"));
    CHECK(last_kernel() == before);
}

TEST_CASE("what the steps touch: sectors and banks", "[day03][transpose][small]") {
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
        {P::quads, 1024, 256, 256},
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

TEST_CASE("small elements waste neither sectors nor banks", "[day03][transpose][small]") {
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

TEST_CASE("rows that begin anywhere: no block ends within a sector", "[day03][transpose][small]") {
    // The first of three tiles writes 128 elements of a row of out, and on to the sector's end.
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

TEST_CASE("transpose refuses what it cannot do", "[day03][transpose][small]") {
    Tensor<float> in({2, 3}), out({3, 2}), wrong({2, 3});
    const auto refused = [&](View<const float> from, View<float> to, const char* words) {
        CHECK(both_refuse([&] { transpose_cpu(from, to); }, [&] { transpose_cuda(from, to); },
                          words));
        CHECK(both_refuse([&] { transpose_cpu(from, to); },
                          [&] { transpose_cuda(from, to, {.path = P::in_flight}); }, words));
    };
    refused(in.view(), wrong.view(), "out must have (3, 2), but has (2, 3)");
    refused({in.data(), Shape{6}}, {out.data(), Shape{6}}, "a matrix needs rank 2 at least");
    refused({in.data(), Layout({2, 3}, {1, 2})}, out.view(), "must run along memory");
    refused(in.view(), {out.data(), Layout({3, 2}, {1, 3})}, "transpose: out has");
    refused(in.view(), {out.data(), Layout({3, 2}, {2, 2})},
            "where two indices may share one place");
    refused({nullptr, Shape{2, 3}}, out.view(), "null pointer");
    refused(in.view(), {in.data(), Shape{3, 2}}, "in overlaps out");
    CHECK(both_refuse(
        [&] {
            transpose_untyped_cpu({reinterpret_cast<char*>(in.data()) + 1, 4, row_major({1, 1})},
                                  {out.data(), 4, row_major({1, 1})});
        },
        [&] {
            transpose_untyped_cuda({reinterpret_cast<char*>(in.data()) + 1, 4, row_major({1, 1})},
                                   {out.data(), 4, row_major({1, 1})});
        },
        "in begins 1 bytes past a multiple of 4"));
    CHECK(both_refuse(
        [&] {
            transpose_untyped_cpu(in.view(), {out.data(), 2, row_major({3, 2})});
        },
        [&] {
            transpose_untyped_cuda(in.view(), {out.data(), 2, row_major({3, 2})});
        },
        "in has elements of 4 bytes, but out of 2"));
    CHECK(both_refuse(
        [&] {
            transpose_untyped_cpu({in.data(), 3, row_major({1, 1})},
                                  {out.data(), 3, row_major({1, 1})});
        },
        [&] {
            transpose_untyped_cuda({in.data(), 3, row_major({1, 1})},
                                   {out.data(), 3, row_major({1, 1})});
        },
        "elements of 3 bytes cannot be moved"));
}

TEST_CASE("transpose refuses to write what it has yet to read, up to the last element",
          "[day03][transpose][small]") {
    // in (2, 3) with rows 4 apart spans 7 elements; so does nothing else.
    const Layout in({2, 3}, {4, 1}), out = row_major({3, 2});
    Tensor<float> memory({19});
    gpu::Buffer<float> device(19);
    device.fill_bytes(0);
    const auto from = [&](float* data) { return View<const float>(data + 6, in); };
    const auto to = [&](float* data, std::int64_t at) { return View<float>(data + at, out); };
    for (std::int64_t at = 1; at <= 12; ++at) {  // 6 elements, from just before to just behind
        CAPTURE(at);
        CHECK(both_refuse([&] { transpose_cpu(from(memory.data()), to(memory.data(), at)); },
                          [&] { transpose_cuda(from(device.data()), to(device.data(), at)); },
                          "transpose: in overlaps out, which is written; in spans bytes ["));
    }
    for (const std::int64_t at : {0, 13}) {
        CAPTURE(at);
        CHECK(refusal([&] { transpose_cpu(from(memory.data()), to(memory.data(), at)); }) == "");
        CHECK(refusal([&] { transpose_cuda(from(device.data()), to(device.data(), at)); }) == "");
    }
}

TEST_CASE("legal views with numbers that are never used", "[day03][transpose][small]") {
    // One row, one column, one matrix: their stride is never used, and may be absurd.
    const std::int64_t far = std::int64_t{1} << 61;
    const Tensor<float> in = distinct<float>({1, 40});
    DeviceIn<float> from(in);
    const View<const float> row(from.view().data, Layout({1, 1, 40}, {far, -far, 1}));
    for (const P path : {P::one_element, P::in_flight, P::whole_sectors, P::short_rows}) {
        CAPTURE(name(path));
        DeviceOut<float> got({1, 40, 1});
        transpose_cuda(row, View<float>(got.view().data, Layout({1, 40, 1}, {-far, 1, far})),
                       {.path = path});
        CHECK(got.matches(Tensor<float>({1, 40, 1}, {in.data(), in.data() + 40})));
    }
}

}  // namespace
