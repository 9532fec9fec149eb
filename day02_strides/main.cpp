// Day 02 as a run: every line that says "ok" was checked a moment before.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <vector>

#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/lesson/options.hpp"
#include "common/lesson/report.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/tensor.hpp"
#include "day02_strides/model.hpp"
#include "day02_strides/sweep.hpp"

using namespace sixdays;
using namespace sixdays::day02_strides;
using sixdays::lesson::with_commas;

namespace {

const char* const kTitle = "Day 02, strides";
const char* const kWhat =
    "A layout is a shape and a stride per dim, and a kernel that takes them runs on any layout.";

// Every element of the device buffer equal to the host's, bit for bit?
bool same(const gpu::Buffer<float>& got, const Tensor<float>& want) {
    const std::vector<float> host = got.download();
    return static_cast<std::int64_t>(host.size()) == want.size() &&
           std::memcmp(host.data(), want.data(), host.size() * sizeof(float)) == 0;
}

// --- the sweep -----------------------------------------------------------------------------------

const std::int64_t kStrides[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,  11,
                                 12, 13, 14, 15, 16, 32, 33, 64, 65, 128, 129};

// Every stride-th element of a buffer, as a matrix of T columns.
Layout every(std::int64_t stride, std::int64_t J, std::int64_t T) {
    return Layout({J, T}, {T * stride, stride});
}

// Small: loop and port at every stride, and the sectors that the emulator counts beside the
// model's.
void strides_counted(lesson::Report& report) {
    const std::int64_t J = 4, T = 256;
    Tensor<float> memory(Shape{J * T * 129});
    ramp_cpu(View<float>(memory.data(), Shape{J * 129, T}));
    const gpu::Buffer<float> in(memory);
    gpu::Buffer<float> sums(T), out(memory.size());
    std::printf(
        "   A warp asks for 32 floats, a stride apart. They lie in so many sectors of 32 bytes, "
        "and\n"
        "   so much of what moves was asked for, if memory moves 32 or 64 bytes at once:\n\n"
        "       stride   sectors of a warp   used of 32s   used of 64s\n");
    bool right = true, counted = true;
    for (const std::int64_t s : kStrides) {
        const Layout layout = every(s, J, T);
        Tensor<float> want({T});
        sum_columns_cpu(View<const float>(memory.data(), layout), want.view());
        const std::int64_t asked = sectors_asked_for(layout);
        const auto read = gpu::touched([&] { sum_columns_cuda(in.view(layout), sums.view({T})); });
        if (!read) sum_columns_cuda(in.view(layout), sums.view({T}));
        const auto wrote = gpu::touched([&] { ramp_cuda(out.view(layout)); });
        right &= same(sums, want);
        // sum_columns also writes T sums, 8 to a sector.
        if (read && wrote) counted &= read->sectors == asked + T / 8 && wrote->sectors == asked;
        std::printf("       %6lld   %17.1f   %9.1f %%   %9.1f %%\n", static_cast<long long>(s),
                    static_cast<double>(asked) / static_cast<double>(J * T / 32),
                    100 * useful_share(layout, moved_by_reading(layout, {32, 32, false})),
                    100 * useful_share(layout, moved_by_reading(layout, {64, 64, false})));
    }
    std::printf("\n");
    report.check(right, "sum_columns: the port equals the loop at every stride, bit for bit");
    report.check(counted, gpu::is_emulated()
                              ? "the emulator counted these sectors, for sum_columns and for ramp"
                              : "(only the emulator counts sectors)");
}

// Large: the same two kernels over as much memory as the GPU has to spare, up to 4 GiB.
void strides_timed(lesson::Report& report) {
    const std::int64_t T = std::int64_t{1} << 18;  // about as many threads as an H200 holds at once
    std::int64_t span = std::int64_t{1} << 30;     // floats
    while (span > T * 256 && span * 4 > gpu::free_bytes() / 2) span /= 2;
    gpu::Buffer<float> memory(span), sums(T);
    const auto layout_of = [&](std::int64_t s) {
        const std::int64_t J = span / (T * s);
        return every(s, J < 8 ? J : J / 8 * 8, T);  // whole bursts of loads
    };
    const auto version_of = [&](const char* op, std::int64_t s, double predicted) {
        lesson::Version v;
        v.op = op;
        v.version = "stride " + std::to_string(s);
        v.shape = to_string(layout_of(s).shape);
        char text[32];
        std::snprintf(text, sizeof text, "predicted %.4f", predicted);
        v.path = text;
        v.how = text;
        v.ok = true;  // strides_counted() has compared loop and port
        return v;
    };

    ramp_cuda(memory.view({span / T, T}));  // element i holds i, as a float
    for (const std::int64_t s : kStrides) {
        const Layout layout = layout_of(s);
        const std::int64_t J = layout.extent(0);
        lesson::Version v =
            version_of("sum_columns", s, useful_share(layout, moved_by_reading(layout)));
        v.work.bytes_read = 4.0 * static_cast<double>(J * T);
        v.work.bytes_written = 4.0 * static_cast<double>(T);
        v.run = [&](int) { sum_columns_cuda(memory.view(layout), sums.view({T})); };
        v.refill = [&] { sums.fill_bytes(0xff); };
        v.verify = [&] {  // some columns, each to its end
            const std::vector<float> got = sums.download();
            bool ok = true;
            for (std::int64_t t = 0; t < T; t += 509) {
                float sum = 0;
                for (std::int64_t j = 0; j < J; ++j) {
                    sum += static_cast<float>(offset(layout, j, t));
                }
                ok &= got[static_cast<std::size_t>(t)] == sum;
            }
            return ok;
        };
        report.port(v);
    }
    for (const std::int64_t s : kStrides) {
        const Layout layout = layout_of(s);
        lesson::Version v = version_of("ramp", s, useful_share(layout, moved_by_writing(layout)));
        v.work.bytes_written = 4.0 * static_cast<double>(layout.size());
        v.run = [&](int) { ramp_cuda(memory.view(layout)); };
        v.refill = [&] { memory.fill_bytes(0xff); };
        v.verify = [&] {  // the first and the last row, and the gaps in them
            bool ok = true;
            for (const std::int64_t j : {std::int64_t{0}, layout.extent(0) - 1}) {
                const std::vector<float> row = memory.download(offset(layout, j, 0), T * s);
                for (std::int64_t i = 0; i < T * s; ++i) {
                    const float got = row[static_cast<std::size_t>(i)];
                    ok &= i % s == 0 ? got == static_cast<float>(j * T + i / s) : std::isnan(got);
                }
            }
            return ok;
        };
        report.port(v);
    }
}

// --- what the warps touch, for --trace -----------------------------------------------------------

void trace() {
    const std::int64_t rows = 64, columns = 32;
    gpu::Buffer<float> memory(rows * columns), sums(rows);
    memory.fill_bytes(0x3f);
    lesson::trace("sums of 64 rows of a row-major matrix (64, 32)", [&] {
        sum_columns_cuda(memory.view(Layout({columns, rows}, {1, columns})), sums.view({rows}));
    });
    lesson::trace("sums of 64 rows of a column-major matrix (64, 32)", [&] {
        sum_columns_cuda(memory.view(Layout({columns, rows}, {rows, 1})), sums.view({rows}));
    });
}

int lesson_of_the_day(const lesson::Options& options) {
    if (options.trace) {
        trace();
        return 0;
    }
    lesson::Report report(kTitle, kWhat, options);
    if (options.bench) {
        strides_timed(report);
        return report.finish("");
    }
    report.heading("9. The price of a stride");
    strides_counted(report);
    if (report.times_ports()) strides_timed(report);
    return report.finish("give sum_columns a stride of 100 in kStrides, and predict its line.");
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
