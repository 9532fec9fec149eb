#include "common/lesson/report.hpp"

#include <cstdio>
#include <stdexcept>

#include "common/bench/measure.hpp"
#include "common/gpu/device.hpp"
#include "common/gpu/limits.hpp"

namespace sixdays::lesson {

std::string with_commas(std::int64_t number) {
    std::string text = std::to_string(number);
    const std::size_t first = number < 0 ? 1 : 0;
    for (std::size_t at = text.size(); at > first + 3;) {
        at -= 3;
        text.insert(at, ",");
    }
    return text;
}

Report::Report(const std::string& title, const std::string& what_it_shows, const Options& options)
    : timing_(options.timing), times_ports_(options.timing && !gpu::is_emulated()) {
    std::printf("%s\n%s\n\n", title.c_str(), what_it_shows.c_str());
    if (gpu::is_emulated()) {
        std::printf("The ports run on the CPU emulator: every result is checked, none is timed.\n");
    } else if (const std::string why = gpu::why_unavailable(); !why.empty()) {
        throw std::runtime_error(why +
                                 "\nThis program runs its ports on a GPU. The same program with "
                                 "_emulated at the end of its name runs them on the CPU.");
    } else {
        const gpu::Device d = gpu::device();
        std::printf(
            "The ports run on %s: compute capability %d.%d, %d multiprocessors,\n"
            "%s MiB of memory, %s MiB of L2 cache, warps of %d threads.\n",
            d.name.c_str(), d.major, d.minor, d.multiprocessors,
            with_commas(d.memory_bytes >> 20).c_str(), with_commas(d.l2_bytes >> 20).c_str(),
            d.warp_size);
    }
    if (timing_) {
        cpu_ = bench::measure_host_limits();
        std::printf("Measured just now, the limits to compare with:\n");
        std::printf("  %-14s %s\n", cpu_.whose.c_str(), bench::to_string(cpu_).c_str());
    }
    if (times_ports_) {
        gpu_ = gpu::measure_limits();
        std::printf("  %-14s %s\n", gpu_.whose.c_str(), bench::to_string(gpu_).c_str());
    }
}

void Report::heading(const std::string& text) {
    std::printf("\n%s\n", text.c_str());
}

void Report::check(bool ok, const std::string& text) {
    ++checks_;
    wrong_ += !ok;
    std::printf("   %-5s  %s\n", ok ? "ok" : "WRONG", text.c_str());
}

void Report::line(const std::string& op, const std::string& version, bool ok,
                  const std::string& how) {
    ++checks_;
    wrong_ += !ok;
    std::printf("   %-5s  %-7s %-22s %s\n", ok ? "ok" : "WRONG", op.c_str(), version.c_str(),
                how.c_str());
}

void Report::loop(const std::string& op, const std::string& version, bool ok,
                  const std::string& how, const bench::Work& work,
                  const std::function<void()>& run) {
    line(op, version, ok, how);
    if (!timing_) return;
    const double seconds = bench::host_seconds(3, run).median;
    std::printf("%-41s%s\n", "", bench::roofline(work, seconds, cpu_).c_str());
}

void Report::port(const std::string& op, const std::string& version, bool ok,
                  const std::string& how, const bench::Work& work,
                  const std::function<void()>& run) {
    line(op, version, ok, how);
    if (!times_ports_) return;
    const double seconds = bench::gpu_seconds(9, run).median;
    std::printf("%-41s%s\n", "", bench::roofline(work, seconds, gpu_).c_str());
}

int Report::finish(const std::string& try_this) {
    std::printf("\nTry this: %s\n\n", try_this.c_str());
    if (wrong_ == 0) {
        std::printf("All %d checks of this run are ok.\n", checks_);
        return 0;
    }
    std::printf("%d of %d checks of this run are WRONG: look for the word above.\n", wrong_,
                checks_);
    return 1;
}

}  // namespace sixdays::lesson
