#include "day01_flat_memory/bench/bench.hpp"

#include <iterator>
#include <memory>
#include <string>

#include "common/gpu/graph.hpp"
#include "common/gpu/tile.hpp"
#include "common/lesson/arena.hpp"
#include "common/lesson/lesson.hpp"
#include "day01_flat_memory/indices.hpp"
#include "day01_flat_memory/run/operation.hpp"

namespace sixdays::day01_flat_memory {
namespace {

using lesson::Arena, lesson::Version;

constexpr std::int64_t kFloats = 8 * kPart, kBytes = std::int64_t{1} << 30;

const Operation kSiblings[] = {
    {"square", 1, 1,
     [](const float* x, const float*, std::int64_t n, float* out) {
         square_cpu(flat(x, n), flat(out, n));
     },
     [](ElementwisePath path, View<const float> x, View<const float>, View<float> out,
        gpu::Stream stream) { square_cuda(x, out, {.path = path, .stream = stream}); }},
    {"scale", 1, 1,
     [](const float* x, const float*, std::int64_t n, float* out) {
         scale_cpu(3, flat(x, n), flat(out, n));
     },
     [](ElementwisePath path, View<const float> x, View<const float>, View<float> out,
        gpu::Stream stream) { scale_cuda(3, x, out, {.path = path, .stream = stream}); }},
    {"saxpy", 2, 2,
     [](const float* x, const float* y, std::int64_t n, float* out) {
         saxpy_cpu(3, flat(x, n), flat(y, n), flat(out, n));
     },
     [](ElementwisePath path, View<const float> x, View<const float> y, View<float> out,
        gpu::Stream stream) { saxpy_cuda(3, x, y, out, {.path = path, .stream = stream}); }}};

// For 1,024 elements the launch takes most of the time; in a graph it costs less.
void graph_of(lesson::Report& report, const Operation& op) {
    const std::int64_t few = 1024, nodes = 1000;
    const auto x = lesson::filled<float>({few}, [](std::int64_t i) { return i; });
    const auto y = lesson::filled<float>({few}, [](std::int64_t i) { return 1000000 - i; });
    Tensor<float> want({few});
    op.loop(x.data(), y.data(), few, want.data());
    const gpu::Buffer<float> dx(x), dy(y), dwant(want);
    gpu::Buffer<float> out(few);
    gpu::Graph graph([&](gpu::Stream stream) {
        const ElementwisePath path = ElementwisePath::vectorized;
        for (std::int64_t i = 0; i < nodes; ++i) {
            op.port(path, dx.view({few}), dy.view({few}), out.view({few}), stream);
        }
    });
    Version v = row(op.name, "1000 graph nodes", {nodes, few}, sizeof(float), op.inputs, op.flops);
    v.cache = "warm";
    v.check = {[&](int) { graph.launch(); }, {{out.data(), dwant.data(), 4 * few}}};
    report.port(v);
}

void bench_invert(lesson::Report& report) {
    const auto grey = lesson::filled<std::uint8_t>({kPart}, [](std::int64_t i) { return i % 251; });
    Tensor<std::uint8_t> negative({kPart});
    invert_cpu(grey.view(), negative.view());
    const auto arena = std::make_shared<Arena>(std::vector{kBytes}, kBytes);
    arena->fill(0, grey.data(), kPart);
    arena->expect(negative.data(), kPart);
    const std::int64_t n = kBytes - 1;
    const Place places[] = {
        {"all aligned", 0, 0}, {"all 1 byte past", 1, 1}, {"input 1 byte past", 1, 0}};
    for (const Place& at : places) {
        const View<const std::uint8_t> in(arena->input<std::uint8_t>(0, 0) + at.in, Shape{n});
        const View<std::uint8_t> out(arena->output<std::uint8_t>(0) + at.out, Shape{n});
        Version v = row("invert", at.name, {n}, 1, 1, 0);
        v.path = name(choose_elementwise(out, in));
        v.check = {[=](int) { invert_cuda(in, out); },
                   {{out.data, arena->want<std::uint8_t>() + at.in, n}}};
        report.port(v);
    }
}

void bench_indices(lesson::Report& report) {
    const std::int64_t base = 8192;
    for (const Shape& shape : {Shape{8192, 8192}, Shape{256, 512, 512}, Shape{16, 16, 512, 512}}) {
        Tensor<float> host(shape);
        indices_cpu(base, host.view());
        const gpu::Buffer<float> want(host);
        gpu::Buffer<float> out(host.size());
        for (const IndicesPath path : {IndicesPath::one_element, IndicesPath::vectorized}) {
            const std::string dims = std::to_string(shape.rank) + " dims, ";
            Version v = row("indices", dims + name(path), shape, sizeof(float), 0, 0);
            v.check = {[&](int) { indices_cuda(base, out.view(shape), {.path = path}); },
                       {{out.data(), want.data(), 4 * want.size()}}};
            report.port(v);
        }
    }
}

void bench_operation(lesson::Report& report, const Operation& op,
                     const std::vector<ElementwisePath>& ladder) {
    const Timed memory = memory_of(op, kFloats);
    const auto measure = [&](ElementwisePath path, const Place& at) {
        Version v = port_of(op, path, at, kFloats, memory);
        v.check = v.timed();
        v.timed = {};
        report.port(v);
    };
    for (const ElementwisePath path : ladder) measure(path, {name(path)});
    for (const Place& at : kPlaces) {
        measure(at.in == at.out ? ElementwisePath::vectorized : ElementwisePath::any_address, at);
    }
    graph_of(report, op);
}

}  // namespace

void bench_all(lesson::Report& report) {
    Version loop = loop_of_add();
    loop.check = loop.timed();
    report.loop(loop);
    std::vector<ElementwisePath> paths(std::begin(kElementwisePaths), std::end(kElementwisePaths));
    if (gpu::has_tile()) paths.push_back(ElementwisePath::tile);
    bench_operation(report, addition(), paths);
    for (const Operation& op : kSiblings) {
        bench_operation(report, op, {ElementwisePath::one_element});
    }
    bench_invert(report);
    bench_indices(report);
}

}  // namespace sixdays::day01_flat_memory
