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
#include "day03_views/copy.hpp"
#include "day03_views/steps/steps.hpp"
#include "day03_views/timed_move.hpp"
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

// --- 4 -------------------------------------------------------------------------------------------

// A layout to copy from, to a row-major tensor of its shape, small and large.
struct CopyCase {
    const char* version;
    Layout small, large;
    Kind kind = kFloat;
    bool only_bench = false;
};

Layout permuted(const Shape& shape, const Dims& order) {
    return permute(row_major(shape), order);
}

std::vector<CopyCase> copy_cases() {
    const std::int64_t K = 1024, k = 64;
    const auto pick = [](const Shape& shape, std::int64_t begin, std::int64_t end) {
        return slice(row_major(shape), 1, begin, end).layout;
    };
    return {
        {"contiguous", row_major({k, 40}), row_major({8 * K, 8 * K})},
        {"heads", permuted({2, 16, 3, 64}, {0, 2, 1, 3}), permuted({64, K, 12, 64}, {0, 2, 1, 3})},
        {"heads, bf16", permuted({2, 16, 3, 64}, {0, 2, 1, 3}),
         permuted({64, K, 12, 64}, {0, 2, 1, 3}), kBf16, true},
        {"heads back", permuted({2, 3, 16, 64}, {0, 2, 1, 3}),
         permuted({64, 12, K, 64}, {0, 2, 1, 3}), kFloat, true},
        {"half of the columns", pick({9, 128}, 16, 80), pick({8 * K, 8 * K}, K, 5 * K)},
        {"columns, unaligned", pick({9, 128}, 17, 80), pick({8 * K, 8 * K}, 1001, 5001)},
        {"rows backwards", flip(row_major({9, 64}), 0).layout,
         flip(row_major({8 * K, 8 * K}), 0).layout},
        {"columns backwards", flip(row_major({9, 64}), 1).layout,
         flip(row_major({8 * K, 8 * K}), 1).layout},
        {"a row repeated", Layout({40, 48}, {0, 1}), Layout({8 * K, 8 * K}, {0, 1})},
        {"a column repeated", Layout({40, 48}, {1, 0}), Layout({8 * K, 8 * K}, {1, 0})},
        {"one value", Layout({40, 48}, {0, 0}), Layout({8 * K, 8 * K}, {0, 0})},
        {"transpose", column_major({65, 48}), column_major({8 * K, 8 * K})},
        {"transpose, bf16", column_major({72, 48}), column_major({8 * K, 8 * K}), kBf16},
        {"transpose, uint8", column_major({80, 48}), column_major({8 * K, 8 * K}), kUint8},
        {"transpose, odd", column_major({65, 47}), column_major({8193, 8191}), kFloat, true},
        {"transpose of heads", permuted({2, 3, 40, 64}, {0, 1, 3, 2}),
         permuted({64, 12, K, 64}, {0, 1, 3, 2}), kFloat, true},
        {"channels last", permuted({3, 10, 20}, {1, 2, 0}), permuted({3, K, K, 16}, {1, 2, 3, 0})},
        {"channels first", permuted({3, 200, 16}, {0, 2, 1}), permuted({3, K * K, 16}, {0, 2, 1}),
         kFloat, true},
        {"7 columns, turned", permuted({100, 7}, {1, 0}), permuted({K * K, 7}, {1, 0}), kFloat,
         true},
        {"17 columns, turned", permuted({100, 17}, {1, 0}), permuted({64 * K, 17}, {1, 0})},
        {"17 rows, turned", permuted({17, 100}, {1, 0}), permuted({17, 64 * K}, {1, 0}), kFloat,
         true},
        {"every other column", slice(row_major({9, 64}), 1, 0, 64, 2).layout,
         slice(row_major({8 * K, 8 * K}), 1, 0, 8 * K, 2).layout, kFloat, true},
    };
}

std::string path_of(const Kind& kind, const Layout& in) {
    // Addresses as cudaMalloc gives them: multiples of 256. The numbers are looked at, nothing
    // else.
    alignas(256) static char somewhere[512];
    const char* const first = origin(somewhere + 256, in, kind.element);
    const BytesIn from{first, kind.element, in};
    const BytesOut to{somewhere, kind.element, row_major(in.shape)};
    const CopyPlan plan = plan_copy(from, to);
    return std::string(name(plan.path)) + ", " + std::to_string(plan.out.element) + " bytes";
}

void copies(lesson::Report& report, bool bench) {
    report.heading("4. copy takes the path that the two layouts ask for; out is row-major");
    const Move port = [](const BytesIn& in, const BytesOut& out) { copy_bytes_cuda(in, out); };
    if (!bench) {
        std::printf("   in                          shape          strides            path\n");
    }
    for (const CopyCase& c : copy_cases()) {
        const Shapes small{c.small, row_major(c.small.shape)};
        if (!bench && !c.only_bench) {
            char line[128];
            std::snprintf(line, sizeof line, "%-20s %-14s %-18s %s", c.version,
                          to_string(c.small.shape).c_str(), to_string(c.small.strides).c_str(),
                          path_of(c.kind, c.small).c_str());
            report.check(equals_loop(c.kind, small, copy_bytes_cpu, port), line);
        }
        if (!bench) continue;
        lesson::Version v;
        v.op = "copy";
        v.version = c.version;
        v.path = path_of(c.kind, c.large);
        const Layout large = c.large;
        report_move(report, v, c.kind, small, {large, row_major(large.shape)}, copy_bytes_cpu, port,
                    [large](const Index& i) { return offset(large, i); });
    }
    if (bench) return;
    report.note(
        "straight: one run of memory. rows: runs in common, in pieces of so many bytes. tiles: in "
        "runs\n   along another dim, a transpose. short rows: the same where one dim is short. "
        "splat: one\n   element fills a run. general: element by element.");
}

// --- 5 -------------------------------------------------------------------------------------------

void ladder(lesson::Report& report, bool bench) {
    report.heading("5. A matrix written as its transpose, in seven kernels");
    const auto floats = [](auto step) {
        return [step](const BytesIn& in, const BytesOut& out) {
            step(in.as<float>(), out.as<float>(), nullptr);
        };
    };
    const auto any = [](auto step) {
        return [step](const BytesIn& in, const BytesOut& out) { step(in, out, nullptr); };
    };
    const struct {
        const char* version;
        Move move;
        std::vector<Kind> kinds;
    } steps[] = {
        {"read coalesced", floats(transpose_read_coalesced), {kFloat}},
        {"write coalesced", floats(transpose_write_coalesced), {kFloat}},
        {"shared tile", floats(transpose_shared_tile), {kFloat}},
        {"padded tile", floats(transpose_padded), {kFloat}},
        {"in flight", any(transpose_in_flight), {kFloat, kBf16, kUint8}},
        {"16 bytes", floats(transpose_sixteen_bytes), {kFloat}},
        {"packed bytes", any(transpose_packed_bytes), {kBf16, kUint8}},
    };
    const auto shapes = [](std::int64_t M, std::int64_t N) {
        return Shapes{row_major({M, N}), row_major({N, M})};
    };
    const auto run = [&](const char* version, const Kind& kind, const Move& move, std::int64_t M,
                         std::int64_t N, const char* path) {
        lesson::Version v;
        v.op = "transpose";
        v.version = version;
        v.path = path;
        report_move(report, v, kind, shapes(144, 208), shapes(M, N), transpose_bytes_cpu, move,
                    [M, N](const Index& i) { return i[1] * N + i[0] + 0 * M; });
    };
    const std::int64_t side = bench ? 8192 : 4096;
    for (const auto& step : steps) {
        for (const Kind& kind : step.kinds) {
            run(step.version, kind, step.move, side, side, "");
            if (!bench) break;
            run(step.version, kind, step.move, 16384, 4096, "");
        }
    }
    if (!bench) return;
    for (const Kind& kind : {kFloat, kBf16, kUint8}) {
        run("in flight, odd rows", kind, any(transpose_in_flight), 8191, 8193, "");
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
