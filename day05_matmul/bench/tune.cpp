#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "common/bench/measure.hpp"
#include "common/gpu/device.hpp"
#include "common/gpu/different.hpp"
#include "common/lesson/lesson.hpp"
#include "common/tensor/arguments.hpp"
#include "day05_matmul/bench/bench.hpp"
#include "day05_matmul/tuning.hpp"

namespace sixdays::day05_matmul {
namespace {

struct Tried {
    std::string name;
    bool chosen;
    double seconds;
};

// All candidates for this product, the fastest first. With these inputs all must give the same
// bits.
std::vector<Tried> try_all(lesson::Report& report, const Sizes& s) {
    const auto filled = [](const Shape& shape, std::uint64_t seed) {
        return gpu::Buffer<float>(
            lesson::filled<float>(shape, [=](std::int64_t i) { return noise(seed, i); }));
    };
    const gpu::Buffer<float> a = filled({s.M, s.K}, 1), b = filled({s.K, s.N}, 99);
    gpu::Buffer<float> out(s.M * s.N), expected(s.M * s.N);
    const auto product = [&](gpu::Buffer<float>& to) {
        return candidates(a.view({s.M, s.K}), b.view({s.K, s.N}), to.view({s.M, s.N}));
    };
    expected.fill_bytes(0);
    product(expected).front().run({});  // one element per thread: the naive kernel
    std::vector<Tried> all;
    std::string different;
    for (const Candidate& c : product(out)) {
        gpu::Buffer<std::byte> room(c.workspace_bytes);
        out.fill_bytes(0xff);
        const bench::Budget budget{3, 15, 0.05};
        const bench::Pair seconds = bench::gpu_seconds(budget, [&](int) { c.run(room); }, {});
        if (gpu::count_different(out, expected) != 0) different += ", " + c.name;
        all.push_back({c.name, c.chosen, seconds.run.median});
    }
    report.check(different.empty(), "the same bits from all " + std::to_string(all.size()) +
                                        " ways" + (different.empty() ? "" : " but" + different));
    std::sort(all.begin(), all.end(),
              [](const Tried& x, const Tried& y) { return x.seconds < y.seconds; });
    return all;
}

// Prints the table; returns how many times as long as the fastest the choice takes.
double show(const Sizes& s, const std::vector<Tried>& all) {
    const double operations =
        2e-12 * static_cast<double>(s.M) * static_cast<double>(s.N) * static_cast<double>(s.K);
    std::printf("\n   %-26s %12s %10s\n", "", "us", "TFLOP/s");
    for (const Tried& t : all) {
        std::printf("   %-26s %12.1f %10.2f%s\n", t.name.c_str(), t.seconds * 1e6,
                    operations / t.seconds, t.chosen ? "   chosen by matmul_cuda" : "");
    }
    const auto chosen =
        std::find_if(all.begin(), all.end(), [](const Tried& t) { return t.chosen; });
    const double times = chosen->seconds / all.front().seconds;
    std::printf("\n   The choice of matmul_cuda takes %.2f times as long as the fastest.\n", times);
    return times;
}

}  // namespace

std::int64_t number_of(const lesson::Report& report, const char* flag, std::int64_t otherwise,
                       std::int64_t most) {
    const auto& own = report.options().own;
    const auto given = own.find(flag);
    if (given == own.end()) return otherwise;
    char* end = nullptr;
    const std::int64_t n = std::strtoll(given->second.c_str(), &end, 10);
    if (*end != 0 || n < 1 || n > most) {
        reject(flag, " ", given->second, ": must be a number from 1 to ", most);
    }
    return n;
}

void tune(lesson::Report& report) {
    if (gpu::is_emulated()) {
        throw std::runtime_error(
            "--tune needs a GPU: times on the emulator are meaningless. `common/learn doctor` "
            "reports what is missing.");
    }
    const std::int64_t size = number_of(report, "--size", 0, 16384);
    std::vector<Sizes> sizes = {{512, 512, 512},  {1024, 1024, 1024}, {4096, 4096, 4096},
                                {64, 4096, 4096}, {1, 4096, 4096},    {4096, 64, 4096},
                                {4096, 4096, 16}};
    if (size != 0) sizes = {{size, size, size}};
    double worst = 0, logs = 0;
    std::string worst_of;
    for (const Sizes& s : sizes) {
        report.heading("M, N, K = " + to_string(s));
        const double times = show(s, try_all(report, s));
        logs += std::log(times);
        if (times > worst) {
            worst = times;
            worst_of = to_string(s);
        }
    }
    if (sizes.size() == 1) return;
    std::printf("\nOver these %zu products the choice takes %.2f times as long as the fastest\n",
                sizes.size(), std::exp(logs / static_cast<double>(sizes.size())));
    std::printf("(geometric mean), at worst %.2f times, at M, N, K = %s.\n", worst,
                worst_of.c_str());
}

}  // namespace sixdays::day05_matmul
