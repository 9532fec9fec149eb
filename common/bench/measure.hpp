/// @file
/// Timing that can be trusted: warm up first, repeat, take the median, report the spread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "common/gpu/timer.hpp"

namespace sixdays::bench {

/// Seconds of one run, over several runs.
struct Seconds {
    double median = 0,  ///< half of the runs were faster
        p10 = 0,        ///< one in ten was faster
        p90 = 0;        ///< nine in ten were faster
};

/// From the times of the single runs; at least one.
inline Seconds summarise(std::vector<double> runs) {
    std::sort(runs.begin(), runs.end());
    const auto at = [&](double fraction) {
        return runs[static_cast<std::size_t>(fraction * static_cast<double>(runs.size() - 1) +
                                             0.5)];
    };
    return {at(0.5), at(0.1), at(0.9)};
}

/// Runs `work` once to warm up, then `runs` times, timed by the CPU's clock.
template <class Work>
Seconds host_seconds(int runs, Work work) {
    using clock = std::chrono::steady_clock;
    work();
    std::vector<double> times;
    for (int i = 0; i < runs; ++i) {
        const auto start = clock::now();
        work();
        times.push_back(std::chrono::duration<double>(clock::now() - start).count());
    }
    return summarise(times);
}

/// Runs `work`, which launches on the default stream, three times to warm up, then `runs` times,
/// timed by the GPU's clock. On the emulator the numbers mean nothing.
template <class Work>
Seconds gpu_seconds(int runs, Work work) {
    for (int i = 0; i < 3; ++i) work();
    std::vector<gpu::Timer> timers(static_cast<std::size_t>(runs));
    for (gpu::Timer& timer : timers) {  // queued without waiting for the previous one
        timer.start();
        work();
        timer.stop();
    }
    std::vector<double> times;
    for (gpu::Timer& timer : timers) times.push_back(timer.seconds());
    return summarise(times);
}

// --- for versions of unknown speed ---------------------------------------------------------------

/// How often to measure: until about `seconds` are spent, but between `fewest` and `most` times.
struct Budget {
    int fewest = 5,        ///< measurements at least
        most = 51;         ///< measurements at most
    double seconds = 0.3;  ///< for all of them together
};

/// Run number 0, 1, 2, ...: with buffer set i % sets, each run starts with a cold cache.
using Run = std::function<void(int)>;

/// How to measure a run.
struct Plan {
    int runs_at_once = 1;  ///< per measurement
    int measurements = 1;  ///< in all
};
/// How to measure a run of this length. Two events on a stream cost a microsecond or two, so runs
/// below 500 us are measured in batches that fill a millisecond.
[[nodiscard]] Plan plan(double seconds_of_a_run, const Budget& budget);

/// One run to warm up; if it alone exceeds the budget, it is the measurement.
[[nodiscard]] Seconds host_seconds(const Budget& budget, const Run& run);

/// Seconds of one run, and of one run of its peer if there is one.
struct Pair {
    Seconds run,  ///< of our version
        peer;     ///< of the library call; all 0 without one
};

/// Up to three runs to warm up, then measurements by the GPU's clock. Run and peer alternate, so
/// that a falling clock slows both. Runs launch on the default stream. A kernel shorter than its
/// launch is measured as the launch: put many into a gpu::Graph. On the emulator the numbers mean
/// nothing.
/// @param peer  empty: `Pair::peer` is all 0
[[nodiscard]] Pair gpu_seconds(const Budget& budget, const Run& run, const Run& peer);

/// The number of buffer sets to cycle through so that none of a run's bytes is still in the L2
/// cache: together more than twice the cache; 1 if one set is larger than that.
/// @throws std::invalid_argument  bytes_per_set < 1
[[nodiscard]] int sets_past_cache(std::int64_t bytes_per_set, std::int64_t l2_bytes);
/// The number of buffer sets to cycle through so that none of a run's bytes is still in this
/// device's L2 cache.
/// @throws std::invalid_argument  bytes_per_set < 1
/// @throws gpu::Error  no device
[[nodiscard]] int sets_past_cache(std::int64_t bytes_per_set);

}  // namespace sixdays::bench
