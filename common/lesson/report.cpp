#include "common/lesson/report.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "common/bench/gpu_limits.hpp"
#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "common/gpu/different.hpp"
#include "common/gpu/trace.hpp"
#include "common/lesson/csv.hpp"

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

void trace(const std::string& title, const std::function<void()>& launches) {
    if (!gpu::is_emulated()) {
        throw std::runtime_error(
            "--trace needs the emulator, which sees every load and store: run the program whose "
            "name ends in _emulated. (On a GPU the profiler ncu counts sectors.)");
    }
    std::printf("%s\n\n%s\n", title.c_str(), gpu::trace_text(launches).c_str());
}

namespace {

std::string version_text(int cuda) {  // 13000 is 13.0
    return std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10);
}

std::string capability_text(const gpu::Device& d) {
    return "compute capability " + std::to_string(d.major) + "." + std::to_string(d.minor);
}

std::string device_text(const gpu::Device& d) {
    return "The ports run on " + d.name + ": " + capability_text(d) + ", " +
           std::to_string(d.multiprocessors) + " multiprocessors,\n" +
           with_commas(d.memory_bytes >> 20) + " MiB of memory, " + with_commas(d.l2_bytes >> 20) +
           " MiB of L2 cache, warps of " + std::to_string(d.warp_size) + " threads.";
}

// "NVIDIA H200, compute capability 9.0, driver 580.65.06, CUDA runtime 13.0, 2026-01-31,
// day01_flat_memory --bench". `common/learn bench` names its file after the text before the comma.
std::string origin_text(const gpu::Device& d, const Options& options) {
    std::ifstream file("/proc/driver/nvidia/version");
    const std::string said{std::istreambuf_iterator<char>(file), {}};
    std::string driver = driver_version_in(said);
    if (driver.empty()) driver = "for CUDA " + version_text(d.driver_version);
    char date[16] = "";
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    return d.name + ", " + capability_text(d) + ", driver " + driver + ", CUDA runtime " +
           version_text(d.runtime_version) + ", " + date + ", " + options.program + " --bench" +
           (options.only.empty() ? "" : " --only " + options.only);
}

}  // namespace

Report::Report(const std::string& title, const std::string& what_it_shows, const Options& options)
    : options_(options),
      csv_(options.bench),
      timing_(options.timing || options.bench),
      times_ports_(timing_ && !gpu::is_emulated()) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // keeps the output if a kernel crashes
    if (csv_ && gpu::is_emulated()) {
        throw std::runtime_error(
            "--bench needs a GPU: on the emulator a time would mean nothing. `common/learn doctor` "
            "says what is missing.");
    }
    if (!csv_) std::printf("%s\n%s\n\n", title.c_str(), what_it_shows.c_str());
    std::string place =
        "The ports run on the CPU emulator: every result is checked, none is timed.";
    if (!gpu::is_emulated()) {
        if (const std::string why = gpu::why_unavailable(); !why.empty()) {
            throw std::runtime_error(
                why +
                "\nThis program runs its ports on a GPU. The same program with "
                "_emulated at the end of its name runs them on the CPU.");
        }
        const gpu::Device d = gpu::device();
        place = device_text(d);
        if (csv_) std::printf("# %s\n", origin_text(d, options).c_str());
    }
    if (!csv_) std::printf("%s\n", place.c_str());
    if (timing_) cpu_ = bench::measure_host_limits();
    if (times_ports_) gpu_ = bench::measure_gpu_limits();
    if (csv_) {
        std::printf("# limits: %s: %s\n# limits: %s: %s\n", cpu_.whose.c_str(),
                    bench::to_string(cpu_).c_str(), gpu_.whose.c_str(),
                    bench::to_string(gpu_).c_str());
        clock_ = bench::measure_gpu_clock();
        std::printf("# clock: %.0f MHz before the rows\n%s\n", clock_ / 1e6, csv_columns().c_str());
    } else if (timing_) {
        std::printf("Measured just now, the limits to compare with:\n");
        std::printf("  %-14s %s\n", cpu_.whose.c_str(), bench::to_string(cpu_).c_str());
        if (times_ports_) {
            std::printf("  %-14s %s\n", gpu_.whose.c_str(), bench::to_string(gpu_).c_str());
        }
    }
}

void Report::heading(const std::string& text) {
    section_.emplace(text);
    if (!csv_) std::printf("\n%s\n", text.c_str());
}

void Report::note(const std::string& text) {
    if (!csv_) std::printf("\n   %s\n", text.c_str());
}

void Report::check(bool ok, const std::string& text) {
    ++checks_;
    wrong_ += !ok;
    if (!csv_) std::printf("   %-5s  %s\n", ok ? "ok" : "WRONG", text.c_str());
}

void Report::line(const Version& v, bool ok) {
    ++checks_;
    wrong_ += !ok;
    if (csv_ && !ok) std::fprintf(stderr, "%s, %s: WRONG\n", v.op.c_str(), v.version.c_str());
    if (csv_) return;
    std::printf("   %-5s  %-7s %-22s %s\n", ok ? "ok" : "WRONG", v.op.c_str(), v.version.c_str(),
                v.how.c_str());
}

namespace {

constexpr int kPoison = 0xff;  // in every byte: a NaN for float and double

void poison(const Trial& trial, bool on_host) {
    for (const Outcome& o : trial.outcomes) {
        if (on_host) {
            std::memset(o.out, kPoison, static_cast<std::size_t>(o.bytes));
        } else {
            gpu::detail::fill_bytes(o.out, kPoison, static_cast<std::size_t>(o.bytes));
        }
    }
}

// Are the outputs of the first `sets` sets right?
bool right(const Trial& trial, std::size_t sets, bool on_host) {
    bool ok = sets > 0;
    for (std::size_t set = 0; set < sets; ++set) {
        const Outcome& o = trial.outcomes[set];
        ok &= on_host ? std::memcmp(o.out, o.want, static_cast<std::size_t>(o.bytes)) == 0
                      : gpu::count_different(o.out, o.want, o.bytes) == 0;
    }
    return ok;
}

// Poisons, runs each set once, and compares.
bool tried(const Trial& trial, bool on_host) {
    poison(trial, on_host);
    for (std::size_t set = 0; set < trial.outcomes.size(); ++set) trial.run(static_cast<int>(set));
    return right(trial, trial.outcomes.size(), on_host);
}

}  // namespace

void Report::timed(const Version& v, const bench::Limits& limits, bool on_host) {
    // A lesson should take two seconds; a bench may take longer.
    bench::Budget budget{3, 9, 0.03};
    if (csv_) budget = {5, 51, 1};
    const Trial trial = v.timed ? v.timed() : v.check;
    const int sets = static_cast<int>(trial.outcomes.size());
    bool ok = tried(trial, on_host);
    poison(trial, on_host);
    int runs = 0;
    const bench::Run run = [&](int i) {
        trial.run(i % sets);
        runs = std::max(runs, i + 1);
    };
    bench::Pair seconds;
    if (on_host) {
        seconds.run = bench::host_seconds(budget, run);
    } else {
        seconds = bench::gpu_seconds(budget, run, v.run_peer);
    }
    ok &= right(trial, static_cast<std::size_t>(std::min(runs, sets)), on_host);
    const std::string wrong = trial.sampled ? trial.sampled() : "";
    if (!wrong.empty()) throw std::runtime_error(v.op + ", " + v.version + ": " + wrong);
    if (csv_) {
        std::printf("%s\n", csv_row(v, seconds.run, seconds.peer.median, limits).c_str());
        // Matrix products take a GPU to its power limit, where it lowers its clock.
        if (!on_host) {
            std::printf("# clock: %.0f MHz after %s, %s, %s\n", bench::measure_gpu_clock() / 1e6,
                        v.op.c_str(), v.version.c_str(), v.shape.c_str());
        }
        ++rows_;
    } else {
        const std::string text = bench::roofline(v.work, seconds.run.median, limits);
        std::printf("%-18s%s\n", "", text.c_str());
        if (seconds.peer.median > 0) {
            std::printf("%-18s%s takes %.2f times as long\n", "", v.peer.c_str(),
                        seconds.peer.median / seconds.run.median);
        }
    }
    ++checks_;
    if (ok) return;
    ++wrong_;
    std::fprintf(csv_ ? stderr : stdout, "   WRONG  %s, %s: the output of the timed runs\n",
                 v.op.c_str(), v.version.c_str());
}

void Report::loop(const Version& v) {
    if (!options_.wants(v.op)) return;
    const Range range(v.op + ", " + v.version);
    line(v, tried(v.check, true));
    if (timing_) timed(v, cpu_, true);
}

void Report::port(const Version& v) {
    if (!options_.wants(v.op)) return;
    const Range range(v.op + ", " + v.version);
    line(v, tried(v.check, false));
    if (times_ports_) timed(v, gpu_, false);
}

int Report::finish(const std::string& try_this) {
    if (csv_ && rows_ == 0) {
        std::fprintf(stderr, "nothing was measured: no operation's name begins with '%s'\n",
                     options_.only.c_str());
        return 1;
    }
    if (csv_) {
        const double now = bench::measure_gpu_clock();
        const std::string warning = clock_warning(clock_, now);
        std::printf("# clock: %.0f MHz after the rows\n", now / 1e6);
        if (!warning.empty()) std::printf("# warning: %s\n", warning.c_str());
    }
    if (!csv_) std::printf("\nTry this: %s\n\n", try_this.c_str());
    if (wrong_ == 0) {
        if (!csv_) std::printf("All %d checks of this run are ok.\n", checks_);
        return 0;
    }
    std::fprintf(csv_ ? stderr : stdout,
                 "%d of %d checks of this run are WRONG: look for the word above.\n", wrong_,
                 checks_);
    return 1;
}

}  // namespace sixdays::lesson
