/// @file
/// What a day's executable prints: headings, and one line per version with its check and its speed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/bench/measure.hpp"
#include "common/bench/roofline.hpp"
#include "common/lesson/options.hpp"

namespace sixdays::lesson {

/// "1,000,003"
[[nodiscard]] std::string with_commas(std::int64_t number);

/// For --trace: runs `launches` on the emulator and prints what each line's warps touched.
/// @throws std::runtime_error  the ports run on a GPU, which does not tell
void trace(const std::string& title, const std::function<void()>& launches);

/// One version of an operation: what it is called, whether it was right, and how it is timed.
struct Version {
    std::string op;                 // "add"
    std::string version;            // "one element a thread"
    std::string dtype = "float32";  // of the elements that are moved
    std::string shape;              // of the timed run, to_string(shape)
    std::string path;               // what the launcher chose, "" if there is no choice
    bool ok = false;                // checked against the loop a moment before
    std::string how;                // "equals the loop, every element"
    std::string cache = "cold";     // "warm" if the inputs of a timed run still lie in the L2 cache
    bench::Work work;               // bytes_read, bytes_written, flops of one timed run
    std::function<void(int)> run;   // timed run number i, on the default stream; use buffer set
                                    // i % sets
    std::function<void()> refill;   // before timing: poison the outputs (optional)
    std::function<bool()> verify;   // after timing: is every set's output right? (optional)
    std::string peer;               // name of a library call that does the same work (optional)
    std::function<void(int)> run_peer;  // it, interleaved with run
};

/// Prints, and remembers whether every check held and whether the ports may be timed. With --bench
/// it prints CSV and nothing else: a comment line with device and limits, column names, and one row
/// per version (bytes and flops are the least that must be moved and done; times in seconds).
class Report {
public:
    /// Prints the day's title, what it shows, and what runs the ports. With timing on, measures the
    /// limits of this CPU and of the GPU, if there is one, and prints them.
    /// @throws std::runtime_error  no GPU answers though the program was built for one, or --bench
    /// on the emulator
    Report(const std::string& title, const std::string& what_it_shows, const Options& options);

    void heading(const std::string& text);

    /// A paragraph of its own.
    void note(const std::string& text);

    /// A fact of the worked example: printed either way, "ok" or "WRONG".
    void check(bool ok, const std::string& text);

    /// One version that runs on the CPU. With timing on, `run` is called again to be timed, and
    /// then `verify`: a wrong output counts as WRONG.
    void loop(const Version& version);

    /// One version that runs where the ports run: timed on a GPU, never on the emulator.
    void port(const Version& version);

    /// 0 if every check held, else 1; prints the last line, which says so.
    [[nodiscard]] int finish(const std::string& try_this);

    bool times_ports() const noexcept { return times_ports_; }

private:
    void line(const Version& version);
    void row(const Version& version, const bench::Seconds& seconds, const bench::Limits& limits);
    void verify(const Version& version);

    bool csv_;
    bool timing_;
    bool times_ports_;
    int checks_ = 0;
    int wrong_ = 0;
    bench::Limits cpu_, gpu_;
};

}  // namespace sixdays::lesson
