// The lesson program of Day 05: every line marked "ok" has just been checked.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "common/lesson/lesson.hpp"
#include "common/tensor/transform.hpp"
#include "day05_matmul/bench/bench.hpp"
#include "day05_matmul/loop_orders.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;

namespace {

void by_hand(lesson::Report& report) {
    report.heading("1. A product to check by hand");
    const Tensor<float> a({2, 3}, {1, 2, 3, 4, 5, 6}), b({3, 2}, {7, 8, 9, 10, 11, 12});
    Tensor<float> want({2, 2});
    matmul_cpu(a.view(), b.view(), want.view());
    const gpu::Buffer<float> da(a), db(b);
    gpu::Buffer<float> got(4);
    got.fill_bytes(0xff);
    matmul_cuda(da.view({2, 3}), db.view({3, 2}), got.view({2, 2}));
    std::printf("   a = 1 2 3   b =  7  8   out(0, 0) = 1 * 7 + 2 * 9 + 3 * 11\n");
    std::printf("       4 5 6        9 10\n                   11 12\n\n");
    char line[96];
    std::snprintf(line, sizeof line, "out = %.0f %.0f / %.0f %.0f, by CPU reference and kernel",
                  want(0, 0), want(0, 1), want(1, 0), want(1, 1));
    report.check(want(0, 0) == 58 && want(1, 1) == 154 && lesson::same(got, want), line);
}

void reuse(lesson::Report& report) {
    report.heading(
        "2. How often is each element fetched? M = N = K = 1,024, 1,024^3 multiply-adds");
    report.note(
        "With a tile of 32 x 32 outputs, each element fetched serves 32 multiply-adds. Each\n"
        "   multiply-add reads two elements, so that is 16 multiply-adds per element fetched.\n"
        "   The tile has 1,024 times the area of 1 x 1 but reduces traffic only 32 times: reuse\n"
        "   grows with the edge of a tile, not with its area.\n");
    std::printf("   %-26s %16s  %s\n", "outputs per tile", "elements fetched",
                "multiply-adds per element");
    const std::int64_t n = 1024;
    for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {1, 1}, {32, 32}, {64, 64}, {128, 128}, {128, 256}, {n, n}}) {
        // A tile reads `rows` rows of a and `columns` columns of b, along all
        // of K.
        const std::int64_t fetched = n / rows * (n / columns) * (rows + columns) * n;
        char tile[32];
        std::snprintf(tile, sizeof tile, "%lld x %lld", static_cast<long long>(rows),
                      static_cast<long long>(columns));
        std::printf("   %-26s %16s  %.1f\n", tile, lesson::with_commas(fetched).c_str(),
                    static_cast<double>(n * n * n) / static_cast<double>(fetched));
    }
}

void loop_orders(lesson::Report& report) {
    report.heading("3. The order of three loops, on the CPU");
    const std::int64_t M = 192, N = 320, K = 256;
    const Tensor<float> a = lesson::filled<float>({M, K}, [](auto i) { return noise(1, i); });
    const Tensor<float> b = lesson::filled<float>({K, N}, [](auto i) { return noise(2, i); });
    Tensor<float> want({M, N}), out({M, N});
    matmul_cpu(a.view(), b.view(), want.view());
    const auto order = [&](const char* name,
                           void (*loop)(View<const float>, View<const float>, View<float>)) {
        lesson::Version v;
        v.op = "matmul";
        v.version = name;
        v.work = {4.0 * (M * K + K * N), 4.0 * M * N, 2.0 * M * N * K};
        v.check = {[&, loop](int) { loop(a.view(), b.view(), out.view()); },
                   {{out.data(), want.data(), 4 * M * N}}};
        report.loop(v);
    };
    order("m, n, k", matmul_mnk);
    order("m, k, n", matmul_mkn);
    order("m, k, n, blocked", matmul_blocked);
    report.note(
        "m, n, k reads b down a column, with a stride of one row. m, k, n reads along rows, and\n"
        "   the compiler vectorizes it. Blocked: 64 x 256 elements of b at a time stay in the\n"
        "   cache. All give the same bits: each sum is added in the order of k.");
}

void neighbours(lesson::Report& report) {
    report.heading("4. What do adjacent lanes read? Blocks of 32 x 8, out (64, 64), K = 64");
    std::printf("   The offsets that lanes 0, 1, 2, 3 and 31 of a warp read for k = 5:\n\n");
    const Layout a = row_major({64, 64}), b = row_major({64, 64});
    const auto line = [&](const char* what, bool along_n) {
        const auto offsets = [&](const Layout& layout, bool is_a) {
            std::string text;
            for (const std::int64_t lane : {0, 1, 2, 3, 31}) {
                const std::int64_t m = along_n ? 0 : lane, n = along_n ? lane : 0;
                const std::int64_t at = is_a ? offset(layout, m, 5) : offset(layout, 5, n);
                text += (lane == 31 ? " .. " : " ") + std::to_string(at);
            }
            return text;
        };
        std::printf("   %-28s a:%-24s b:%s\n", what, offsets(a, true).c_str(),
                    offsets(b, false).c_str());
    };
    line("step 1, threadIdx.x is m", false);
    line("step 2, threadIdx.x is n", true);
    report.check(offset(b, 5, 1) - offset(b, 5, 0) == 1 && offset(a, 1, 5) - offset(a, 0, 5) == 64,
                 "the lanes of a warp differ in threadIdx.x. So a warp of step 2 reads");
    std::printf("          32 adjacent elements of b (4 sectors) and one element of a.\n");
}

void layouts(lesson::Report& report) {
    report.heading("5. A transposed operand is a view, and matmul chooses the version by layout");
    std::printf(
        "   whole tiles: one tile of outputs per block, b through shared memory (step 13)\n"
        "   skinny:      few rows or few columns; reading b dominates (step 14)\n"
        "   shallow:     a short K; writing out dominates (step 16)\n\n"
        "          (M, N, K): path\n");
    for (const Sizes& s :
         {Sizes{67, 70, 35}, Sizes{67, 70, 35, false, true}, Sizes{67, 70, 35, true, false},
          Sizes{67, 70, 35, true, true}, Sizes{40, 50, 60}, Sizes{40, 50, 8}, Sizes{3, 50, 8}}) {
        SmallProduct x(s);
        lesson::Version v;
        v.op = "matmul";
        v.check = x.trial([](auto a, auto b, auto out) { matmul_cuda(a, b, out); });
        v.check.run(0);
        report.check(x.same(), to_string(s) + ": " + chosen_for(s));
    }
}

void the_ladder(lesson::Report& report) {
    const std::vector<MatmulStep> steps = ladder();
    const auto only = number_of(report, "--step", 0, static_cast<std::int64_t>(steps.size()));
    const std::int64_t size = number_of(report, "--size", 2048, 16384);
    report.heading("6. The ladder: one idea per step");
    for (const MatmulStep& step : steps) {
        if (only != 0 && step.number != only) continue;
        const bool large = report.options().own.count("--size") > 0 && !report.times_ports();
        SmallProduct small(large ? Sizes{size, size, size} : Sizes{100, 140, 40});
        lesson::Version v = timed_matmul("matmul", {size, size, size}, step.path);
        v.version = step.name();
        v.check = small.trial(
            [&](auto a, auto b, auto out) { matmul_cuda(a, b, out, {.path = step.path}); });
        report.port(v);
    }
}

void epilogues(lesson::Report& report) {
    report.heading("7. One launch: a stack of products, a bias, ReLU");
    const Tensor<float> a({2, 1, 2}, {1, 2, 3, 4}), w({3, 2}, {1, 0, 0, 1, 1, -1});
    const Tensor<float> bias({3}, {10, -3, 0});
    Tensor<float> want({2, 1, 3});
    const gpu::Buffer<float> da(a), dw(w), dbias(bias);
    gpu::Buffer<float> got(6);
    got.fill_bytes(0xff);
    matmul_cpu(a.view(), transpose(w.view()), {.bias = bias.view(), .relu = true}, want.view());
    matmul_cuda(da.view({2, 1, 2}), transpose(dw.view({3, 2})),
                {.bias = dbias.view({3}), .relu = true}, got.view({2, 1, 3}));
    std::printf("   a(0) = 1 2   w = 1  0   bias = 10 -3 0\n");
    std::printf("   a(1) = 3 4       0  1\n                    1 -1\n\n");
    report.check(lesson::same(got, want) && want(0, 0, 0) == 11 && want(1, 0, 1) == 1,
                 "a (2, 1, 2) times w (3, 2), transposed, plus a bias, ReLU: 11 0 0 / 13 1 0");
}

void tf32(lesson::Report& report) {
    report.heading("8. float is not TF32");
    const std::int64_t K = 4096;
    const float x = 1 + 1.0f / 4096;  // 1 + 2^-12: 12 fraction bits, TF32 keeps 10
    const gpu::Buffer<float> a(lesson::filled<float>({1, K}, [&](auto) { return x; }));
    const gpu::Buffer<float> b(lesson::filled<float>({K, 1}, [](auto) { return 1; }));
    gpu::Buffer<float> out(1);
    out.fill_bytes(0xff);
    matmul_cuda(a.view({1, K}), b.view({K, 1}), out.view({1, 1}));
    const float got = out.download()[0];
    char line[96];
    std::snprintf(line, sizeof line,
                  "4,096 products of 1 + 2^-12 and 1 sum to %.0f; in TF32 to 4096", got);
    report.check(got == 4097, line);
}

}  // namespace

int main(int argc, char** argv) {
    const bool tunes = std::any_of(argv + 1, argv + argc,
                                   [](const char* word) { return word == std::string("--tune"); });
    std::vector<void (*)(lesson::Report&)> sections = {by_hand, reuse,      loop_orders, neighbours,
                                                       layouts, the_ladder, epilogues,   tf32};
    if (tunes) sections = {tune};
    return lesson::run(
        argc, argv,
        {.title = "Day 05, matmul",
         .shows = "An element that is fetched once should be used in many multiply-adds.",
         .sections = sections,
         .trace = trace_all,
         .bench = bench_all,
         .try_this =
             "remove a __syncthreads() from steps/matmul/03_shared_tile.cu; then the + 1 from\n"
             "04_transposed_tile.cu, and run with --trace.",
         .flags = {{"--step", "N", "only step N of the ladder"},
                   {"--size", "S", "the ladder, or --tune, at M = N = K = S"},
                   {"--tune", "", "time every step and tile on this GPU, and show the fastest"}}});
}
