// Each condition of the choice of path, violated alone. Then the path is not chosen, a request for
// it is rejected, and every path that supports the lines equals the CPU reference.
#include <algorithm>
#include <set>
#include <string>

#include "common/tensor/transform.hpp"
#include "day04_argmax/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day04_argmax;
using namespace sixdays::testing;
using P = LinePath;

namespace {

Lines lines_along(const Layout& layout, const Dims& dims) {
    return lines_of("test", {nullptr, layout}, dims);
}

// The paths that support these lines, and the ones chosen without and with a workspace.
void expect(const char* what, const Layout& layout, const Dims& dims, const std::set<P>& takers,
            P chosen, P with_workspace) {
    CAPTURE(what, to_string(layout), to_string(dims));
    const Lines lines = lines_along(layout, dims);
    for (const P path : kPaths) {
        if (path == P::tile) continue;  // contract.cpp tests its conditions
        CAPTURE(name(path));
        CHECK(takes(path, lines) == (takers.count(path) > 0));
    }
    CHECK(std::string(name(choose_path(lines, false))) == name(chosen));
    CHECK(std::string(name(choose_path(lines, true))) == name(with_workspace));
    CHECK(takes(chosen, lines));
    CHECK(takes(with_workspace, lines));
}
void expect(const char* what, const Layout& layout, const Dims& dims, const std::set<P>& takers,
            P chosen) {
    expect(what, layout, dims, takers, chosen, chosen);
}

const std::set<P> kOneWalk = {P::one_thread, P::walk, P::shared_tree, P::warp};
std::set<P> one_walk_and(std::set<P> more) {
    more.insert(kOneWalk.begin(), kOneWalk.end());
    return more;
}

// The tile kernels of sum and argmax, on integers, so that a sum has no rounding.
void check_promise(const Layout& in, int dim, std::int64_t lead = 0) {
    CAPTURE(to_string(in), dim, lead);
    const Tensor<float> x = seeded_integers<float>(in.shape, 21, -90, 99);
    const DeviceIn<float> device(x, in, Lead{lead});
    const Shape rest = without(in.shape, dim);
    HostOut<float> sum(rest);
    HostOut<std::int64_t> where(rest);
    reduce_cpu(Reduction::sum, x.view(), {dim}, sum.view());
    argmax_cpu(x.view(), dim, where.view());
    DeviceOut<float> got_sum(rest);
    DeviceOut<std::int64_t> got_where(rest);
    reduce_cuda(Reduction::sum, device.view(), {dim}, got_sum.view(), {.path = ReducePath::tile});
    argmax_cuda(device.view(), dim, got_where.view(), {.path = ArgmaxPath::tile});
    CHECK(got_sum.matches(sum));
    CHECK(got_where.matches(where));
}

TEST_CASE("tile kernels assume whole float4s only where every condition holds",
          "[day04][argmax][reduce][conditions][small]") {
    if (!gpu::has_tile()) {
        SUCCEED("this nvcc compiles no tiles");
        return;
    }
    // The emulator reports a false guarantee. A float4 is one element short, or two.
    for (const std::int64_t off : {0, 1, 2}) {
        // Contiguous lines.
        check_promise(Layout({2, 3, 260}, {1056, 264, 1}), 2, off);
        check_promise(Layout({2, 3, 260}, {1056 + off, 264, 1}), 2);
        check_promise(Layout({2, 3, 260}, {1056, 264 + off, 1}), 2);
        check_promise(Layout({2, 3, 260 + off}, {1056, 264, 1}), 2);
        check_promise(Layout({2, 3, 260}, {2376, 792, 1 + off}), 2);
        // Adjacent lines, more of them than in a tile.
        check_promise(Layout({2, 5, 68}, {360, 72, 1}), 1, off);
        check_promise(Layout({2, 5, 68}, {360 + off, 72, 1}), 1);
        check_promise(Layout({2, 5, 68}, {720, 72 + off, 1}), 1);
        check_promise(Layout({2, 5, 68 + off}, {360, 72, 1}), 1);
        check_promise(Layout({2, 5, 68}, {1440, 288, 1 + off}), 1);
    }
}

TEST_CASE("each path rejects lines that violate a single one of its conditions",
          "[day04][argmax][reduce][conditions][small]") {
    const std::int64_t most = kLongestLine;
    // Contiguous, packed one after another, short: everything but 'strided'.
    const std::set<P> along = one_walk_and({P::vectorized, P::split}),
                      short_ones = one_walk_and({P::vectorized, P::split, P::short_lines}),
                      side_by_side = one_walk_and({P::strided});
    expect("all hold", row_major({100, 17}), {1}, short_ones, P::short_lines);
    expect("one line", row_major({1, 17}), {1}, short_ones, P::short_lines);
    expect("80 elements", row_major({100, 80}), {1}, short_ones, P::vectorized);
    expect("79 elements", row_major({100, 79}), {1}, short_ones, P::short_lines);
    expect("81 elements", row_major({100, 81}), {1}, along, P::vectorized);
    expect("gaps between lines", Layout({100, 17}, {18, 1}), {1}, along, P::vectorized);
    expect("lines that overlap", Layout({100, 17}, {16, 1}), {1}, along, P::vectorized);
    expect("lines in two dimensions", Layout({10, 10, 17}, {171, 17, 1}), {2}, along,
           P::vectorized);
    expect("last line first", flip(row_major({100, 17}), 0).layout, {1}, along, P::vectorized);
    expect("1,024 lines", row_major({1024, 100}), {1}, along, P::vectorized);
    expect("1,025 lines", row_major({1025, 100}), {1}, one_walk_and({P::vectorized}),
           P::vectorized);
    // A stride other than 1, and adjacent lines.
    expect("stride 2", Layout({100, 17}, {34, 2}), {1}, kOneWalk, P::warp);
    expect("backwards", flip(row_major({100, 17}), 1).layout, {1}, kOneWalk, P::warp);
    expect("side by side", row_major({17, 32}), {0}, side_by_side, P::strided);
    expect("31 side by side", row_major({17, 31}), {0}, side_by_side, P::warp);
    expect("every other one", Layout({17, 32}, {64, 2}), {0}, kOneWalk, P::warp);
    expect("one line across", row_major({17, 1}), {0}, short_ones, P::short_lines);
    expect("one line, stride 2", Layout({17, 1}, {2, 1}), {0}, kOneWalk, P::warp);
    // Two strided runs: only the naive kernel.
    expect("two walks", row_major({40, 3, 40}), {0, 2}, {P::one_thread}, P::one_thread);
    expect("two that are one", row_major({3, 40, 40}), {1, 2}, along, P::vectorized);
    // The longest line that steps can count in 32 bits, and one longer.
    const std::set<P> one_thread = {P::one_thread};
    expect("2^32 - 65536", row_major({1, most}), {1}, along, P::vectorized, P::split);
    expect("one more", row_major({1, most + 1}), {1}, one_thread, P::one_thread);
    expect("2^32 - 65536 across", row_major({most, 40}), {0}, side_by_side, P::strided);
    expect("one more across", row_major({most + 1, 40}), {0}, one_thread, P::one_thread);
}

TEST_CASE("a single violated condition changes the choice of path",
          "[day04][argmax][reduce][conditions][small]") {
    const auto chosen = [](const Layout& layout, int dim, bool workspace = false,
                           int multiprocessors = 132) {
        return std::string(
            name(choose_path(lines_along(layout, {dim}), workspace, multiprocessors)));
    };
    const auto is = [](P path) { return std::string(name(path)); };
    // Lines of at least 64 elements in whole float4s are not short lines: both length and multiple
    // count.
    CHECK(chosen(row_major({100, 64}), 1) == is(P::vectorized));
    CHECK(chosen(row_major({100, 60}), 1) == is(P::short_lines));
    CHECK(chosen(row_major({100, 65}), 1) == is(P::short_lines));
    CHECK(chosen(row_major({100, 66}), 1) == is(P::short_lines));
    CHECK(chosen(row_major({100, 63}), 1) == is(P::short_lines));
    CHECK(chosen(row_major({100, 76}), 1) == is(P::vectorized));
    // Few enough lines, long enough, and memory for their partial results.
    CHECK(chosen(row_major({263, 8192}), 1, true) == is(P::split));
    CHECK(chosen(row_major({264, 8192}), 1, true) == is(P::vectorized));
    CHECK(chosen(row_major({263, 8191}), 1, true) == is(P::vectorized));
    CHECK(chosen(row_major({263, 8192}), 1, false) == is(P::vectorized));
    CHECK(chosen(Layout({263, 8192}, {8193, 1}), 1, true) == is(P::split));
    CHECK(chosen(Layout({263, 8192}, {16384, 2}), 1, true) == is(P::warp));
    // What counts as few depends on the device; the chosen path supports the lines on each.
    for (const int multiprocessors : {1, 2, 46, 84, 132, 188, 1000}) {
        const std::int64_t most = std::min(2 * multiprocessors - 1, 1024);
        CAPTURE(multiprocessors);
        CHECK(chosen(row_major({most, 8192}), 1, true, multiprocessors) == is(P::split));
        CHECK(chosen(row_major({most + 1, 8192}), 1, true, multiprocessors) == is(P::vectorized));
        CHECK_NOTHROW(require_path("test", P::split, lines_along(row_major({most, 8192}), {1})));
    }
    // A line that would leave half of a warp idle, contiguous and across.
    CHECK(chosen(Layout({100, 16}, {18, 1}), 1) == is(P::vectorized));
    CHECK(chosen(Layout({100, 15}, {18, 1}), 1) == is(P::walk));
    CHECK(chosen(Layout({100, 16}, {36, 2}), 1) == is(P::warp));
    CHECK(chosen(Layout({100, 15}, {36, 2}), 1) == is(P::walk));
    CHECK(chosen(row_major({16, 32}), 0) == is(P::strided));
    CHECK(chosen(row_major({15, 32}), 0) == is(P::walk));
    // Lines of one element, and of none.
    CHECK(chosen(row_major({100, 1}), 1) == is(P::walk));
    CHECK(chosen(row_major({1, 1}), 1) == is(P::walk));
    CHECK(chosen(row_major({100, 0}), 1) == is(P::one_thread));
    CHECK(chosen(row_major({100, 0}), 1, true) == is(P::one_thread));
    // Blocks that share a line: 1,024 elements each, 1,024 blocks in all.
    const auto parts = [](std::int64_t lines, std::int64_t length) {
        return parts_of(lines_along(row_major({lines, length}), {1}));
    };
    CHECK(parts(1, 1) == 1);
    CHECK(parts(1, 1024) == 1);
    CHECK(parts(1, 1025) == 2);
    CHECK(parts(1, 1024 * 1024) == 1024);
    CHECK(parts(1, 1024 * 1024 + 1) == 1024);
    CHECK(parts(2, 1024 * 1024) == 512);
    CHECK(parts(3, 1 << 20) == 341);
    CHECK(parts(512, 4096) == 2);
    CHECK(parts(513, 4096) == 1);
    CHECK(parts(1024, 4096) == 1);
}

// Rows of `columns`, `pitch` apart, beginning `lead` elements past a multiple of 16 bytes.
void check_across(std::int64_t columns, std::int64_t pitch, std::int64_t lead) {
    CAPTURE(columns, pitch, lead);
    const Layout layout({3, 20, columns}, {20 * pitch + (lead == 9), pitch, 1});
    const Tensor<float> x = seeded_integers<float>(layout.shape, 6, 0, 40);
    check_all(x, layout, 1, row_major({3, columns}), lead % 9);
    // Another order of out's dimensions, and gaps in it.
    check_all(x, layout, 1, Layout({3, columns}, {1, 5}), lead % 9);
}

TEST_CASE("adjacent lines are read as float4s only if every condition holds",
          "[day04][argmax][conditions][kernels][small]") {
    check_across(128, 128, 0);
    check_across(132, 136, 0);
    check_across(127, 128, 0);  // fewer than 128
    check_across(130, 132, 0);  // not whole float4s
    check_across(128, 130, 0);  // pitch
    check_across(128, 129, 0);
    check_across(128, 128, 1);  // address
    check_across(128, 128, 2);
    check_across(128, 128, 9);  // strides of the stack
    check_across(300, 300, 0);
    check_across(301, 304, 3);
}

TEST_CASE("paths equal the CPU reference on the most and the longest lines that they support",
          "[day04][argmax][conditions][kernels][small]") {
    for (const std::int64_t n : {64, 65, 144, 145, 256, 257, 512, 513}) {
        check_all(seeded_integers<float>({2, n}, 17, 0, 200), 1, 1);
    }
    for (const std::int64_t n : {1, 16, 32, 48, 64, 79, 80}) {
        check_all(seeded_integers<float>({130, n}, 18, 0, 9), 1, n % 4);
    }
    check_all(seeded_integers<float>({1024, 5}, 19, 0, 4), 1);  // one block of 'split' per line
    // A NaN in the middle of every line, next to a larger number, contiguous and across.
    for (const int dim : {0, 1}) {
        Tensor<float> x = seeded_integers<float>({40, 40}, 20, 0, 9);
        for (std::int64_t i = 0; i < 40; ++i) {
            (dim == 1 ? x(i, 17) : x(17, i)) = std::nanf("");
            (dim == 1 ? x(i, 30) : x(30, i)) = INFINITY;
        }
        check_all(x, dim);
        check_all(x, row_major(x.shape()), dim, row_major(Shape{40}), 0, false);
    }
}

}  // namespace
