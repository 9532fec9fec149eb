/// @file
/// What a day's executable prints: headings, and one line per version with its check and its speed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/bench/roofline.hpp"
#include "common/lesson/options.hpp"
#include "common/lesson/ranges.hpp"
#include "common/lesson/version.hpp"

namespace sixdays::lesson {

/// "1,000,003"
[[nodiscard]] std::string with_commas(std::int64_t number);

/// For --trace: runs `launches` on the emulator and prints the memory accesses of each line.
/// @throws std::runtime_error  the kernels run on a GPU, which does not record them
void trace(const std::string& title, const std::function<void()>& launches);

/// Prints the results, and records whether every check held and whether kernels can be timed. With
/// --bench it prints only CSV: comment lines with device, driver, date, command, limits and clock,
/// then csv.hpp's columns and one row per version.
class Report {
public:
    /// Prints the day's title, what it shows, and the device. With timing on, measures and prints
    /// the limits of this CPU and of the GPU, if there is one.
    /// @throws std::runtime_error  no GPU is available though the program was built for one, or
    /// --bench on the emulator
    Report(const std::string& title, const std::string& what_it_shows, const Options& options);

    /// Starts a section and its range for a profiler (ranges.hpp), which ends with the next one.
    void heading(const std::string& text);

    /// A separate paragraph.
    void note(const std::string& text);

    /// A check of the worked example: prints "ok" or "WRONG".
    void check(bool ok, const std::string& text);

    /// One version that runs on the CPU: checked and, with timing on, timed for some milliseconds,
    /// or up to a second with --bench.
    void loop(const Version& version);

    /// One version that runs on the device: timed on a GPU, never on the emulator, alternating with
    /// its peer.
    void port(const Version& version);

    /// Prints the summary, the last line. 0 if every check held, else 1.
    [[nodiscard]] int finish(const std::string& try_this);

    /// What the command line asked for.
    const Options& options() const noexcept { return options_; }
    /// Whether CPU versions are timed.
    bool times_loops() const noexcept { return timing_; }
    /// Whether CUDA versions are timed: never on the emulator.
    bool times_ports() const noexcept { return times_ports_; }

    /// The limits of the GPU, measured at the start; zeros if kernels are not timed.
    const bench::Limits& gpu_limits() const noexcept { return gpu_; }

private:
    void line(const Version& version, bool ok);
    void timed(const Version& version, const bench::Limits& limits, bool on_host);

    Options options_;
    bool csv_;
    bool timing_;
    bool times_ports_;
    int checks_ = 0;
    int rows_ = 0;  // of the CSV
    int wrong_ = 0;
    bench::Limits cpu_, gpu_;
    double clock_ = 0;  // of the GPU at the start, in Hz; 0 unless with --bench
    std::optional<Range> section_;
};

}  // namespace sixdays::lesson
