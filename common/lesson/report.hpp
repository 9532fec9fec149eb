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

/// For --trace: runs `launches` on the emulator and prints what each line's warps touched.
/// @throws std::runtime_error  the ports run on a GPU, which does not tell
void trace(const std::string& title, const std::function<void()>& launches);

/// Prints, and remembers whether every check held and whether the ports may be timed. With --bench
/// it prints CSV and nothing else: comment lines with device, driver, date, command, limits and
/// clock, then csv.hpp's columns and one row a version.
class Report {
public:
    /// Prints the day's title, what it shows, and what runs the ports. With timing on, measures the
    /// limits of this CPU and of the GPU, if there is one, and prints them.
    /// @throws std::runtime_error  no GPU answers though the program was built for one, or --bench
    /// on the emulator
    Report(const std::string& title, const std::string& what_it_shows, const Options& options);

    /// A section begins, and with it a range for a profiler (ranges.hpp), which ends with the next.
    void heading(const std::string& text);

    /// A paragraph of its own.
    void note(const std::string& text);

    /// A fact of the worked example: printed either way, "ok" or "WRONG".
    void check(bool ok, const std::string& text);

    /// One version that runs on the CPU: checked, and with timing on timed for some milliseconds,
    /// with --bench up to a second.
    void loop(const Version& version);

    /// One version that runs where the ports run: timed on a GPU, never on the emulator. Its peer
    /// is timed in turns with it.
    void port(const Version& version);

    /// 0 if every check held, else 1; prints the last line, which says so.
    [[nodiscard]] int finish(const std::string& try_this);

    const Options& options() const noexcept { return options_; }
    bool times_loops() const noexcept { return timing_; }
    bool times_ports() const noexcept { return times_ports_; }

    /// What the GPU reaches, as measured when the run began; zeros where ports are not timed.
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
