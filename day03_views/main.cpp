// Day 03 as a run: every line that says "ok" was checked a moment before.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "common/lesson/options.hpp"
#include "common/lesson/report.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/bench/bench.hpp"
#include "day03_views/combine.hpp"
#include "day03_views/combine_fill.hpp"
#include "day03_views/copy.hpp"
#include "day03_views/steps/steps.hpp"
#include "day03_views/transpose.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;

namespace {

const char* const kTitle = "Day 03, views";
const char* const kWhat =
    "A view is a pointer and a layout over memory that somebody else owns; transforms copy "
    "nothing.";

// --- 1 -------------------------------------------------------------------------------------------

// x (2, 3, 4) holds its own offsets, so an element says where it lies.
Tensor<float> offsets_as_values() {
    Tensor<float> x({2, 3, 4});
    for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i);
    return x;
}

// What a view shows, in the order of its indices: "0 4 8 ..", and "-" for a NaN.
std::string shown(const View<const float>& v, std::int64_t most) {
    std::string text;
    const std::int64_t n = v.size();
    for (std::int64_t k = 0; k < std::min(n, most); ++k) {
        const float x = v(unravel(k, v.layout.shape));
        text += (k > 0 ? " " : "") + (x != x ? "-" : std::to_string(static_cast<int>(x)));
    }
    return text + (n > most ? " .." : "");
}

void transforms_copy_nothing(lesson::Report& report) {
    report.heading("1. A transform changes a few numbers and no element");
    const Tensor<float> x = offsets_as_values();
    const View<const float> v = x.view();
    const Tensor<float> bias({4}, {0, 1, 2, 3});
    std::printf("   x (2, 3, 4) holds 0, 1, 2, .. 23: each element its own offset.\n\n");
    std::printf("   %-29s %-13s %-13s %5s  %s\n", "", "shape", "strides", "first", "elements");
    const struct {
        const char* what;
        View<const float> view;
        const char* elements;  // by hand
    } rows[] = {
        {"x", v, "0 1 2 3 4 5 6 .."},
        {"slice(x, 1, 1, 3)", slice(v, 1, 1, 3), "4 5 6 7 8 9 10 .."},
        {"slice(x, 2, 0, 4, 2)", slice(v, 2, 0, 4, 2), "0 2 4 6 8 10 12 .."},
        {"select(x, 1, 2)", select(v, 1, 2), "8 9 10 11 20 21 22 .."},
        {"transpose(x)", transpose(v), "0 4 8 1 5 9 2 .."},
        {"permute(x, {2, 0, 1})", permute(v, {2, 0, 1}), "0 4 8 12 16 20 1 .."},
        {"flip(x, 2)", flip(v, 2), "3 2 1 0 7 6 5 .."},
        {"reshape(x, {6, 4})", reshape(v, {6, 4}), "0 1 2 3 4 5 6 .."},
        {"unsqueeze(x, 0)", unsqueeze(v, 0), "0 1 2 3 4 5 6 .."},
        {"tile(x, {1, 2, 3}, {1, 1, 1})", tile(v, {1, 2, 3}, {1, 1, 1}), "23"},
        {"windows(x, 2, 3, 1)", windows(v, 2, 3, 1), "0 1 2 1 2 3 4 .."},
        {"broadcast_to(bias, {2, 4})", broadcast_to(bias.view(), {2, 4}), "0 1 2 3 0 1 2 .."},
    };
    bool ok = true;
    for (const auto& row : rows) {
        const float* const base =
            row.view.layout.rank() == 2 && row.view.layout.stride(0) == 0 ? bias.data() : x.data();
        const std::string elements = shown(row.view, 7);
        ok &= elements == row.elements;
        std::printf("   %-29s %-13s %-13s %5lld  %s\n", row.what,
                    to_string(row.view.layout.shape).c_str(),
                    to_string(row.view.layout.strides).c_str(),
                    static_cast<long long>(row.view.data - base), elements.c_str());
    }
    std::printf("\n");
    report.check(ok, "the elements are those that were worked out by hand; `first` is how far the");
    std::printf(
        "          pointer moved. The last tile of three is ragged: one element is left.\n");
    report.check(equivalent(transpose(transpose(v)).layout, v.layout),
                 "transposed twice is x again: the same numbers");
}

// --- 2 -------------------------------------------------------------------------------------------

// The sentence with which `call` is refused, "" if it is not.
std::string refused(const std::function<void()>& call) {
    try {
        call();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

void what_reshape_refuses(lesson::Report& report) {
    report.heading("2. A reshape is a view only where one stride can walk each new dim");
    const Tensor<float> x = offsets_as_values();
    const View<const float> v = x.view();
    report.check(!reshape_would_copy(v.layout, {2, 12}), "x (2, 3, 4) as (2, 12): a view");
    report.check(!reshape_would_copy(slice(v, 1, 0, 2).layout, {2, 8}),
                 "its slice (2, 2, 4) as (2, 8): a view, for rows 0 and 1 are neighbours");
    report.check(reshape_would_copy(slice(v, 1, 0, 2).layout, {16}),
                 "the same as (16): no, behind row 1 there is a gap");
    const std::string why = refused([&] { (void)reshape(transpose(v), {24}); });
    report.check(!why.empty(), "transpose(x) as (24): no. It says:");
    std::printf("          %s\n", why.c_str());
    Tensor<float> room({2, 4, 3});
    const View<const float> copy = contiguous_cpu(transpose(v), room.view());
    report.check(shown(reshape(copy, {24}), 7) == "0 4 8 1 5 9 2 ..",
                 "after contiguous(): " + shown(reshape(copy, {24}), 7));
    report.check(contiguous_cpu(v, Tensor<float>({2, 3, 4}).view()).data == v.data,
                 "contiguous(x) is x itself, the same pointer: nothing was copied");
}

// --- 3 -------------------------------------------------------------------------------------------

void copy_view_in_place(lesson::Report& report) {
    report.heading("3. Three contracts: a view, a copy, in place");
    Tensor<float> x = offsets_as_values();
    Tensor<float> copied({3, 4});
    const View<float> matrix = select(x.view(), 0, 0);
    copy_cpu(matrix, copied.view());
    row(matrix, 1)(2) = 100;
    report.check(x(0, 1, 2) == 100 && copied(1, 2) == 6,
                 "written through a view of a view: x(0, 1, 2) is 100; the copy still has 6");
    const Tensor<float> three({4}, {-1, -2, -3, -4});
    copy_cpu(three.view(), row(matrix, 2));
    report.check(x(0, 2, 3) == -4, "a row is assigned by copying to a view of it");
    const View<float> square = slice(matrix, 1, 0, 3);
    const struct {
        const char* what;
        std::function<void()> call;
    } refusals[] = {
        {"A = A^T in place", [&] { copy_cpu(transpose(square), square); }},
        {"all rows one row further", [&] { copy_cpu(rows(matrix, 0, 2), rows(matrix, 1, 3)); }},
        {"writing to a broadcast",
         [&] {
             copy_cpu(matrix, broadcast_to(row(matrix, 0), {3, 4}));
         }},
        {"a slice past the end", [&] { (void)slice(matrix, 1, 2, 5); }},
    };
    for (const auto& refusal : refusals) {
        const std::string why = refused(refusal.call);
        report.check(!why.empty(), std::string(refusal.what) + ":");
        std::printf("          %s\n", why.c_str());
    }
    const View<float> none = slice(matrix, 1, 4, 4);
    copy_cpu(none, none);
    report.check(
        none.size() == 0 && none.data == matrix.data,
        "an empty slice " + to_string(none.layout.shape) + " is fine, and nothing happens");
}

// --- 6 -------------------------------------------------------------------------------------------

struct Inputs {
    View<const float> x, row, column;
    View<const std::uint8_t> mask;
};

struct Combination {
    const char* what;
    Shape shape;           // of out
    const char* elements;  // by hand
    void (*loop)(const Inputs& in, View<float> out);
    void (*port)(const Inputs& in, View<float> out);
};

const Combination combinations_by_hand[] = {
    {"x + row",
     {2, 3},
     "11 22 33 14 25 36",
     [](const Inputs& in, View<float> out) { add_broadcast_cpu(in.x, in.row, out); },
     [](const Inputs& in, View<float> out) { add_broadcast_cuda(in.x, in.row, out); }},
    {"x + column",
     {2, 3},
     "101 102 103 204 205 206",
     [](const Inputs& in, View<float> out) { add_broadcast_cpu(in.x, in.column, out); },
     [](const Inputs& in, View<float> out) { add_broadcast_cuda(in.x, in.column, out); }},
    {"where(mask, x, row)",
     {2, 3},
     "1 20 3 4 20 6",
     [](const Inputs& in, View<float> out) { where_cpu(in.mask, in.x, in.row, out); },
     [](const Inputs& in, View<float> out) { where_cuda(in.mask, in.x, in.row, out); }},
    {"concat({x, column}, 1)",
     {2, 4},
     "1 2 3 100 4 5 6 200",
     [](const Inputs& in, View<float> out) {
         concat_cpu({in.x, in.column}, 1, out);
     },
     [](const Inputs& in, View<float> out) {
         concat_cuda({in.x, in.column}, 1, out);
     }},
    {"fill(7), every other column",
     {2, 4},
     "7 - 7 - 7 - 7 -",
     [](const Inputs&, View<float> out) { fill_cpu(7, slice(out, 1, 0, 4, 2)); },
     [](const Inputs&, View<float> out) { fill_cuda(7, slice(out, 1, 0, 4, 2)); }},
};

void several_tensors(lesson::Report& report) {
    report.heading("6. What several tensors make: loop, port and a pencil agree");
    std::printf("   x (2, 3) holds 1 2 3 4 5 6; row (3) 10 20 30; column (2, 1) 100 200;\n");
    std::printf("   mask (3) 1 0 1. A - is a place that nobody writes.\n\n");
    const Tensor<float> x({2, 3}, {1, 2, 3, 4, 5, 6}), row({3}, {10, 20, 30});
    const Tensor<float> column({2, 1}, {100, 200});
    const Tensor<std::uint8_t> mask({3}, {1, 0, 1});
    const gpu::Buffer<float> dx(x), drow(row), dcolumn(column);
    const gpu::Buffer<std::uint8_t> dmask(mask);
    const Inputs host{x.view(), row.view(), column.view(), mask.view()};
    const Inputs device{dx.view({2, 3}), drow.view({3}), dcolumn.view({2, 1}), dmask.view({3})};
    for (const Combination& c : combinations_by_hand) {
        Tensor<float> want(c.shape);
        gpu::Buffer<float> out(want.size());
        const auto bytes = static_cast<std::size_t>(want.size()) * sizeof(float);
        std::memset(want.data(), 0xff, bytes);  // NaN in every element
        out.fill_bytes(0xff);
        c.loop(host, want.view());
        c.port(device, out.view(c.shape));
        const bool same = std::memcmp(out.download().data(), want.data(), bytes) == 0;
        const std::string elements = shown(want.view(), want.size());
        char line[96];
        std::snprintf(line, sizeof line, "%-30s %-7s %s", c.what, to_string(c.shape).c_str(),
                      elements.c_str());
        report.check(same && elements == c.elements, line);
    }
}

// --- what the warps touch, for --trace -----------------------------------------------------------

void trace() {
    const std::int64_t n = 64;
    gpu::Buffer<float> a(n * n), b(n * n);
    a.fill_bytes(0x3f);
    const Layout square = row_major({n, n});
    const BytesIn in = bytes_in(a.view(square));
    const BytesOut out = bytes_out(b.view(square));
    const auto step = [&](const char* title, auto move) {
        lesson::trace(title, [&] { move(in.as<float>(), out.as<float>(), nullptr); });
    };
    step("transpose of 64 x 64 floats, reads coalesced", transpose_read_coalesced);
    step("writes coalesced", transpose_write_coalesced);
    step("shared tile", transpose_shared_tile);
    step("padded tile", transpose_padded);
    lesson::trace("64 bytes of a thread under way", [&] { transpose_in_flight(in, out); });
    step("16 bytes a load and a store", transpose_sixteen_bytes);
    lesson::trace("the same bytes as a matrix of 128 x 128 bytes, packed", [&] {
        transpose_packed_bytes({in.data, 1, row_major({2 * n, 2 * n})},
                               {out.data, 1, row_major({2 * n, 2 * n})});
    });
    const std::int64_t M = 1025, N = 63;
    gpu::Buffer<float> odd(M * N), turned(M * N);
    odd.fill_bytes(0x3f);
    const BytesIn rows_anywhere = bytes_in(odd.view({M, N}));
    const BytesOut columns_anywhere = bytes_out(turned.view({N, M}));
    lesson::trace("1,025 x 63 floats, 64 bytes of a thread under way",
                  [&] { transpose_in_flight(rows_anywhere, columns_anywhere); });
    lesson::trace("1,025 x 63 floats, whole sectors",
                  [&] { transpose_whole_sectors(rows_anywhere, columns_anywhere); });
    lesson::trace("copy, rows of 32 floats, 64 apart", [&] {
        copy_cuda(columns(a.view(square), 0, 32), b.view({n, 32}));
    });
    lesson::trace("copy, 1,344 x 3 to 3 x 1,344", [&] {
        copy_cuda(transpose(a.view({1344, 3})), b.view({3, 1344}));
    });
}

int lesson_of_the_day(const lesson::Options& options) {
    if (options.trace) {
        trace();
        return 0;
    }
    lesson::Report report(kTitle, kWhat, options);
    if (options.bench) {
        ladder(report, true);
        copies(report, true);
        combinations(report);
        return report.finish("");
    }
    transforms_copy_nothing(report);
    what_reshape_refuses(report);
    copy_view_in_place(report);
    copies(report, false);
    ladder(report, false);
    several_tensors(report);
    return report.finish(
        "take the + 1 out of steps/04_padded.cu and run with --trace; then the __syncthreads().");
}

}  // namespace

int main(int argc, char** argv) {
    int status = 0;
    const auto options = lesson::parse(argc, argv, std::string(kTitle) + ". " + kWhat, {}, status);
    if (!options) return status;
    try {
        return lesson_of_the_day(*options);
    } catch (const std::exception& error) {
        std::fflush(stdout);
        std::fprintf(stderr, "\n%s\n", error.what());
        return 1;
    }
}
