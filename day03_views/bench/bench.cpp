#include "day03_views/bench/bench.hpp"

#include <cstdio>
#include <string>
#include <vector>

#include "common/gpu/different.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/combine.hpp"
#include "day03_views/combine_fill.hpp"
#include "day03_views/copy.hpp"
#include "day03_views/steps/steps.hpp"
#include "day03_views/timed_move.hpp"
#include "day03_views/transpose.hpp"

namespace sixdays::day03_views {

// --- 4 -------------------------------------------------------------------------------------------

namespace {

// A layout to copy from, to a row-major tensor of its shape, small and large.
struct CopyCase {
    const char* name;
    Layout small, large;
    Kind kind = kFloat;
    bool only_bench = false;
};

Layout permuted(const Shape& shape, const Dims& order) {
    return permute(row_major(shape), order);
}

std::vector<CopyCase> copy_cases() {
    const std::int64_t K = 1024, k = 64;
    const auto pick = [](const Shape& shape, std::int64_t begin, std::int64_t end) {
        return slice(row_major(shape), 1, begin, end).layout;
    };
    return {
        {"contiguous", row_major({k, 40}), row_major({8 * K, 8 * K})},
        {"heads", permuted({2, 16, 3, 64}, {0, 2, 1, 3}), permuted({64, K, 12, 64}, {0, 2, 1, 3})},
        {"heads", permuted({2, 16, 3, 64}, {0, 2, 1, 3}), permuted({64, K, 12, 64}, {0, 2, 1, 3}),
         kBf16, true},
        {"heads back", permuted({2, 3, 16, 64}, {0, 2, 1, 3}),
         permuted({64, 12, K, 64}, {0, 2, 1, 3}), kFloat, true},
        {"half of the columns", pick({9, 128}, 16, 80), pick({8 * K, 8 * K}, K, 5 * K)},
        {"columns, unaligned", pick({9, 128}, 17, 80), pick({8 * K, 8 * K}, 1001, 5002)},
        {"rows backwards", flip(row_major({9, 64}), 0).layout,
         flip(row_major({8 * K, 8 * K}), 0).layout},
        {"columns backwards", flip(row_major({9, 64}), 1).layout,
         flip(row_major({8 * K, 8 * K}), 1).layout},
        {"a row repeated", Layout({40, 48}, {0, 1}), Layout({8 * K, 8 * K}, {0, 1})},
        {"a column repeated", Layout({40, 48}, {1, 0}), Layout({8 * K, 8 * K}, {1, 0})},
        {"one value", Layout({40, 48}, {0, 0}), Layout({8 * K, 8 * K}, {0, 0})},
        {"transpose", column_major({65, 48}), column_major({8 * K, 8 * K})},
        {"transpose", column_major({72, 48}), column_major({8 * K, 8 * K}), kBf16},
        {"transpose", column_major({80, 48}), column_major({8 * K, 8 * K}), kUint8},
        {"transpose", column_major({65, 47}), column_major({8193, 8191}), kFloat, true},
        {"transpose of heads", permuted({2, 3, 40, 64}, {0, 1, 3, 2}),
         permuted({64, 12, K, 64}, {0, 1, 3, 2}), kFloat, true},
        {"channels last", permuted({3, 10, 20}, {1, 2, 0}), permuted({3, K, K, 16}, {1, 2, 3, 0})},
        {"channels first", permuted({3, 200, 16}, {0, 2, 1}), permuted({3, K * K, 16}, {0, 2, 1}),
         kFloat, true},
        {"7 columns, turned", permuted({100, 7}, {1, 0}), permuted({K * K, 7}, {1, 0}), kFloat,
         true},
        {"17 columns, turned", permuted({100, 17}, {1, 0}), permuted({64 * K, 17}, {1, 0})},
        {"17 rows, turned", permuted({17, 100}, {1, 0}), permuted({17, 64 * K}, {1, 0}), kFloat,
         true},
        {"every other column", slice(row_major({9, 64}), 1, 0, 64, 2).layout,
         slice(row_major({8 * K, 8 * K}), 1, 0, 8 * K, 2).layout, kFloat, true},
    };
}

std::string path_of(const Kind& kind, const Layout& in) {
    // Addresses as cudaMalloc gives them: multiples of 256. The numbers are looked at, nothing
    // else.
    alignas(256) static char somewhere[512];
    const char* const first = origin(somewhere + 256, in, kind.element);
    const BytesIn from{first, kind.element, in};
    const BytesOut to{somewhere, kind.element, row_major(in.shape)};
    const CopyPlan plan = plan_copy(from, to);
    return std::string(name(plan.path)) + ", " + std::to_string(plan.out.element) + " bytes";
}

}  // namespace

void copies(lesson::Report& report, bool bench) {
    report.heading("4. copy takes the path that the two layouts ask for; out is row-major");
    const Move port = [](const BytesIn& in, const BytesOut& out) { copy_bytes_cuda(in, out); };
    if (!bench) {
        std::printf("   in                          shape          strides            path\n");
    }
    for (const CopyCase& c : copy_cases()) {
        const Shapes small{c.small, row_major(c.small.shape)};
        if (!bench && !c.only_bench) {
            char line[128];
            std::snprintf(line, sizeof line, "%-20s %-14s %-18s %s", c.name,
                          to_string(c.small.shape).c_str(), to_string(c.small.strides).c_str(),
                          path_of(c.kind, c.small).c_str());
            report.check(equals_loop(c.kind, small, copy_bytes_cpu, port), line);
        }
        if (!bench) continue;
        lesson::Version v;
        v.op = std::string("copy, ") + c.name;  // each is an operation of its own to its peer
        v.version = "copy_cuda";
        v.path = path_of(c.kind, c.large);
        report_move(report, v, c.kind, small, {c.large, row_major(c.large.shape)}, c.large,
                    copy_bytes_cpu, port);
    }
    if (bench) return;
    report.note(
        "straight: one run of memory. rows: runs in common, in pieces of so many bytes. tiles: in "
        "runs\n   along another dim, a transpose. short rows: the same where one dim is short. "
        "splat: one\n   element fills a run. general: element by element.");
}

// --- 5 -------------------------------------------------------------------------------------------

void ladder(lesson::Report& report, bool bench) {
    report.heading("5. A matrix written as its transpose, in eight kernels");
    const auto floats = [](auto step) {
        return [step](const BytesIn& in, const BytesOut& out) {
            step(in.as<float>(), out.as<float>(), nullptr);
        };
    };
    const auto any = [](auto step) {
        return [step](const BytesIn& in, const BytesOut& out) { step(in, out, nullptr); };
    };
    const struct {
        const char* version;
        Move move;
        std::vector<Kind> kinds;
    } steps[] = {
        {"read coalesced", floats(transpose_read_coalesced), {kFloat}},
        {"write coalesced", floats(transpose_write_coalesced), {kFloat}},
        {"shared tile", floats(transpose_shared_tile), {kFloat}},
        {"padded tile", floats(transpose_padded), {kFloat}},
        {"in flight", any(transpose_in_flight), {kFloat, kBf16, kUint8}},
        {"16 bytes", floats(transpose_sixteen_bytes), {kFloat}},
        {"packed bytes", any(transpose_packed_bytes), {kBf16, kUint8}},
    };
    const auto shapes = [](std::int64_t M, std::int64_t N) {
        return Shapes{row_major({M, N}), row_major({N, M})};
    };
    const auto run = [&](const char* version, const Kind& kind, const Move& move, std::int64_t M,
                         std::int64_t N, const char* path) {
        lesson::Version v;
        v.op = "transpose";
        v.version = version;
        v.path = path;
        const Shapes small = M % 16 == 0 ? shapes(144, 208) : shapes(143, 209);
        report_move(report, v, kind, small, shapes(M, N), column_major({N, M}), transpose_bytes_cpu,
                    move);
    };
    const std::int64_t side = bench ? 8192 : 4096;
    for (const auto& step : steps) {
        for (const Kind& kind : step.kinds) {
            run(step.version, kind, step.move, side, side, "");
            if (!bench) break;
            run(step.version, kind, step.move, 16384, 4096, "");
        }
    }
    if (!bench) return run("whole sectors", kFloat, any(transpose_whole_sectors), 4095, 4097, "");
    for (const Kind& kind : {kFloat, kBf16, kUint8}) {
        run("in flight, odd rows", kind, any(transpose_in_flight), 8191, 8193, "");
        if (kind.element == 1) continue;
        run("whole sectors, odd rows", kind, any(transpose_whole_sectors), 8191, 8193, "");
    }
}

// --- what several tensors make -------------------------------------------------------------------
namespace {

gpu::Buffer<float> floats(std::int64_t n) {
    const std::vector<std::uint8_t> bytes = noise(std::min<std::int64_t>(4 * n, 1 << 24));
    std::vector<float> some(bytes.size() / 4);
    for (std::size_t i = 0; i < some.size(); ++i) {
        some[i] = static_cast<float>(bytes[4 * i]) - 0.5f * static_cast<float>(bytes[4 * i + 1]);
    }
    gpu::Buffer<float> x(n);
    const auto part = static_cast<std::int64_t>(some.size());
    for (std::int64_t at = 0; at < n; at += part) {
        x.upload(some.data(), std::min(part, n - at), at);
    }
    return x;
}

// Runs once, compares `rows` rows with the loop's, then times.
void report_floats(lesson::Report& report, const char* op, const char* version, const Shape& shape,
                   double bytes_read, gpu::Buffer<float>& out, const std::vector<float>& first,
                   const std::function<void()>& run) {
    lesson::Version v;
    v.op = op;
    v.version = version;
    v.shape = to_string(shape);
    v.work.bytes_read = bytes_read;
    v.work.bytes_written = 4.0 * static_cast<double>(size(shape));
    v.how = "its first rows equal the loop's";
    v.refill = [&] { out.fill_bytes(0xff); };
    v.run = [run](int) { run(); };
    v.verify = [&] { return out.download(0, static_cast<std::int64_t>(first.size())) == first; };
    v.refill();
    v.run(0);
    v.ok = v.verify();
    report.port(v);
}

std::vector<float> elements_of(const Tensor<float>& x) {
    return {x.data(), x.data() + x.size()};
}
Tensor<float> tensor_of(const gpu::Buffer<float>& x, const Shape& shape) {
    return {shape, x.download(0, size(shape))};
}

}  // namespace

void combinations(lesson::Report& report) {
    if (!report.times_ports()) return;
    const std::int64_t M = 8192, N = 4096, few = 16;
    const double all = 4.0 * static_cast<double>(M * N);
    const gpu::Buffer<float> a = floats(M * N), bias = floats(N), column = floats(M);
    gpu::Buffer<float> out(M * N);
    const Tensor<float> some = tensor_of(a, {few, N});
    Tensor<float> want({few, N});

    add_broadcast_cpu(some.view(), tensor_of(bias, {N}).view(), want.view());
    report_floats(report, "add, a bias to every row", "add_broadcast_cuda", {M, N}, all, out,
                  elements_of(want), [&] {
                      add_broadcast_cuda(a.view({M, N}), bias.view({N}), out.view({M, N}));
                  });
    add_broadcast_cpu(some.view(), tensor_of(column, {few, 1}).view(), want.view());
    report_floats(report, "add, a bias to every column", "add_broadcast_cuda", {M, N}, all, out,
                  elements_of(want), [&] {
                      add_broadcast_cuda(a.view({M, N}), column.view({M, 1}), out.view({M, N}));
                  });

    const std::int64_t n = std::int64_t{1} << 28;
    gpu::Buffer<float> large(n);
    report_floats(report, "fill", "fill_cuda", {n}, 0, large, std::vector<float>(1000, 1.5f),
                  [&] { fill_cuda(1.5f, large.view({n})); });
}

}  // namespace sixdays::day03_views
