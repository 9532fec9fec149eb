// Day 01 as a run: every line that says "ok" was checked a moment before.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>

#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "common/gpu/different.hpp"
#include "common/gpu/graph.hpp"
#include "common/lesson/options.hpp"
#include "common/lesson/png.hpp"
#include "common/lesson/report.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/tensor.hpp"
#include "day01_flat_memory/bench/bench.hpp"
#include "day01_flat_memory/elementwise.hpp"
#include "day01_flat_memory/fill.hpp"
#include "day01_flat_memory/first.hpp"
#include "day01_flat_memory/offsets.hpp"
#include "day01_flat_memory/parameters.hpp"
#include "day01_flat_memory/picture.hpp"
#include "day01_flat_memory/steps/steps.hpp"

using namespace sixdays;
using namespace sixdays::day01_flat_memory;
using sixdays::lesson::with_commas;

namespace {

const char* const kTitle = "Day 01, flat memory";
const char* const kWhat =
    "An N-D index becomes one offset, and one iteration of a loop becomes one thread.";

// Every element of the device buffer equal to the host's, bit for bit?
template <class T>
bool same(const gpu::Buffer<T>& got, const Tensor<T>& want) {
    const std::vector<T> host = got.download();
    return static_cast<std::int64_t>(host.size()) == want.size() &&
           std::memcmp(host.data(), want.data(), host.size() * sizeof(T)) == 0;
}

// --- 1 -------------------------------------------------------------------------------------------

void memory_is_one_run(lesson::Report& report) {
    report.heading("1. Memory is one run of elements");
    const Tensor<int> x({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    std::printf("   x: %s\n\n", to_string(x.view().layout).c_str());
    std::printf("       as we think of it        as it lies in memory\n");
    for (int m = 0; m < 3; ++m) {
        std::printf("         %d  %d  %d", x(m, 0), x(m, 1), x(m, 2));
        if (m == 0) std::printf("          offset   0  1  2  3  4  5  6  7  8");
        if (m == 1) {
            std::printf("          element ");
            for (int i = 0; i < 9; ++i) std::printf("  %d", x.data()[i]);
        }
        std::printf("\n");
    }
    std::printf("\n   Row m, column k lies at offset m * K + k, where K = 3 is the row length.\n");
    const std::int64_t at = offset2(1, 2, 3);
    report.check(at == 5 && x.data()[at] == 6, "x(1, 2): offset 1 * 3 + 2 = " + std::to_string(at) +
                                                   ", and there lies " +
                                                   std::to_string(x.data()[at]));
}

// --- 2 -------------------------------------------------------------------------------------------

void one_question_per_dim(lesson::Report& report) {
    report.heading(
        "2. One question per dim: how many elements lie between two neighbours along it?");
    const Layout scores = row_major({2, 3, 4, 5});
    std::printf("   Attention scores (B, NH, T, S): %s\n\n", to_string(scores).c_str());
    const char* const rows[] = {
        "b  sequence         all scores of a sequence: NH * T * S = 3 * 4 * 5",
        "h  head             all scores of a head:          T * S =     4 * 5",
        "q  query position   all scores of a query:             S =         5",
        "k  key position     neighbours in memory:              1            ",
    };
    for (int d = 0; d < 4; ++d) {
        std::printf("       %s = %2lld\n", rows[d], static_cast<long long>(scores.stride(d)));
    }
    std::printf("\n");
    const std::int64_t by_formula = offset4(1, 2, 3, 1, 3, 4, 5);
    const std::int64_t by_strides = offset(scores, 1, 2, 3, 1);
    report.check(
        by_formula == 116 && by_strides == 116,
        "scores(1, 2, 3, 1): offset 1*60 + 2*20 + 3*5 + 1*1 = " + std::to_string(by_formula));
    const Index back = unravel(116, scores.shape);
    report.check(back == Index{1, 2, 3, 1},
                 "and backwards, by division and remainder: 116 is element " + to_string(back));

    // Activations (B, T, C) = (2, 3, 4), element k holding k.
    Tensor<float> x({2, 3, 4});
    for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i);
    const float* token = token_at(x.data(), 1, 2, 3, 4);
    report.check(token - x.data() == 20,
                 "row pointer: in x (2, 3, 4) token (1, 2) begins at (1*3 + 2)*4 = 20");
    report.check(token[3] == x(1, 2, 3) && token[3] == 23,
                 "its [3] is x(1, 2, 3), which holds 23: its own offset");
}

// --- 3 -------------------------------------------------------------------------------------------

void one_allocation_many_tensors(lesson::Report& report) {
    report.heading("3. One allocation, many tensors: the 16 parameter tensors of GPT-2 124M");
    std::vector<Part> parts = gpt2_parameters();
    const std::int64_t total = cut(parts);
    std::printf("   %-10s %-18s %12s %14s\n", "tensor", "shape", "elements", "begins at");
    for (const Part& part : parts) {
        std::printf("   %-10s %-18s %12s %14s\n", part.name.c_str(), to_string(part.shape).c_str(),
                    with_commas(part.count).c_str(), with_commas(part.first).c_str());
    }
    std::printf("\n");
    report.check(total == 124475904, "each begins where those before it end; in all " +
                                         with_commas(total) + " elements,");
    std::printf("          %s bytes as float (47 rows of wte are padding: no token uses them)\n",
                with_commas(4 * total).c_str());
    const std::int64_t kv = kv_cache_bytes({}, 1024, 4);
    report.check(kv == 75497472,
                 "KV cache, the keys and values that attention keeps, here of 1,024 positions:");
    std::printf(
        "          key and value * 12 layers * 12 heads * 1024 * 64 channels * 4 bytes = %s\n",
        with_commas(kv).c_str());
}

// --- 4 -------------------------------------------------------------------------------------------

void an_iteration_becomes_a_thread(lesson::Report& report) {
    report.heading("4. One iteration becomes one thread");
    std::printf(
        "   n = 10 elements in blocks of 4 threads: 10 / 4, rounded up, is 3 blocks.\n"
        "   Each computes i = blockIdx.x * blockDim.x + threadIdx.x; here blockDim.x is 4.\n\n");
    std::printf(
        "       blockIdx.x          0  0  0  0    1  1  1  1    2  2  2  2\n"
        "       threadIdx.x         0  1  2  3    0  1  2  3    0  1  2  3\n"
        "       i                 ");
    int idle = 0;
    for (int i = 0; i < 12; ++i) {
        std::printf("%s%3d", i > 0 && i % 4 == 0 ? "  " : "", i);
        idle += i >= 10;
    }
    std::printf("\n       i < n ?           ");
    for (int i = 0; i < 12; ++i) {
        std::printf("%s%3s", i > 0 && i % 4 == 0 ? "  " : "", i < 10 ? "y" : "-");
    }
    std::printf("\n\n");
    report.check(idle == 2,
                 "3 * 4 = 12 threads, of which 10 work. Without the guard i < n the last two");
    std::printf("          would read and write past the end.\n");
    const float nine = add_two_numbers_cuda(2, 7);
    report.check(nine == 9, "the first kernel, first_cuda.cu, in one thread: 2 + 7 = " +
                                std::to_string(static_cast<int>(nine)));
}

// --- 5 -------------------------------------------------------------------------------------------

using Add = void (*)(View<const float>, View<const float>, View<float>, gpu::Stream);

// a[i] = i and b[i] = 2 * i, so out[i] must be 3 * i: every element tells where it came from.
struct Sum {
    Tensor<float> a, b, out;
    explicit Sum(std::int64_t n) : a(Shape{n}), b(Shape{n}), out(Shape{n}) {
        for (std::int64_t i = 0; i < n; ++i) {
            a(i) = static_cast<float>(i);
            b(i) = static_cast<float>(2 * i);
        }
    }
    bool right() const {
        bool ok = true;
        for (std::int64_t i = 0; i < out.size(); ++i) ok &= out(i) == static_cast<float>(3 * i);
        return ok;
    }
};

// The same on the device, as often as `times` says: larger than what the loop is timed on, so that
// no cache can hold it, and yet made in a moment.
struct SumOnDevice {
    gpu::Buffer<float> a, b, out, want;
    SumOnDevice(const Sum& sum, std::int64_t times)
        : a(sum.out.size() * times), b(a.size()), out(a.size()), want(a.size()) {
        for (std::int64_t i = 0; i < times; ++i) {
            const std::int64_t count = sum.out.size();
            a.upload(sum.a.data(), count, i * count);
            b.upload(sum.b.data(), count, i * count);
            want.upload(sum.out.data(), count, i * count);
        }
    }
    void poison() { out.fill_bytes(0xff); }
    // `count` sums of inputs from element `past_in` on, written from element `past_out` on.
    bool right(std::int64_t past_in, std::int64_t past_out, std::int64_t count) const {
        return gpu::count_different(out.data() + past_out, want.data() + past_in, 4 * count) == 0;
    }
};

lesson::Version version_of_add(const std::string& version, const Shape& timed) {
    lesson::Version v;
    v.op = "add";
    v.version = version;
    v.shape = to_string(timed);
    const double bytes = 4.0 * static_cast<double>(size(timed));
    v.work = {2 * bytes, bytes, bytes / 4};
    return v;
}

void ladder_of_add(lesson::Report& report, SumOnDevice& x, SumOnDevice& huge) {
    const struct {
        const char* version;
        Add add;
    } ladder[] = {{"one element a thread", add_one_element},
                  {"grid-stride loop", add_grid_stride},
                  {"16 bytes a load", add_sixteen_bytes},
                  {"two loads in flight", add_two_in_flight},
                  {"any address", add_any_address}};
    for (const auto& step : ladder) {
        const auto run = [&](SumOnDevice& s) {
            const Shape all{s.out.size()};
            step.add(s.a.view(all), s.b.view(all), s.out.view(all), {});
        };
        x.poison();
        run(x);
        lesson::Version port = version_of_add(step.version, {huge.out.size()});
        port.ok = x.right(0, 0, x.out.size());
        port.how = "equals the loop, every element";
        port.refill = [&] { huge.poison(); };
        port.run = [&](int) { run(huge); };
        port.verify = [&] { return huge.right(0, 0, huge.out.size()); };
        report.port(port);
    }
}

void places_of_add(lesson::Report& report, SumOnDevice& x, SumOnDevice& huge) {
    const struct {
        const char* version;
        std::int64_t past_in;   // elements that the inputs lie past a multiple of 16 bytes
        std::int64_t past_out;  // and the output
    } places[] = {{"all aligned", 0, 0}, {"all 4 bytes past", 1, 1}, {"inputs 4 bytes past", 1, 0}};
    for (const auto& place : places) {
        const auto run = [&](SumOnDevice& s) {
            const Layout all = row_major({s.out.size() - 1});
            const View<const float> a = s.a.view(all, place.past_in);
            const View<const float> b = s.b.view(all, place.past_in);
            const View<float> out = s.out.view(all, place.past_out);
            add_cuda(a, b, out);
            return name(choose_add(a, b, out));
        };
        const auto right = [&](const SumOnDevice& s) {
            return s.right(place.past_in, place.past_out, s.out.size() - 1);
        };
        x.poison();
        const std::int64_t timed = std::max<std::int64_t>(huge.out.size() - 1, 0);
        lesson::Version port = version_of_add(place.version, {timed});
        port.path = run(x);
        port.ok = right(x);
        port.how = "takes " + port.path;
        port.refill = [&] { huge.poison(); };
        port.run = [&](int) { run(huge); };
        port.verify = [&] { return right(huge); };
        report.port(port);
    }
}

// A launch costs more than these few elements do; in a graph it costs less.
void graph_of_add(lesson::Report& report, SumOnDevice& x) {
    const std::int64_t few = 1024, nodes = 1000;
    gpu::Graph graph([&](gpu::Stream stream) {
        for (std::int64_t i = 0; i < nodes; ++i) {
            add_cuda(x.a.view({few}), x.b.view({few}), x.out.view({few}), stream);
        }
    });
    x.poison();
    graph.launch();
    lesson::Version port = version_of_add("1000 graph nodes", {nodes, few});
    port.ok = x.right(0, 0, few);
    port.how = "of 1,024 elements each";
    port.cache = "warm";
    port.refill = [&] { x.poison(); };
    port.run = [&](int) { graph.launch(); };
    port.verify = [&] { return x.right(0, 0, few); };
    report.port(port);
}

void versions_of_add(lesson::Report& report, bool timing) {
    const std::int64_t n = gpu::is_emulated() ? 100003 : 1000003;
    const std::string elements = with_commas(n) + " elements";
    report.heading("5. out[i] = a[i] + b[i] in six ways; a[i] = i, b[i] = 2 * i; " + elements);

    Sum x(n);
    add_cpu(x.a.view(), x.b.view(), x.out.view());
    const std::int64_t many = std::int64_t{1} << 24;
    Sum large(timing ? many : 0);
    lesson::Version loop = version_of_add("loop", {many});
    loop.ok = x.right();
    loop.how = "out[i] is 3 * i, every element";
    loop.refill = [&] { std::fill_n(large.out.data(), many, std::nanf("")); };
    loop.run = [&](int) { add_cpu(large.a.view(), large.b.view(), large.out.view()); };
    loop.verify = [&] { return large.right(); };
    report.loop(loop);

    SumOnDevice on_device(x, 1), huge(large, report.times_ports() ? 4 : 0);
    ladder_of_add(report, on_device, huge);
    if (timing) {
        report.note("Times are for " + with_commas(many) + " elements in the loop" +
                    (report.times_ports() ? ", " + with_commas(4 * many) + " in the ports." : "."));
    }
    report.note(
        "add_cuda chooses by address. 16-byte loads begin at a multiple of 16; where all pointers\n"
        "   lie equally far past one, the first few elements go one by one and the rest in quads.");
    places_of_add(report, on_device, huge);
    if (report.times_ports()) graph_of_add(report, on_device);
}

// --- 6 -------------------------------------------------------------------------------------------

void other_elementwise(lesson::Report& report) {
    report.heading("6. The same loop and the same kernel, another line in the middle; x[i] = i");
    const std::int64_t n = 4001;
    Tensor<float> x(Shape{n}), y(Shape{n}), out(Shape{n});
    for (std::int64_t i = 0; i < n; ++i) {
        x(i) = static_cast<float>(i);
        y(i) = static_cast<float>(1000000 - i);
    }
    const gpu::Buffer<float> dx(x), dy(y);
    gpu::Buffer<float> dout(n);
    const auto all = [&](auto expected) {
        bool ok = true;
        for (std::int64_t i = 0; i < n; ++i) ok &= out(i) == static_cast<float>(expected(i));
        return ok;
    };

    square_cpu(x.view(), out.view());
    bool ok = all([](std::int64_t i) { return i * i; });
    square_cuda(dx.view({n}), dout.view({n}));
    report.check(ok && same(dout, out),
                 "square  x * x      the loop gives i * i, the port equals it");

    scale_cpu(3, x.view(), out.view());
    ok = all([](std::int64_t i) { return 3 * i; });
    scale_cuda(3, dx.view({n}), dout.view({n}));
    report.check(ok && same(dout, out),
                 "scale   3 * x      the loop gives 3 * i, the port equals it");

    saxpy_cpu(3, x.view(), y.view(), out.view());
    ok = all([](std::int64_t i) { return 1000000 + 2 * i; });
    saxpy_cuda(3, dx.view({n}), dy.view({n}), dout.view({n}));
    report.check(
        ok && same(dout, out),
        "saxpy   3 * x + y  y[i] = 10^6 - i: the loop gives 10^6 + 2 * i, the port equals it");

    // Bytes, as in an image: 0, 1, ..., 255, 0, 1, ...
    Tensor<std::uint8_t> grey(Shape{n}), negative(Shape{n});
    for (std::int64_t i = 0; i < n; ++i) grey(i) = static_cast<std::uint8_t>(i % 256);
    const gpu::Buffer<std::uint8_t> dgrey(grey);
    gpu::Buffer<std::uint8_t> dnegative(n);
    invert_cpu(grey.view(), negative.view());
    ok = true;
    for (std::int64_t i = 0; i < n; ++i) ok &= negative(i) == 255 - i % 256;
    invert_cuda(dgrey.view({n}), dnegative.view({n}));
    report.check(ok && same(dnegative, negative),
                 "invert  255 - x    x[i] = i % 256, a byte each: the loop gives 255 - x, the port "
                 "equals it");
}

// --- 7 -------------------------------------------------------------------------------------------

void loop_variables_become_axes(lesson::Report& report) {
    report.heading("7. Loop variables become the axes of a grid; x is the fast one");
    Tensor<float> m({3, 5});
    fill_cpu(10, m.view());
    std::printf(
        "   fill writes its own index into each element; (3, 5), read as decimal digits:\n\n");
    for (std::int64_t i = 0; i < 3; ++i) {
        std::printf("       ");
        for (std::int64_t k = 0; k < 5; ++k) std::printf(" %02d", static_cast<int>(m(i, k)));
        std::printf("\n");
    }
    std::printf("\n");
    for (const Shape& shape : {Shape{37, 61}, Shape{5, 19, 33}, Shape{3, 5, 7, 11}}) {
        Tensor<float> want(shape);
        fill_cpu(64, want.view());
        bool ok = true;
        for (std::int64_t i = 0; i < want.size(); ++i) {
            const Index index = unravel(i, shape);
            std::int64_t value = 0;
            for (int d = 0; d < shape.rank; ++d) value = value * 64 + index[d];
            ok &= want.data()[i] == static_cast<float>(value);
        }
        gpu::Buffer<float> got(want.size());
        got.fill_bytes(0xff);
        fill_cuda(64, got.view(shape));
        report.check(ok && same(got, want),
                     std::to_string(shape.rank) + "-D fill of " + to_string(shape) +
                         ", digits in base 64: the loop is right, the port equals it");
    }
}

// --- 8 -------------------------------------------------------------------------------------------

void a_picture(lesson::Report& report, const lesson::Options& options) {
    report.heading("8. A picture: one thread, one pixel");
    std::printf(
        "   A Julia set: a pixel is a point z of the plane; repeat z = z * z + c and count the "
        "steps\n"
        "   until it is far away. The more steps, the later in \" .:-=+*#%%@\".\n\n");
    const std::int64_t H = 34, W = 76;
    Julia julia;
    julia.height = 1.8f;
    Tensor<std::uint8_t> want({H, W});
    picture_cpu(julia, want.view());
    gpu::Buffer<std::uint8_t> got(H * W);
    picture_cuda(julia, got.view({H, W}));
    const char* const shades = " .:-=+*#%@";
    for (std::int64_t y = 0; y < H; y += 2) {  // a letter is about twice as tall as wide
        std::printf("   ");
        for (std::int64_t x = 0; x < W; ++x) {
            std::printf("%c", shades[std::min(want(y, x) / 6, 9)]);
        }
        std::printf("\n");
    }
    std::printf("\n");
    report.check(same(got, want), "every pixel of the port equals the loop's");

    const auto png = options.own.find("--png");
    if (png != options.own.end()) {
        const std::int64_t tall = 800, wide = 1200;
        Tensor<std::uint8_t> picture({tall, wide});
        gpu::Buffer<std::uint8_t> pixels(tall * wide);
        picture_cuda({}, pixels.view({tall, wide}));
        picture_cpu({}, picture.view());
        const bool ok = same(pixels, picture);
        // Few points stay near for long: a square root opens the dark end, so that the eye sees
        // steps.
        for (std::int64_t i = 0; i < picture.size(); ++i) {
            const double share = static_cast<double>(picture.data()[i]) / kMostSteps;
            picture.data()[i] = static_cast<std::uint8_t>(255 * std::sqrt(share));
        }
        lesson::write_png(png->second, picture.view());
        report.check(ok, "port and loop agree on " + png->second + ", " + with_commas(tall * wide) +
                             " pixels");
    }
}

// --- what the warps touch, for --trace -----------------------------------------------------------

void trace() {
    const std::int64_t n = 1024;
    gpu::Buffer<float> a(n + 1), b(n + 1), out(n + 1);
    for (auto* buffer : {&a, &b}) buffer->fill_bytes(0x3f);
    gpu::Buffer<std::uint8_t> pixels(16 * 64);
    const auto at = [&](const gpu::Buffer<float>& x, std::int64_t first) {
        return x.view(row_major({n}), first);
    };
    const auto to = [&](std::int64_t first) { return out.view(row_major({n}), first); };
    lesson::trace("add, one element a thread, 1,024 elements",
                  [&] { add_one_element(at(a, 0), at(b, 0), to(0)); });
    lesson::trace("add, one element a thread, every pointer 4 bytes past a multiple of 32",
                  [&] { add_one_element(at(a, 1), at(b, 1), to(1)); });
    lesson::trace("add, 16 bytes a load", [&] { add_sixteen_bytes(at(a, 0), at(b, 0), to(0)); });
    lesson::trace("fill, a matrix of 16 x 64", [&] { fill_cuda(64, out.view({16, 64})); });
    lesson::trace("picture, 16 x 64 pixels of one byte", [&] {
        picture_cuda({}, pixels.view({16, 64}));
    });
}

int lesson_of_the_day(const lesson::Options& options) {
    if (options.trace) {
        trace();
        return 0;
    }
    lesson::Report report(kTitle, kWhat, options);
    if (options.bench) {
        versions_of_add(report, true);
        bench_all_but_add(report);
        return report.finish("");
    }
    memory_is_one_run(report);
    one_question_per_dim(report);
    one_allocation_many_tensors(report);
    an_iteration_becomes_a_thread(report);
    versions_of_add(report, options.timing);
    other_elementwise(report);
    loop_variables_become_axes(report);
    a_picture(report, options);
    return report.finish(
        "take the guard out of square_kernel in elementwise_cuda.cu, run again, and read\n"
        "who notices. `--png julia.png` writes the picture, 1200 x 800.");
}

}  // namespace

int main(int argc, char** argv) {
    int status = 0;
    const auto options =
        lesson::parse(argc, argv, std::string(kTitle) + ". " + kWhat,
                      {{"--png", "FILE", "also write the picture of section 8, as PNG"}}, status);
    if (!options) return status;
    try {
        return lesson_of_the_day(*options);
    } catch (const std::exception& error) {
        std::fflush(stdout);
        std::fprintf(stderr, "\n%s\n", error.what());
        return 1;
    }
}
