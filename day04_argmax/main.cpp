// The lesson program of Day 04: every line marked "ok" has just been checked.
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "common/lesson/lesson.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/transform.hpp"
#include "day04_argmax/argmax.hpp"
#include "day04_argmax/bench/bench.hpp"
#include "day04_argmax/run/versions.hpp"

using namespace sixdays;
using namespace sixdays::day04_argmax;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

template <class T>
std::string shown(const Tensor<T>& x) {
    std::string text;
    const std::int64_t row = x.shape().rank > 0 ? x.shape()[x.shape().rank - 1] : 1;
    for (std::int64_t k = 0; k < x.size(); ++k) {
        char number[32];
        std::snprintf(number, sizeof number, "%s%g",
                      k == 0         ? ""
                      : k % row == 0 ? " / "
                                     : " ",
                      static_cast<double>(x.data()[k]));
        text += number;
    }
    return text;
}

// argmax by CPU reference and kernel; both must equal the result worked out by hand.
bool gives(const Tensor<float>& x, int dim, const std::string& by_hand, std::string* said) {
    const Lines lines = lines_of("argmax", x.view(), {dim});
    Tensor<std::int64_t> want(lines.first.layout.shape);
    argmax_cpu(x.view(), dim, want.view());
    const gpu::Buffer<float> in(x);
    gpu::Buffer<std::int64_t> got(want.size());
    got.fill_bytes(0xff);
    argmax_cuda(in.view(x.shape()), dim, got.view(want.shape()));
    *said = shown(want);
    return *said == by_hand && lesson::same(got, want);
}

void along_every_dim(lesson::Report& report) {
    report.heading("1. One tensor, argmax along each of its dimensions");
    const Tensor<float> x({2, 3, 4}, {35, 21, 24, 11, 8,  48, 39, 48, 10, 42, 20, 16,  //
                                      16, 37, 6,  46, 40, 44, 44, 47, 31, 7,  40, 10});
    std::printf("   x[0] = 35 21 24 11    x[1] = 16 37  6 46\n");
    std::printf("           8 48 39 48           40 44 44 47\n");
    std::printf("          10 42 20 16           31  7 40 10\n\n");
    const struct {
        int dim;
        const char *shape, *by_hand;
    } rows[] = {{0, "(3, 4)", "0 1 0 1 / 1 0 1 0 / 1 0 1 0"},
                {1, "(2, 4)", "0 1 1 1 / 1 1 1 1"},
                {2, "(2, 3)", "0 1 1 / 3 3 2"}};
    std::string said;
    for (const auto& row : rows) {
        const bool ok = gives(x, row.dim, row.by_hand, &said);
        report.check(ok, "dim " + std::to_string(row.dim) + ", shape " + row.shape + ": " + said);
    }
    const bool same = gives(x, -1, rows[2].by_hand, &said);
    report.check(same, "dim -1 is dim 2. If the largest element occurs twice in a line, argmax");
    std::printf("          returns the first index: 8 48 39 48 gives 1.\n");
}

void a_line_for_each_output(lesson::Report& report) {
    report.heading("2. Each output has a line: its start offset and its stride");
    const Tensor<float> x({2, 3, 4, 5, 6});
    const Lines lines = lines_of("argmax", x.view(), {2});
    std::printf("   x (2, 3, 4, 5, 6) has strides %s. argmax over dim 2\n",
                to_string(x.view().layout.strides).c_str());
    std::printf("   leaves (2, 3, 5, 6): %lld outputs, one thread each. A line has\n",
                static_cast<long long>(lines.count()));
    std::printf("   %lld elements with stride %lld.\n\n", static_cast<long long>(lines.length()),
                static_cast<long long>(lines.stride()));
    const Layout weights = unsqueeze(row_major(lines.first.layout.shape), 2);  // 0 for dim 2
    std::printf("   Weights %s: the thread of output (i, j, k, l) is\n",
                to_string(weights.strides).c_str());
    std::printf("   90 i + 30 j + 6 k + l, and its line begins at 360 i + 120 j + 6 k + l.\n\n");
    std::printf("   thread   output          the line's offsets\n");
    const struct {
        std::int64_t thread, begin;  // by hand
    } rows[] = {{0, 0}, {42, 132}, {89, 269}, {90, 360}, {179, 629}};
    bool ok = weights.strides == Strides{90, 30, 0, 6, 1};
    for (const auto& row : rows) {
        const Index at = unravel(row.thread, lines.first.layout.shape);
        const std::int64_t begin = offset(lines.first.layout, at);
        ok &= begin == row.begin;
        std::printf("   %6lld   %-13s ", static_cast<long long>(row.thread), to_string(at).c_str());
        for (std::int64_t i = 0; i < lines.length(); ++i) {
            std::printf(" %4lld", static_cast<long long>(begin + i * lines.stride()));
        }
        std::printf("\n");
    }
    std::printf("\n");
    report.check(ok,
                 "by hand: thread 42 has output (0, 1, 2, 0), whose line begins at 120 + 2 * 6");
}

void ties_and_nan(lesson::Report& report) {
    report.heading("3. Ties, signed zeros and NaN");
    const float lowest = std::numeric_limits<float>::lowest();
    const struct {
        Tensor<float> line;
        const char *by_hand, *why;
    } rows[] = {
        {Tensor<float>({4}, {8, 48, 39, 48}), "1", "equal: the first one"},
        {Tensor<float>({2}, {-0.0f, 0.0f}), "0", "-0 equals +0"},
        {Tensor<float>({4}, {1, kNaN, kInf, kNaN}), "1", "the first NaN beats all numbers"},
        {Tensor<float>({3}, {-kInf, -kInf, -kInf}), "0", "all equal: the first one"},
        {Tensor<float>({2}, {-kInf, lowest}), "1", "the lowest float is above minus infinity"},
    };
    std::printf("          %-26s  index and reason\n", "elements");
    for (const auto& row : rows) {
        std::string said;
        const bool ok = gives(row.line, 0, row.by_hand, &said);
        char text[128];
        std::snprintf(text, sizeof text, "%-26s  %s  %s", shown(row.line).c_str(), said.c_str(),
                      row.why);
        report.check(ok, text);
    }
}

void a_path_for_each_layout(lesson::Report& report) {
    report.heading("4. argmax chooses the version by layout");
    const struct {
        const char* what;
        Layout layout;
        int dim;
        ArgmaxPath path;
    } rows[] = {
        {"rows of a matrix", row_major({4096, 50257}), 1, ArgmaxPath::vectorized},
        {"one long row", row_major({1, 50257}), 1, ArgmaxPath::split},
        {"short rows", row_major({1 << 20, 17}), 1, ArgmaxPath::short_lines},
        {"columns", row_major({4096, 4096}), 0, ArgmaxPath::strided},
        {"columns, transposed", column_major({4096, 4096}), 0, ArgmaxPath::vectorized},
        {"the middle dimension", row_major({64, 4096, 4096}), 1, ArgmaxPath::strided},
        {"rows backwards", flip(row_major({4096, 4096}), 1).layout, 1, ArgmaxPath::warp},
        {"three channels", row_major({3, 1024, 1024}), 0, ArgmaxPath::walk},
    };
    std::printf("   %-20s %-17s %-22s %-7s %s\n", "lines are", "shape", "strides", "reduced",
                "path");
    bool ok = true;
    for (const auto& row : rows) {
        const ArgmaxPath path = choose_argmax({nullptr, row.layout}, row.dim, true);
        ok &= path == row.path;
        std::printf("   %-20s %-17s %-22s dim %d   %s\n", row.what,
                    to_string(row.layout.shape).c_str(), to_string(row.layout.strides).c_str(),
                    row.dim, step_name(path).c_str());
    }
    std::printf(
        "\n   walk: one thread per line. warp: one warp per line. vectorized: 128-bit loads, 4 to\n"
        "   256 threads per line. strided: lanes across lines. short lines: copied to\n"
        "   shared memory first, then one thread per line. split: many blocks per line.\n"
        "   The number is the step on the page.\n\n");
    report.check(ok,
                 "chosen with a workspace; without one, the long row takes the vectorized path");
}

void a_ladder(lesson::Report& report) {
    report.heading("5. The largest element of every row, in eight kernels");
    const auto step = [&](ArgmaxPath path, const ArgmaxCase& shapes) {
        lesson::Version v = argmax_version(path, shapes);
        v.op = "argmax";
        report.port(v);
    };
    for (const ArgmaxPath path : {ArgmaxPath::one_thread, ArgmaxPath::shared_tree, ArgmaxPath::walk,
                                  ArgmaxPath::warp, ArgmaxPath::vectorized}) {
        step(path, {{40, 1030}, {4096, 8192}, 1});
    }
    step(ArgmaxPath::strided, {{64, 5, 40}, {64, 1024, 1024}, 0});
    step(ArgmaxPath::short_lines, {{300, 17}, {1 << 20, 17}, 1});
    step(ArgmaxPath::split, {{2, 9000}, {16, 50257}, 1});
}

void a_sum_in_another_order(lesson::Report& report) {
    report.heading("6. Reordering a float sum changes its last bits");
    const std::int64_t n = 1 << 16;
    const Tensor<float> x = lesson::filled<float>({n}, [](std::int64_t) { return 0.1f; });
    Tensor<float> loop((Shape()));
    reduce_cpu(Reduction::sum, x.view(), {0}, loop.view());
    const gpu::Buffer<float> in(x);
    gpu::Buffer<float> out(1), again(1);
    reduce_cuda(Reduction::sum, in.view({n}), {0}, out.view(Shape()));
    reduce_cuda(Reduction::sum, in.view({n}), {0}, again.view(Shape()));
    const float port = out.download()[0];
    const double exact = static_cast<double>(n) * static_cast<double>(0.1f);
    std::printf("   0.1 added 65,536 times. Exact: %.4f\n", exact);
    std::printf("   CPU reference: %.4f    kernel: %.4f\n\n", static_cast<double>(loop.data()[0]),
                static_cast<double>(port));
    const double loop_off = std::abs(static_cast<double>(loop.data()[0]) - exact);
    const double port_off = std::abs(static_cast<double>(port) - exact);
    // Rounding steps in sequence: a thread adds 64 float4s (64 additions, and 2 within a float4), 1
    // for the ends of the line, 8 to combine 256 threads: 75. Each rounds by at most 2^-24.
    report.check(port_off <= 75 * 0x1p-24 * exact,
                 "the kernel is within its error bound of 75 roundings");
    report.check(port_off < loop_off,
                 "and closer than the CPU reference: its partial sums are short");
    report.check(again.download()[0] == port, "a second run gives the same bits");
}

void the_next_token(lesson::Report& report) {
    report.heading("7. Outlook: the next token of a language model is an argmax");
    const std::int64_t B = 3, V = 50257;  // sequences; GPT-2's vocabulary
    const std::int64_t tokens[] = {11, 262, 50256};
    Tensor<float> logits = lesson::filled<float>(
        {B, V}, [](std::int64_t i) { return static_cast<double>(i * 7919 % 10007) / 10007.0; });
    for (std::int64_t b = 0; b < B; ++b) logits(b, tokens[b]) = 1.5f;
    const gpu::Buffer<float> in(logits);
    const View<const float> view = in.view({B, V});
    gpu::Buffer<std::int64_t> out(B);
    gpu::Buffer<std::byte> memory(argmax_workspace_bytes(view, -1));
    memory.fill_bytes(0);
    argmax_cuda(view, -1, out.view({B}), {.workspace = memory});
    const Tensor<std::int64_t> want({B}, {tokens[0], tokens[1], tokens[2]});
    report.check(lesson::same(out, want), "logits (3, 50257): tokens " + shown(want) +
                                              ", by path '" +
                                              step_name(choose_argmax(view, -1, true)) + "'");
}

}  // namespace

int main(int argc, char** argv) {
    return lesson::run(
        argc, argv,
        {.title = "Day 04, argmax",
         .shows = "Many threads compute one answer: a reduction along any dimension of any view.",
         .sections = {along_every_dim, a_line_for_each_output, ties_and_nan, a_path_for_each_layout,
                      a_ladder, a_sum_in_another_order, the_next_token},
         .trace = trace_all,
         .bench = bench_all,
         .try_this =
             "remove the tie rule from better() in day04_argmax/steps/argmax/02_shared_tree.cu\n"
             "and run common/learn test day04. Then remove the first __threadfence(), which step 8 "
             "of the\npage explains, from common/gpu/last_block.hpp."});
}
