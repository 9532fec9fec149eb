// The lesson program of Day 01: every line marked "ok" has just been checked.
#include <cstdio>

#include "common/gpu/device.hpp"
#include "common/lesson/lesson.hpp"
#include "common/lesson/png.hpp"
#include "common/tensor/index.hpp"
#include "day01_flat_memory/bench/bench.hpp"
#include "day01_flat_memory/elementwise.hpp"
#include "day01_flat_memory/indices.hpp"
#include "day01_flat_memory/offsets.hpp"
#include "day01_flat_memory/parameters.hpp"
#include "day01_flat_memory/picture.hpp"
#include "day01_flat_memory/run/operation.hpp"

using namespace sixdays;
using namespace sixdays::day01_flat_memory;
using lesson::filled, lesson::same, lesson::with_commas;

namespace {

void memory_is_one_run(lesson::Report& report) {
    report.heading("1. Memory is one run of elements");
    const Tensor<int> x({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    std::printf("   x: %s\n\n       as we think of it        in memory\n",
                to_string(x.view().layout).c_str());
    const char* const beside[] = {"          offset   0  1  2  3  4  5  6  7  8",
                                  "          element  1  2  3  4  5  6  7  8  9", ""};
    for (int m = 0; m < 3; ++m) {
        std::printf("         %d  %d  %d%s\n", x(m, 0), x(m, 1), x(m, 2), beside[m]);
    }
    std::printf("\n   Row m, column k is at offset m * K + k, where K = 3 is the row length.\n");
    report.check(offset2(1, 2, 3) == 5 && x.data()[5] == 6,
                 "x(1, 2): offset 1 * 3 + 2 = 5, which holds 6");
}

void one_question_per_dim(lesson::Report& report) {
    report.heading(
        "2. One question per dimension: how many elements away is the next one along it?");
    const Layout scores = row_major({2, 3, 4, 5});
    std::printf("   Attention scores (B, H, T, S): %s\n\n", to_string(scores).c_str());
    std::printf(
        "       b  sequence         all scores of a sequence: H * T * S = 3 * 4 * 5 = %2d\n"
        "       h  head             all scores of a head:          T * S =     4 * 5 = %2d\n"
        "       q  query position   all scores of a query:             S =         5 = %2d\n"
        "       k  key position     neighbours in memory:              1             = %2d\n\n",
        int(scores.stride(0)), int(scores.stride(1)), int(scores.stride(2)), int(scores.stride(3)));
    report.check(offset4(1, 2, 3, 1, 3, 4, 5) == 116 && offset(scores, 1, 2, 3, 1) == 116,
                 "scores(1, 2, 3, 1): offset 1*60 + 2*20 + 3*5 + 1*1 = 116");
    report.check(unravel(116, scores.shape) == Index{1, 2, 3, 1},
                 "and back, by division and remainder: offset 116 is element (1, 2, 3, 1)");

    // Activations (B, T, C), where element k holds k.
    const Tensor<float> x = filled<float>({2, 3, 4}, [](std::int64_t k) { return k; });
    const float* token = token_at(x.data(), 1, 2, 3, 4);
    report.check(token - x.data() == 20,
                 "row pointer: in x (2, 3, 4), token (1, 2) begins at (1*3 + 2)*4 = 20");
    report.check(token[3] == x(1, 2, 3) && token[3] == 23,
                 "token[3] is x(1, 2, 3), which holds 23, its own offset");
}

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
    report.check(total == 124475904,
                 "each begins where the one before it ends; in total " + with_commas(total) +
                     " elements,\n          " + with_commas(4 * total) +
                     " bytes as float (47 rows of wte are padding that no token uses)");
    const std::int64_t kv = kv_cache_bytes({}, 1024, 4);
    report.check(
        kv == 75497472,
        "KV cache (the keys and values that attention stores) for 1,024 positions:\n"
        "          2 (key, value) * 12 layers * 12 heads * 1024 * 64 channels * 4 bytes = " +
            with_commas(kv));
}

void an_iteration_becomes_a_thread(lesson::Report& report) {
    report.heading("4. One iteration becomes one thread");
    std::printf(
        "   n = 10 elements in blocks of 4 threads: 10 / 4, rounded up, is 3 blocks.\n"
        "   Each thread computes i = blockIdx.x * blockDim.x + threadIdx.x; blockDim.x is 4.\n\n"
        "       blockIdx.x          0  0  0  0    1  1  1  1    2  2  2  2\n"
        "       threadIdx.x         0  1  2  3    0  1  2  3    0  1  2  3\n"
        "       i                   0  1  2  3    4  5  6  7    8  9 10 11\n"
        "       i < n ?             y  y  y  y    y  y  y  y    y  y  -  -\n\n");
    int work = 0;
    for (int i = 0; i < 3 * 4; ++i) work += i < 10;
    report.check(work == 10,
                 "3 * 4 = 12 threads, 10 with an element. Without the guard i < n the last two\n"
                 "          would read and write past the end.");
}

void versions_of_add(lesson::Report& report) {
    const std::int64_t n = gpu::is_emulated() ? 100003 : 1000003, bytes = 4 * n;
    report.heading("5. Five versions of out[i] = a[i] + b[i], with a[i] = i and b[i] = 2 * i");
    const Tensor<float> a = filled<float>({n}, [](std::int64_t i) { return i; });
    const Tensor<float> b = filled<float>({n}, [](std::int64_t i) { return 2 * i; });
    const Tensor<float> want = filled<float>({n}, [](std::int64_t i) { return 3 * i; });
    Tensor<float> out({n});
    lesson::Version loop = loop_of_add();
    loop.check = {[&](int) { add_cpu(a.view(), b.view(), out.view()); },
                  {{out.data(), want.data(), bytes}}};
    report.loop(loop);
    const gpu::Buffer<float> da(a), db(b), dwant(want);
    gpu::Buffer<float> dout(n);
    const Timed longer = memory_of_add(report);
    const Layout all = row_major({n - 1});  // one shorter, so that it may begin at element 1
    const auto port = [&](ElementwisePath path, const Place& at, const std::string& how) {
        lesson::Version v = port_of_add(path, at, longer);
        if (!how.empty()) v.how = how;
        v.check.run = [&](int) {
            add_cuda(da.view(all, at.in), db.view(all, at.in), dout.view(all, at.out),
                     {.path = path});
        };
        v.check.outcomes = {{dout.data() + at.out, dwant.data() + at.in, bytes - 4}};
        report.port(v);
    };
    for (const ElementwisePath path : kElementwisePaths) port(path, {name(path)}, "");
    report.note(
        "add_cuda chooses by address. 16-byte loads begin at a multiple of 16. If all pointers\n"
        "   are equally far past one, the first few elements are scalar and the rest float4.");
    for (const Place& at : kPlaces) {
        const ElementwisePath path =
            choose_elementwise(dout.view(all, at.out), da.view(all, at.in), db.view(all, at.in));
        port(path, at, std::string("takes ") + name(path));
    }
}

void other_elementwise(lesson::Report& report) {
    report.heading("6. The same loop and the same kernel with another body; x[i] = i");
    const std::int64_t n = 4001;
    const Tensor<float> x = filled<float>({n}, [](std::int64_t i) { return i; });
    const Tensor<float> y = filled<float>({n}, [](std::int64_t i) { return 1000000 - i; });
    const gpu::Buffer<float> dx(x), dy(y);
    Tensor<float> out({n});
    gpu::Buffer<float> dout(n);
    const auto check = [&](auto by_hand, const char* text) {
        bool ok = same(dout, out);
        for (std::int64_t i = 0; i < n; ++i) ok &= out(i) == static_cast<float>(by_hand(i));
        report.check(ok, text);
        dout.fill_bytes(0xff);
    };
    square_cpu(x.view(), out.view());
    square_cuda(dx.view({n}), dout.view({n}));
    check([](std::int64_t i) { return i * i; },
          "square  x * x      the loop gives i * i, the kernel agrees");
    scale_cpu(3, x.view(), out.view());
    scale_cuda(3, dx.view({n}), dout.view({n}));
    check([](std::int64_t i) { return 3 * i; },
          "scale   3 * x      the loop gives 3 * i, the kernel agrees");
    saxpy_cpu(3, x.view(), y.view(), out.view());
    saxpy_cuda(3, dx.view({n}), dy.view({n}), dout.view({n}));
    check([](std::int64_t i) { return 1000000 + 2 * i; },
          "saxpy   3 * x + y  y[i] = 10^6 - i: the loop gives 10^6 + 2 * i, the kernel agrees");
    const auto grey = filled<std::uint8_t>({n}, [](std::int64_t i) { return i % 256; });
    const gpu::Buffer<std::uint8_t> dgrey(grey);
    Tensor<std::uint8_t> negative({n});
    gpu::Buffer<std::uint8_t> dnegative(n);
    invert_cpu(grey.view(), negative.view());
    invert_cuda(dgrey.view({n}), dnegative.view({n}));
    report.check(
        same(dnegative, negative) && negative(0) == 255 && negative(1000) == 255 - 232,
        "invert  255 - x    x[i] = i % 256, one byte each: the kernel agrees with the loop");
}

void loop_variables_become_axes(lesson::Report& report) {
    report.heading("7. Loop variables become the axes of a grid; x is the fast one");
    Tensor<float> m({3, 5});
    indices_cpu(10, m.view());
    std::printf(
        "   indices sets each element to its own index. For shape (3, 5), in decimal digits:"
        "\n\n");
    for (int i = 0; i < 3; ++i) {
        std::printf("        %02.0f %02.0f %02.0f %02.0f %02.0f\n", m(i, 0), m(i, 1), m(i, 2),
                    m(i, 3), m(i, 4));
    }
    std::printf("\n");
    for (const Shape& shape : {Shape{37, 61}, Shape{5, 19, 33}, Shape{3, 5, 7, 11}}) {
        const Tensor<float> digits = filled<float>(shape, [&](std::int64_t k) {
            return ravel(unravel(k, shape), Dims::filled(shape.rank, 64));
        });
        Tensor<float> want(shape);
        indices_cpu(64, want.view());
        gpu::Buffer<float> got(want.size());
        got.fill_bytes(0xff);
        indices_cuda(64, got.view(shape));
        report.check(same(got, want) && same(got, digits),
                     std::to_string(shape.rank) + "-D indices of " + to_string(shape) +
                         ", digits in base 64: the loop is right, the kernel agrees");
    }
}

void write_picture(lesson::Report& report, const std::string& file) {
    Tensor<std::uint8_t> picture({800, 1200});
    gpu::Buffer<std::uint8_t> pixels(picture.size());
    picture_cuda({}, pixels.view(picture.shape()));
    picture_cpu({}, picture.view());
    lesson::write_png(file, filled<std::uint8_t>(picture.shape(), [&](std::int64_t i) {
                                return brightness(picture.data()[i]);
                            }).view());
    report.check(same(pixels, picture), "kernel and loop agree on " + file + ", 960,000 pixels");
}

void a_picture(lesson::Report& report) {
    report.heading("8. A picture: one thread per pixel");
    std::printf(
        "   A Julia set: each pixel is a point z of the plane. Repeat z = z * z + c and count the\n"
        "   steps until |z| exceeds 2. More steps give a later character of \" .:-=+*#%%@\".\n\n");
    const std::int64_t H = 34, W = 76;
    const Julia julia{.height = 1.8f};
    Tensor<std::uint8_t> want({H, W});
    picture_cpu(julia, want.view());
    gpu::Buffer<std::uint8_t> got(H * W);
    picture_cuda(julia, got.view({H, W}));
    const char* const shades = " .:-=+*#%@";
    for (std::int64_t y = 0; y < H; y += 2) {  // a letter is about twice as tall as wide
        std::string row;
        for (std::int64_t x = 0; x < W; ++x) row += shades[want(y, x) > 59 ? 9 : want(y, x) / 6];
        std::printf("   %s\n", row.c_str());
    }
    report.check(same(got, want), "the kernel agrees with the loop in every pixel");
    const auto png = report.options().own.find("--png");
    if (png != report.options().own.end()) write_picture(report, png->second);
}

}  // namespace

int main(int argc, char** argv) {
    return lesson::run(
        argc, argv,
        {.title = "Day 01, flat memory",
         .shows = "An N-D index becomes one offset, and one loop iteration becomes one thread.",
         .sections = {memory_is_one_run, one_question_per_dim, one_allocation_many_tensors,
                      an_iteration_becomes_a_thread, versions_of_add, other_elementwise,
                      loop_variables_become_axes, a_picture},
         .trace = trace_all,
         .bench = bench_all,
         .try_this = "remove the guard from add_kernel in elementwise_cuda.cu, run again, and see\n"
                     "what reports it. `--png julia.png` writes the picture, 1200 x 800.",
         .flags = {{"--png", "FILE", "also write the picture of section 8, as PNG"}}});
}
