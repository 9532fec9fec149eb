#include "day02_strides/run/timed.hpp"

#include <cstdio>
#include <cstring>

#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "day02_strides/pack.hpp"
#include "day02_strides/stride_cost.hpp"
#include "day02_strides/sweep.hpp"

namespace sixdays::day02_strides {

// --- pack and pitched ----------------------------------------------------------------------------

lesson::Trial trial(const std::shared_ptr<Pair>& pair, const Pair::Port& port) {
    return {[=](int) { port(pair->in(), pair->out()); }, {pair->outcome()}};
}

lesson::Version version(const std::string& op, const std::string& how, const Shape& shape,
                        const std::string& path) {
    lesson::Version v;
    v.op = op;
    v.version = how;
    v.shape = to_string(shape);
    v.path = path;
    if (!path.empty()) v.how += "; path: " + path;
    const double bytes = 4.0 * static_cast<double>(size(shape));
    v.work = {bytes, bytes, 0};
    return v;
}

std::shared_ptr<Pair> packing(const Layout& from) {
    return std::make_shared<Pair>(pack_cpu, from, row_major(from.shape));
}

namespace {

// (B, T, H, D) read as (B, H, T, D), as attention reads its heads.
Layout heads(std::int64_t B, std::int64_t T, std::int64_t H, std::int64_t D) {
    return Layout({B, H, T, D}, {T * H * D, D, H * D, 1});
}

}  // namespace

void pack_ladder(lesson::Report& report, std::int64_t B) {
    const auto small = packing(heads(2, 5, 3, 8));
    const auto large = report.times_ports() ? packing(heads(B, 1024, 12, 64)) : nullptr;
    const auto run = [&](lesson::Version v, const Pair::Port& port) {
        v.check = trial(small, port);
        v.timed = [=] { return trial(large, port); };
        report.port(v);
    };
    const Shape shape{B, 12, 1024, 64};
    for (const PackPath path :
         {PackPath::any_size, PackPath::fast_division, PackPath::by_rank, PackPath::in_flight}) {
        run(version("pack", name(path), shape),
            [path](auto in, auto out) { pack_cuda(in, out, {.path = path}); });
    }
    const PackPath chosen = choose_pack(small->in(), small->out());
    run(version("pack", "pack_cuda", shape, name(chosen)),
        [](auto in, auto out) { pack_cuda(in, out); });
}

// --- the sweep -----------------------------------------------------------------------------------
namespace {

// Columns, one per thread: about the number of threads that an H200 can have resident.
constexpr std::int64_t kColumns = std::int64_t{1} << 18;

// The outputs are large: this many columns of the first and the last row are checked.
constexpr std::int64_t kLookedAt = 4096;

// Every stride-th element of `span` floats.
Layout every(std::int64_t stride, std::int64_t span) {
    const std::int64_t J = span / (kColumns * stride);
    const std::int64_t whole_bursts = J < 8 ? J : J / 8 * 8;  // of sum_columns's loads
    return Layout({whole_bursts, kColumns}, {kColumns * stride, stride});
}

lesson::Version priced(const std::string& op, const Layout& layout, double seconds) {
    char text[48];
    std::snprintf(text, sizeof text, "model %.4e s", seconds);
    lesson::Version v = version(op, "stride " + std::to_string(layout.stride(1)), layout.shape);
    v.path = text;
    std::snprintf(text, sizeof text, "the model predicts %.0f us", 1e6 * seconds);
    v.how = text;
    return v;
}

// Element i of the memory holds i: the sum of column t, added in order.
float sum_of_column(const Layout& layout, std::int64_t t) {
    float sum = 0;
    for (std::int64_t j = 0; j < layout.extent(0); ++j) {
        sum += static_cast<float>(offset(layout, j, t));
    }
    return sum;
}

// Device memory starting at `out` must hold `expected`; the run writes more than that.
struct Looked {
    float* out;
    gpu::Buffer<float> want;
    Looked(float* out_, const Tensor<float>& expected) : out(out_), want(expected) {}
    lesson::Outcome outcome() const { return {out, want.data(), 4 * want.size()}; }
};

// The sums of the first columns and of the last.
Looked looked_at_sums(gpu::Buffer<float>& sums, const Layout& layout, bool last) {
    Tensor<float> expected({kLookedAt});
    const std::int64_t first = last ? kColumns - kLookedAt : 0;
    for (std::int64_t t = 0; t < kLookedAt; ++t) expected(t) = sum_of_column(layout, first + t);
    return {sums.data() + first, expected};
}

// The beginning of the first row, or of the last, and the poison between its elements.
Looked looked_at_row(gpu::Buffer<float>& memory, const Layout& layout, bool last) {
    const std::int64_t stride = layout.stride(1), j = last ? layout.extent(0) - 1 : 0;
    Tensor<float> expected({kLookedAt, stride});
    std::memset(expected.data(), 0xff, static_cast<std::size_t>(expected.size()) * 4);
    for (std::int64_t t = 0; t < kLookedAt; ++t) {
        expected(t, 0) = static_cast<float>(j * kColumns + t);
    }
    return {memory.data() + offset(layout, j, 0), expected};
}

}  // namespace

void time_sweep(lesson::Report& report, const std::vector<std::int64_t>& strides) {
    if (!report.times_ports()) return;
    std::int64_t span = std::int64_t{1} << 30;
    while (span > kColumns * 256 && span * 4 > gpu::free_bytes() / 2) span /= 2;
    gpu::Buffer<float> memory(span), sums(kColumns);
    ramp_cuda(memory.view({span / kColumns, kColumns}));  // element i holds i
    const auto run = [&](lesson::Version& v, const auto& launch, const Looked& a, const Looked& b) {
        v.check = {launch, {a.outcome(), b.outcome()}};  // each run writes both
        report.port(v);
    };
    for (const std::int64_t stride : strides) {
        const Layout layout = every(stride, span);
        lesson::Version v =
            priced("sum_columns", layout, seconds_to_read(layout, report.gpu_limits()));
        v.work.bytes_written = 4.0 * static_cast<double>(kColumns);
        run(
            v, [&](int) { sum_columns_cuda(memory.view(layout), sums.view({kColumns})); },
            looked_at_sums(sums, layout, false), looked_at_sums(sums, layout, true));
    }
    for (const std::int64_t stride : strides) {
        const Layout layout = every(stride, span);
        lesson::Version v = priced("ramp", layout, seconds_to_write(layout, report.gpu_limits()));
        v.work.bytes_read = 0;
        run(
            v, [&](int) { ramp_cuda(memory.view(layout)); }, looked_at_row(memory, layout, false),
            looked_at_row(memory, layout, true));
    }
}

}  // namespace sixdays::day02_strides
