#include "day04_argmax/bench/bench.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/gpu/graph.hpp"
#include "common/lesson/arena.hpp"
#include "common/lesson/sampled.hpp"
#include "common/tensor/transform.hpp"
#include "day04_argmax/argmax.hpp"

namespace sixdays::day04_argmax {
namespace {

using lesson::Arena, lesson::Trial, lesson::Version;

constexpr std::int64_t kPeriod = 1000003;  // a prime: no two lines of a large tensor are alike
constexpr int kCallsInGraph = 100;

// Whole numbers from -255 to 255 for sums, which are then exact in any order for lines of up to
// 2^16; else anything between -1 and 1.
std::vector<float> noise(bool whole) {
    std::vector<float> x(kPeriod);
    std::uint64_t state = 1;
    for (float& value : x) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const auto bits = static_cast<std::int64_t>(state >> 40) - (1 << 23);  // -2^23 to 2^23
        value = whole ? static_cast<float>(bits % 256) : static_cast<float>(bits) * 0x1p-23f;
    }
    return x;
}

Shape without_dim(const Shape& shape, int dim) {
    return without(row_major(shape), {dim}).shape;
}

// An operation with an output of type T: its loop, and its port.
template <class T>
struct Pair {
    std::function<void(View<const float>, int, View<T>)> loop;
    std::function<void(View<const float>, int, View<T>, const gpu::Launch<ArgmaxPath>&)> port;
};
const Pair<std::int64_t> kArgmax = {argmax_cpu, argmax_cuda};

Pair<float> reduction(Reduction what) {
    return {[what](View<const float> in, int dim, View<float> out) {
                reduce_cpu(what, in, {dim}, out);
            },
            [what](View<const float> in, int dim, View<float> out,
                   const gpu::Launch<ArgmaxPath>& how) { reduce_cuda(what, in, {dim}, out, how); }};
}

// What the loop says of the line that the output at this index looks at, in the tensor that begins at
// element `first` of the input.
template <class T>
T of_line(const Pair<T>& pair, const Arena& arena, const Shape& large, int dim, const Index& at,
          std::int64_t first = 0) {
    const Layout in = row_major(large);
    const Tensor<float> line =
        arena.gathered<float>(0, {only(in, {dim}), first + offset(without(in, {dim}), at)});
    T answer{};
    pair.loop(line.view(), 0, {&answer, Layout()});
    return answer;
}

std::shared_ptr<gpu::Buffer<std::byte>> workspace_for(ArgmaxPath path, const Shape& shape,
                                                      int dim) {
    auto memory = std::make_shared<gpu::Buffer<std::byte>>(
        argmax_workspace_bytes({nullptr, row_major(shape)}, dim, path));
    memory->fill_bytes(0);
    return memory;
}

// Of one type of output, on tensors of one shape: what another step says is what must be there, and
// what the loop says of some lines.
template <class T>
Trial trial(const Pair<T>& pair, ArgmaxPath path, const Shape& shape, int dim) {
    const Shape reduced = without_dim(shape, dim);
    const auto arena =
        std::make_shared<Arena>(std::vector<std::int64_t>{4 * size(shape)},
                                static_cast<std::int64_t>(sizeof(T)) * size(reduced));
    const std::vector<float> x = noise(std::is_same_v<T, float>);
    arena->fill(0, x.data(), 4 * kPeriod);
    const Lines lines = lines_of("bench", {arena->input<float>(0, 0), shape}, {dim});
    const bool many = lines.count() > 4096;
    const ArgmaxPath other = path == ArgmaxPath::shared_tree ? ArgmaxPath::warp
                             : many                          ? ArgmaxPath::walk
                                                             : ArgmaxPath::shared_tree;
    pair.port({arena->input<float>(0, 0), shape}, dim, {arena->template want<T>(), reduced},
              {.path = other});
    const auto memory = workspace_for(path, shape, dim);
    const auto run = [=](int set) {
        pair.port({arena->input<float>(set, 0), shape}, dim,
                  {arena->template output<T>(set), reduced}, {.path = path, .workspace = *memory});
    };
    const auto some = [=] {
        return lesson::sampled(
            View<T>(arena->template output<T>(0), reduced),
            [&](const Index& at) { return of_line(pair, *arena, shape, dim, at); });
    };
    return {run, arena->outcomes(), some};
}

template <class T>
Version version(const std::string& op, const Pair<T>& pair, ArgmaxPath path,
                const ArgmaxCase& shapes) {
    Version v;
    v.op = op + ", dim " + std::to_string(shapes.dim);
    v.version = name(path);
    v.shape = to_string(shapes.large);
    v.how = "equals the loop";
    v.work.bytes_read = 4.0 * static_cast<double>(size(shapes.large));
    v.work.bytes_written =
        sizeof(T) * static_cast<double>(size(without_dim(shapes.large, shapes.dim)));
    v.timed = [=] { return trial(pair, path, shapes.large, shapes.dim); };
    return v;
}

// The small tensor on host and device, and what the loop makes of it.
template <class T>
Trial small_trial(const Pair<T>& pair, ArgmaxPath path, const Shape& shape, int dim) {
    struct Small {
        Tensor<float> in;
        Tensor<T> want;
        gpu::Buffer<float> device_in;
        gpu::Buffer<T> got, device_want;
        std::shared_ptr<gpu::Buffer<std::byte>> memory;
    };
    const std::vector<float> x = noise(std::is_same_v<T, float>);
    Tensor<float> in(shape);
    for (std::int64_t k = 0; k < in.size(); ++k) in.data()[k] = x[static_cast<std::size_t>(k)];
    const Shape reduced = without_dim(shape, dim);
    Tensor<T> want(reduced);
    pair.loop(in.view(), dim, want.view());
    const auto s =
        std::make_shared<Small>(Small{in, want, gpu::Buffer<float>(in), gpu::Buffer<T>(want.size()),
                                      gpu::Buffer<T>(want), workspace_for(path, shape, dim)});
    s->got.fill_bytes(0xff);
    const auto run = [=](int) {
        pair.port(std::as_const(s->device_in).view(shape), dim, s->got.view(reduced),
                  {.path = path, .workspace = *s->memory});
    };
    return {run,
            {{s->got.data(), s->device_want.data(),
              static_cast<std::int64_t>(sizeof(T)) * want.size()}}};
}

}  // namespace

Version argmax_version(ArgmaxPath path, const ArgmaxCase& shapes) {
    Version v = version("argmax", kArgmax, path, shapes);
    v.check = small_trial(kArgmax, path, shapes.small, shapes.dim);
    return v;
}

namespace {

Version reduce_version(Reduction what, ArgmaxPath path, const ArgmaxCase& shapes) {
    Version v = version(name(what), reduction(what), path, shapes);
    v.check = small_trial(reduction(what), path, shapes.small, shapes.dim);
    return v;
}

// Shapes, with a small one that takes the same path.
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

constexpr std::size_t kSums = 9;  // of the first of them

ArgmaxPath best_path(const Shape& shape, int dim) {
    return choose_argmax({nullptr, row_major(shape)}, dim, true);
}

// One call after the other in a graph, each on buffers of its own, so that nothing is in the cache.
void bench_graph(lesson::Report& report, const ArgmaxCase& shapes) {
    const ArgmaxPath path = best_path(shapes.large, shapes.dim);
    Version v = argmax_version(path, shapes);
    v.op = "argmax, " + std::to_string(kCallsInGraph) + " calls in a graph";
    v.path = name(path);
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
            (void)arena, (void)memory;  // what the graphs work on
            (*graphs)[static_cast<std::size_t>(set)]->launch();
        };
        const auto some = [=] {  // of the last call
            std::int64_t* const out = arena->output<std::int64_t>(0) + (sets - 1) * size(reduced);
            return lesson::sampled(View<std::int64_t>(out, reduced), [&](const Index& at) {
                return of_line(kArgmax, *arena, large, dim, at, (sets - 1) * size(large));
            });
        };
        return Trial{run, arena->outcomes(), some};
    };
    report.port(v);
}

}  // namespace

void bench_all(lesson::Report& report) {
    const ArgmaxCase ladder = {{40, 1030}, {32768, 8192}, 1};
    for (const ArgmaxPath path : {ArgmaxPath::one_thread, ArgmaxPath::walk, ArgmaxPath::shared_tree,
                                  ArgmaxPath::warp, ArgmaxPath::quads}) {
        Version v = argmax_version(path, ladder);
        v.op = "argmax";  // the ladder's own row
        report.port(v);
    }
    for (const ArgmaxCase& shapes : kCases) {
        report.port(argmax_version(best_path(shapes.large, shapes.dim), shapes));
    }
    for (std::size_t c = 0; c < kSums; ++c) {
        const ArgmaxCase& shapes = kCases[c];
        report.port(reduce_version(Reduction::sum, best_path(shapes.large, shapes.dim), shapes));
    }
    report.port(reduce_version(Reduction::mean, ArgmaxPath::quads, {{3, 8200}, {8192, 32768}, 1}));
    bench_graph(report, {{1, 9000}, {1, 50257}, 1});
    bench_graph(report, {{1, 9000}, {1, 129280}, 1});
    bench_graph(report, {{2, 9000}, {8, 50257}, 1});
}

}  // namespace sixdays::day04_argmax
