#include "day01_flat_memory/run/operation.hpp"

#include "common/lesson/lesson.hpp"

namespace sixdays::day01_flat_memory {

using lesson::Arena, lesson::Trial, lesson::Version;

namespace {

constexpr std::int64_t kFewer = 4 * kPart;  // floats per timed run

}  // namespace

const Operation& addition() {
    static const Operation add = {
        "add", 2, 1,
        [](const float* x, const float* y, std::int64_t n, float* out) {
            add_cpu(flat(x, n), flat(y, n), flat(out, n));
        },
        [](ElementwisePath path, View<const float> x, View<const float> y, View<float> out,
           gpu::Stream stream) { add_cuda(x, y, out, {.path = path, .stream = stream}); }};
    return add;
}

Version row(const std::string& op, const std::string& version, const Shape& shape, int element,
            double inputs, double flops) {
    Version v;
    v.op = op;
    v.version = version;
    v.dtype = element == 1 ? "uint8" : "float32";
    v.shape = to_string(shape);
    const auto n = static_cast<double>(size(shape));
    v.work = {inputs * n * element, n * element, flops * n};
    return v;
}

Timed memory_of(const Operation& op, std::int64_t n) {
    const auto x = lesson::filled<float>({kPart}, [](std::int64_t i) { return i; });
    const auto y = lesson::filled<float>({kPart}, [](std::int64_t i) { return 1000000 - i; });
    Tensor<float> out({kPart});
    op.loop(x.data(), y.data(), kPart, out.data());
    auto arena = std::make_shared<Arena>(std::vector{4 * n, 4 * n}, 4 * n);
    arena->fill(0, x.data(), 4 * kPart);
    arena->fill(1, y.data(), 4 * kPart);
    arena->expect(out.data(), 4 * kPart);
    return arena;
}

// One element shorter than n, because its tensors may begin at element 1.
Version port_of(const Operation& op, ElementwisePath path, const Place& at, std::int64_t n,
                const Timed& arena) {
    Version v = row(op.name, at.name, {n - 1}, sizeof(float), op.inputs, op.flops);
    if (v.version != name(path)) v.path = name(path);
    v.timed = [&op, path, at, n, arena] {
        Trial trial;
        trial.run = [=, &op](int set) {
            op.port(path, flat(arena->input<float>(set, 0) + at.in, n - 1),
                    flat(arena->input<float>(set, 1) + at.in, n - 1),
                    flat(arena->output<float>(set) + at.out, n - 1), {});
        };
        for (int set = 0; set < arena->sets(); ++set) {
            trial.outcomes.push_back(
                {arena->output<float>(set) + at.out, arena->want<float>() + at.in, 4 * (n - 1)});
        }
        return trial;
    };
    return v;
}

lesson::Version loop_of_add() {
    Version v = row("add", "loop", {kPart}, sizeof(float), 2, 1);
    v.how = "out[i] is 3 * i, every element";
    v.timed = [] {
        struct Sum {
            Tensor<float> a{{kPart}}, b{{kPart}}, out{{kPart}}, want{{kPart}};
        };
        const auto s = std::make_shared<Sum>();
        s->a = lesson::filled<float>({kPart}, [](std::int64_t i) { return i; });
        s->b = lesson::filled<float>({kPart}, [](std::int64_t i) { return 2 * i; });
        // 3 * i is rounded once, like the loop's sum; i and 2 * i are exact below 2^25.
        s->want = lesson::filled<float>({kPart}, [](std::int64_t i) { return 3 * i; });
        return Trial{[s](int) { add_cpu(s->a.view(), s->b.view(), s->out.view()); },
                     {{s->out.data(), s->want.data(), 4 * kPart}}};
    };
    return v;
}

Timed memory_of_add(const lesson::Report& report) {
    return report.times_ports() ? memory_of(addition(), kFewer) : nullptr;
}

lesson::Version port_of_add(ElementwisePath path, const Place& place, const Timed& memory) {
    return port_of(addition(), path, place, kFewer, memory);
}

}  // namespace sixdays::day01_flat_memory
