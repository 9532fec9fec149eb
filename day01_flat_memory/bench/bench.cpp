#include "day01_flat_memory/bench/bench.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "common/gpu/buffer.hpp"
#include "common/gpu/different.hpp"
#include "common/gpu/graph.hpp"
#include "common/tensor/tensor.hpp"
#include "day01_flat_memory/elementwise.hpp"
#include "day01_flat_memory/fill.hpp"

namespace sixdays::day01_flat_memory {
namespace {

// Inputs and expected outputs are made on the host for so many elements, and repeated.
constexpr std::int64_t kPart = std::int64_t{1} << 24;

template <class T>
gpu::Buffer<T> repeated(const Tensor<T>& part, std::int64_t size) {
    gpu::Buffer<T> all(size);
    for (std::int64_t first = 0; first < size; first += part.size()) {
        all.upload(part.data(), std::min(part.size(), size - first), first);
    }
    return all;
}

/// @param inputs  how many arrays it reads @param flops  operations an element
template <class T>
lesson::Version version(const std::string& op, const std::string& name, const Shape& shape,
                        double inputs, double flops) {
    lesson::Version v;
    v.op = op;
    v.version = name;
    v.dtype = sizeof(T) == 1 ? "uint8" : "float32";
    v.shape = to_string(shape);
    const auto elements = static_cast<double>(size(shape));
    v.work = {inputs * elements * sizeof(T), elements * sizeof(T), flops * elements};
    return v;
}

// After `v.run`, `count` elements of `out` from `first` on must hold what `want` holds.
template <class T>
void measure(lesson::Report& report, lesson::Version v, gpu::Buffer<T>& out, std::int64_t first,
             const T* want, std::int64_t count) {
    v.refill = [&] { out.fill_bytes(0xff); };
    v.verify = [&, bytes = count * static_cast<std::int64_t>(sizeof(T))] {
        return gpu::count_different(out.data() + first, want, bytes) == 0;
    };
    v.refill();
    v.run(0);
    v.ok = v.verify();
    v.how = "equals the loop, every element";
    report.port(v);
}

// --- float ---------------------------------------------------------------------------------------

struct Op {
    const char* name;
    double inputs, flops;
    std::function<void()> loop;
    // `count` elements from element `past` on, in inputs and output alike
    std::function<void(std::int64_t count, std::int64_t past, gpu::Stream stream)> port;
};

void bench_floats(lesson::Report& report) {
    const std::int64_t n = 4 * kPart;
    Tensor<float> x(Shape{kPart}), y(Shape{kPart}), out(Shape{kPart});
    for (std::int64_t i = 0; i < kPart; ++i) {
        x(i) = static_cast<float>(i);
        y(i) = static_cast<float>(1000000 - i);
    }
    const gpu::Buffer<float> dx = repeated(x, n), dy = repeated(y, n);
    gpu::Buffer<float> dout(n);
    const auto in = [](const gpu::Buffer<float>& b, std::int64_t count, std::int64_t past) {
        return b.view(row_major({count}), past);
    };
    const auto to = [&](std::int64_t count, std::int64_t past) {
        return dout.view(row_major({count}), past);
    };
    const Op ops[] = {{"square", 1, 1, [&] { square_cpu(x.view(), out.view()); },
                       [&](std::int64_t count, std::int64_t past, gpu::Stream stream) {
                           square_cuda(in(dx, count, past), to(count, past), stream);
                       }},
                      {"scale", 1, 1, [&] { scale_cpu(3, x.view(), out.view()); },
                       [&](std::int64_t count, std::int64_t past, gpu::Stream stream) {
                           scale_cuda(3, in(dx, count, past), to(count, past), stream);
                       }},
                      {"saxpy", 2, 2, [&] { saxpy_cpu(3, x.view(), y.view(), out.view()); },
                       [&](std::int64_t count, std::int64_t past, gpu::Stream stream) {
                           saxpy_cuda(3, in(dx, count, past), in(dy, count, past), to(count, past),
                                      stream);
                       }}};
    for (const Op& op : ops) {
        op.loop();
        const gpu::Buffer<float> want = repeated(out, n);
        for (const std::int64_t past : {0, 1}) {
            const std::int64_t count = n - past;
            lesson::Version v =
                version<float>(op.name, past == 0 ? "one element a thread" : "all 4 bytes past",
                               {count}, op.inputs, op.flops);
            v.run = [&](int) { op.port(count, past, {}); };
            measure(report, v, dout, past, want.data() + past, count);
        }
        // A launch costs more than these few elements do; in a graph it costs less.
        const std::int64_t few = 1024, nodes = 1000;
        gpu::Graph graph([&](gpu::Stream stream) {
            for (std::int64_t i = 0; i < nodes; ++i) op.port(few, 0, stream);
        });
        lesson::Version v =
            version<float>(op.name, "1000 graph nodes", {nodes, few}, op.inputs, op.flops);
        v.cache = "warm";
        v.run = [&](int) { graph.launch(); };
        measure(report, v, dout, 0, want.data(), few);
    }
}

// --- bytes ---------------------------------------------------------------------------------------

void bench_invert(lesson::Report& report) {
    const std::int64_t n = std::int64_t{1} << 30;
    Tensor<std::uint8_t> grey(Shape{kPart}), negative(Shape{kPart});
    for (std::int64_t i = 0; i < kPart; ++i) grey(i) = static_cast<std::uint8_t>(i % 251);
    invert_cpu(grey.view(), negative.view());
    const gpu::Buffer<std::uint8_t> in = repeated(grey, n), want = repeated(negative, n);
    gpu::Buffer<std::uint8_t> out(n);
    const struct {
        const char* name;
        std::int64_t past_in, past_out;  // bytes past a multiple of 16
    } places[] = {{"all aligned", 0, 0}, {"all 1 byte past", 1, 1}, {"input 1 byte past", 1, 0}};
    for (const auto& place : places) {
        const std::int64_t count = n - 1;
        const View<const std::uint8_t> from = in.view(row_major({count}), place.past_in);
        const View<std::uint8_t> to = out.view(row_major({count}), place.past_out);
        lesson::Version v = version<std::uint8_t>("invert", place.name, {count}, 1, 0);
        v.path = name(choose_invert(from, to));
        v.run = [&](int) { invert_cuda(from, to); };
        measure(report, v, out, place.past_out, want.data() + place.past_in, count);
    }
}

// --- writing only --------------------------------------------------------------------------------

void bench_fill(lesson::Report& report) {
    const std::int64_t n = 4 * kPart, base = 8192;
    const struct {
        const char* name;
        Shape shape;
    } cases[] = {{"matrix, 2-D grid", {8192, 8192}},
                 {"3 dims, 3-D grid", {256, 512, 512}},
                 {"4 dims, by division", {16, 16, 512, 512}}};
    gpu::Buffer<float> out(n);
    for (const auto& c : cases) {
        Tensor<float> host(c.shape);
        fill_cpu(base, host.view());
        const gpu::Buffer<float> want(host);
        lesson::Version v = version<float>("fill", c.name, c.shape, 0, 0);
        v.run = [&](int) { fill_cuda(base, out.view(c.shape)); };
        measure(report, v, out, 0, want.data(), n);
    }
}

}  // namespace

void bench_all_but_add(lesson::Report& report) {
    if (!report.times_ports()) return;
    bench_floats(report);
    bench_invert(report);
    bench_fill(report);
}

}  // namespace sixdays::day01_flat_memory
