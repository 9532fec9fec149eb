#include "day02_strides/bench/bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>

#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "common/gpu/different.hpp"
#include "common/tensor/tensor.hpp"
#include "day02_strides/gather.hpp"
#include "day02_strides/layouts.hpp"
#include "day02_strides/model.hpp"
#include "day02_strides/pitched.hpp"
#include "day02_strides/steps/steps.hpp"
#include "day02_strides/sweep.hpp"

namespace sixdays::day02_strides {
namespace {

constexpr std::int64_t kLarge = std::int64_t{1} << 26;  // floats: 256 MiB, far beyond any cache

// Element i holds i, rounded to float.
Tensor<float> counted(std::int64_t n) {
    Tensor<float> x(Shape{n});
    ramp_cpu(View<float>(x.data(), Shape{1, n}));
    return x;
}

void poison(Tensor<float>& x) {
    std::memset(x.data(), 0xff, static_cast<std::size_t>(x.size()) * sizeof(float));
}

lesson::Version copies(const std::string& op, const std::string& version, const Shape& shape) {
    lesson::Version v;
    v.op = op;
    v.version = version;
    v.shape = to_string(shape);
    const double bytes = 4.0 * static_cast<double>(size(shape));
    v.work = {bytes, bytes, 0};
    return v;
}

// After `v.run`, `out` must hold what `want` holds, byte for byte.
void measure(lesson::Report& report, lesson::Version v, gpu::Buffer<float>& out,
             const gpu::Buffer<float>& want) {
    v.refill = [&] { out.fill_bytes(0xff); };
    v.verify = [&] { return gpu::count_different(out, want) == 0; };
    v.refill();
    v.run(0);
    v.ok = v.verify();
    v.how = "equals the loop, every element" + (v.path.empty() ? "" : "; takes " + v.path);
    report.port(v);
}

using Gather = void (*)(View<const float>, View<float>, gpu::Stream);
struct Step {
    const char* name;
    Gather gather;
};

// One layout, read from `first` on, by each of the steps.
void time_one_gather(lesson::Report& report, const std::string& op, const Layout& layout,
                     std::int64_t first, const std::vector<Step>& steps) {
    const Tensor<float> memory = counted(required_span(layout));
    Tensor<float> expected(layout.shape);
    gather_cpu({memory.data() + first, layout}, expected.view());
    const gpu::Buffer<float> in(memory), want(expected);
    gpu::Buffer<float> out(layout.size());
    const View<const float> from = in.view(layout, first);
    const View<float> to = out.view(layout.shape);
    for (const Step& step : steps) {
        lesson::Version v = copies(op, step.name, layout.shape);
        if (step.gather == gather_cuda) v.path = name(choose_gather(from, to));
        v.run = [&](int) { step.gather(from, to, {}); };
        measure(report, v, out, want);
    }
}

// One pair of pitches, by each of the ports.
void time_one_pitched(lesson::Report& report, const std::string& op, std::int64_t K,
                      std::int64_t in_pitch, std::int64_t out_pitch,
                      const std::vector<Step>& steps) {
    const std::int64_t M = kLarge / K;
    const Layout from = pitched_rows(M, K, in_pitch), to = pitched_rows(M, K, out_pitch);
    const Tensor<float> memory = counted(required_span(from));
    Tensor<float> expected(Shape{required_span(to)});
    poison(expected);
    pitched_cpu({memory.data(), from}, {expected.data(), to});
    const gpu::Buffer<float> in(memory), want(expected);
    gpu::Buffer<float> out(want.size());
    for (const Step& step : steps) {
        const std::string pitches =
            " (pitch " + std::to_string(in_pitch) + " to " + std::to_string(out_pitch) + ")";
        lesson::Version v = copies(op, step.name + pitches, {M, K});
        if (step.gather == pitched_cuda) v.path = name(choose_pitched(in.view(from), out.view(to)));
        v.run = [&](int) { step.gather(in.view(from), out.view(to), {}); };
        measure(report, v, out, want);
    }
}

}  // namespace

void time_gather(lesson::Report& report, std::int64_t B) {
    if (!report.times_ports()) return;
    const std::int64_t NH = 12, T = 1024, d = 64;
    // (B, T, NH, d) read as (B, NH, T, d): what attention does to its heads.
    const Layout heads({B, NH, T, d}, {T * NH * d, d, NH * d, 1});
    time_one_gather(report, "gather", heads, 0,
                    {{"unravel", gather_unravel},
                     {"fast division", gather_fast_division},
                     {"by rank", gather_by_rank},
                     {"gather_cuda", gather_cuda}});
}

void time_gather_of_matrices(lesson::Report& report) {
    if (!report.times_ports()) return;
    const std::int64_t K = 4096, M = kLarge / K;
    const std::vector<Step> chosen = {{"gather_cuda", gather_cuda}};
    time_one_gather(report, "gather_contiguous", row_major({M, K}), 0, chosen);
    time_one_gather(report, "gather_pitched", pitched_rows(M, K, K + 32), 0, chosen);
    time_one_gather(report, "gather_odd_pitch", pitched_rows(M, K, K + 1), 0, chosen);
    time_one_gather(report, "gather_flipped", Layout({M, K}, {-K, 1}), (M - 1) * K, chosen);
}

void time_pitched(lesson::Report& report) {
    if (!report.times_ports()) return;
    for (const std::int64_t K : {std::int64_t{32}, std::int64_t{1024}, std::int64_t{4096}}) {
        std::vector<Step> steps = {{"pitched_cuda", pitched_cuda}};
        // That one has no walk along y: a grid of 2^21 rows would be too high for it.
        if (K > 32) steps.insert(steps.begin(), {"one element a thread", pitched_one_element});
        time_one_pitched(report, "pitched", K, K + 32, K + 64, steps);
        time_one_pitched(report, "pitched_odd", K, K + 1, K + 32, {{"pitched_cuda", pitched_cuda}});
    }
}

// --- the sweep -----------------------------------------------------------------------------------
namespace {

// About as many columns, and so threads, as an H200 holds at once.
constexpr std::int64_t kColumns = std::int64_t{1} << 18;

// Every stride-th element of `span` floats.
Layout every(std::int64_t stride, std::int64_t span) {
    const std::int64_t J = span / (kColumns * stride);
    const std::int64_t whole_bursts = J < 8 ? J : J / 8 * 8;  // of sum_columns' loads
    return Layout({whole_bursts, kColumns}, {kColumns * stride, stride});
}

lesson::Version sweep(const std::string& op, std::int64_t stride, const Layout& layout,
                      double seconds) {
    char predicted[48];
    std::snprintf(predicted, sizeof predicted, "model %.4e s", seconds);
    lesson::Version v;
    v.op = op;
    v.version = "stride " + std::to_string(stride);
    v.shape = to_string(layout.shape);
    v.path = predicted;
    std::snprintf(predicted, sizeof predicted, "the model says %.0f us", 1e6 * seconds);
    v.how = predicted;
    return v;
}

// Element i of the memory holds i. Some columns, each added to its end.
bool sums_are_right(const gpu::Buffer<float>& sums, const Layout& layout) {
    const std::vector<float> got = sums.download();
    bool ok = true;
    for (std::int64_t t = 0; t < kColumns; t += 509) {
        float sum = 0;
        for (std::int64_t j = 0; j < layout.extent(0); ++j) {
            sum += static_cast<float>(offset(layout, j, t));
        }
        ok &= got[static_cast<std::size_t>(t)] == sum;
    }
    return ok;
}

// The beginning of the first row and of the last, and the poison between their elements.
bool ramp_is_right(const gpu::Buffer<float>& memory, const Layout& layout) {
    const std::int64_t stride = layout.stride(1), columns = 4096;
    bool ok = true;
    for (const std::int64_t j : {std::int64_t{0}, layout.extent(0) - 1}) {
        const std::vector<float> row = memory.download(offset(layout, j, 0), columns * stride);
        for (std::int64_t i = 0; i < columns * stride; ++i) {
            const float got = row[static_cast<std::size_t>(i)];
            ok &= i % stride == 0 ? got == static_cast<float>(j * kColumns + i / stride)
                                  : std::isnan(got);
        }
    }
    return ok;
}

}  // namespace

void time_sweep(lesson::Report& report, const std::vector<std::int64_t>& strides) {
    if (!report.times_ports()) return;
    std::int64_t span = std::int64_t{1} << 30;
    while (span > kColumns * 256 && span * 4 > gpu::free_bytes() / 2) span /= 2;
    gpu::Buffer<float> memory(span), sums(kColumns);
    ramp_cuda(memory.view({span / kColumns, kColumns}));  // element i holds i
    for (const std::int64_t stride : strides) {
        const Layout layout = every(stride, span);
        lesson::Version v =
            sweep("sum_columns", stride, layout, seconds_to_read(layout, report.gpu_limits()));
        v.work.bytes_read = 4.0 * static_cast<double>(layout.size());
        v.work.bytes_written = 4.0 * static_cast<double>(kColumns);
        v.run = [&](int) { sum_columns_cuda(memory.view(layout), sums.view({kColumns})); };
        v.refill = [&] { sums.fill_bytes(0xff); };
        v.verify = [&] { return sums_are_right(sums, layout); };
        v.refill();
        v.run(0);
        v.ok = v.verify();
        report.port(v);
    }
    for (const std::int64_t stride : strides) {
        const Layout layout = every(stride, span);
        lesson::Version v =
            sweep("ramp", stride, layout, seconds_to_write(layout, report.gpu_limits()));
        v.work.bytes_written = 4.0 * static_cast<double>(layout.size());
        v.run = [&](int) { ramp_cuda(memory.view(layout)); };
        v.refill = [&] { memory.fill_bytes(0xff); };
        v.verify = [&] { return ramp_is_right(memory, layout); };
        v.refill();
        v.run(0);
        v.ok = v.verify();
        report.port(v);
    }
}

}  // namespace sixdays::day02_strides
