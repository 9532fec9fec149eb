// Day 03 as a run: every line that says "ok" was checked a moment before.
#include <algorithm>
#include <cstdio>
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
#include "day03_views/bench.hpp"
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

// What a view shows, in the order of its indices: "0 4 8 .."
std::string shown(const View<const float>& v, std::int64_t most) {
    std::string text;
    const std::int64_t n = v.size();
    for (std::int64_t k = 0; k < std::min(n, most); ++k) {
        text +=
            (k > 0 ? " " : "") + std::to_string(static_cast<int>(v(unravel(k, v.layout.shape))));
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
