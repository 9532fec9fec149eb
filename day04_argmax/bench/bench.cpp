#include "day04_argmax/bench/bench.hpp"

#include <memory>
#include <string>
#include <vector>

#include "common/gpu/graph.hpp"
#include "common/gpu/tile.hpp"
#include "common/lesson/sampled.hpp"
#include "day04_argmax/run/versions.hpp"

namespace sixdays::day04_argmax {

using lesson::Arena, lesson::Trial, lesson::Version;

namespace {

constexpr int kCallsInGraph = 100;

// Shapes to time, each with a small one that takes the same path.
const std::vector<ArgmaxCase> kCases = {
    {{3, 8200}, {8192, 32768}, 1},
    {{3, 8201}, {4096, 50257}, 1},
    {{3, 1024}, {262144, 1024}, 1},
    {{300, 17}, {1 << 20, 17}, 1},
    {{300, 16}, {1 << 24, 16}, 1},
    {{64, 5, 40}, {64, 4096, 4096}, 0},
    {{5, 64, 160}, {64, 4096, 4096}, 1},
    {{5, 6, 4096}, {64, 4096, 4096}, 2},
    {{5, 64, 131}, {128, 4096, 4095}, 1},
    {{3, 8192}, {128, 129280}, 1},
    // Tensara's
    {{2, 40, 256}, {16, 128, 256}, 1},
    {{32, 20, 40}, {32, 512, 512}, 0},
    {{2, 3, 1024}, {8, 1024, 1024}, 2},
    {{2, 3, 40, 128}, {64, 128, 128, 128}, 2},
    {{2, 40, 3, 64}, {4, 256, 256, 256}, 1},
    {{3, 4, 5, 64}, {128, 64, 64, 64}, 3},
};

constexpr std::size_t kSums = 9;  // this many of the first cases also run as sums

ArgmaxPath best_path(const Shape& shape, int dim) {
    return choose_argmax({nullptr, row_major(shape)}, dim, true);
}

// Consecutive calls in one graph, each on its own buffers, so that nothing is in the cache.
void bench_graph(lesson::Report& report, const ArgmaxCase& shapes) {
    const ArgmaxPath path = best_path(shapes.large, shapes.dim);
    Version v = argmax_version(path, shapes);
    v.op = "argmax, " + std::to_string(kCallsInGraph) + " calls in a graph";
    v.path = step_name(path);
    v.work.bytes_read *= kCallsInGraph;
    v.work.bytes_written *= kCallsInGraph;
    const int dim = shapes.dim;
    const Shape large = shapes.large;
    v.timed = [=] {
        const Shape reduced = without_dim(large, dim);
        const std::int64_t sets = kCallsInGraph;
        const auto arena = std::make_shared<Arena>(
            std::vector<std::int64_t>{sets * 4 * size(large)}, sets * 8 * size(reduced));
        const std::vector<float> x = noise(false);
        arena->fill(0, x.data(), 4 * kPeriod);
        const auto in = [=](int set, std::int64_t call) {
            return View<const float>(arena->input<float>(set, 0) + call * size(large), large);
        };
        const auto memory = workspace_for(path, large, dim);
        for (std::int64_t call = 0; call < sets; ++call) {
            argmax_cuda(in(0, call), dim,
                        {arena->want<std::int64_t>() + call * size(reduced), reduced},
                        {.path = ArgmaxPath::shared_tree});
        }
        auto graphs = std::make_shared<std::vector<std::unique_ptr<gpu::Graph>>>();
        for (int set = 0; set < arena->sets(); ++set) {
            graphs->push_back(std::make_unique<gpu::Graph>([&](gpu::Stream stream) {
                for (std::int64_t call = 0; call < sets; ++call) {
                    argmax_cuda(in(set, call), dim,
                                {arena->output<std::int64_t>(set) + call * size(reduced), reduced},
                                {.path = path, .workspace = *memory, .stream = stream});
                }
            }));
        }
        const auto run = [=](int set) {
            (void)arena, (void)memory;  // keeps alive what the graphs use
            (*graphs)[static_cast<std::size_t>(set)]->launch();
        };
        const auto some = [=] {  // outputs of the last call
            std::int64_t* const out = arena->output<std::int64_t>(0) + (sets - 1) * size(reduced);
            return lesson::sampled(View<std::int64_t>(out, reduced), [&](const Index& at) {
                return argmax_of_line(*arena, large, dim, at, (sets - 1) * size(large));
            });
        };
        return Trial{run, arena->outcomes(), some};
    };
    report.port(v);
}

}  // namespace

void bench_all(lesson::Report& report) {
    const ArgmaxCase ladder = {{40, 1030}, {32768, 8192}, 1};
    for (const ArgmaxPath path : {ArgmaxPath::one_thread, ArgmaxPath::shared_tree, ArgmaxPath::walk,
                                  ArgmaxPath::warp, ArgmaxPath::vectorized}) {
        Version v = argmax_version(path, ladder);
        v.op = "argmax";  // the ladder's own row
        report.port(v);
    }
    for (const ArgmaxCase& shapes : kCases) {
        report.port(argmax_version(best_path(shapes.large, shapes.dim), shapes));
    }
    if (gpu::has_tile()) {
        report.port(argmax_version(ArgmaxPath::tile, ladder));
        for (std::size_t c = 0; c < kSums; ++c) {
            report.port(argmax_version(ArgmaxPath::tile, kCases[c]));
            report.port(reduce_version(Reduction::sum, ArgmaxPath::tile, kCases[c]));
        }
    }
    for (std::size_t c = 0; c < kSums; ++c) {
        const ArgmaxCase& shapes = kCases[c];
        report.port(reduce_version(Reduction::sum, best_path(shapes.large, shapes.dim), shapes));
    }
    report.port(
        reduce_version(Reduction::mean, ArgmaxPath::vectorized, {{3, 8200}, {8192, 32768}, 1}));
    bench_graph(report, {{1, 9000}, {1, 50257}, 1});
    bench_graph(report, {{1, 9000}, {1, 129280}, 1});
    bench_graph(report, {{2, 9000}, {8, 50257}, 1});
}

}  // namespace sixdays::day04_argmax
