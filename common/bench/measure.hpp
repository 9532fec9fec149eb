/// @file
/// Timing that can be trusted: warm up first, repeat, take the median, tell the spread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "common/gpu/timer.hpp"

namespace sixdays::bench {

/// Seconds a run took: half of the runs were faster than `median`, one in ten faster than `p10`.
struct Seconds {
    double median = 0, p10 = 0, p90 = 0;
};

/// From the times of the single runs; at least one.
inline Seconds summarise(std::vector<double> runs) {
    std::sort(runs.begin(), runs.end());
    const auto at = [&](double share) {
        return runs[static_cast<std::size_t>(share * static_cast<double>(runs.size() - 1) + 0.5)];
    };
    return {at(0.5), at(0.1), at(0.9)};
}

/// Runs `work` once to warm up, then `runs` times against the CPU's clock.
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

/// Runs `work`, which launches on the default stream, three times to warm up, then `runs` times
/// against the GPU's clock. On the emulator the numbers mean nothing.
template <class Work>
Seconds gpu_seconds(int runs, Work work) {
    for (int i = 0; i < 3; ++i) work();
    std::vector<gpu::Timer> timers(static_cast<std::size_t>(runs));
    for (gpu::Timer& timer : timers) {  // queued without waiting for the one before
        timer.start();
        work();
        timer.stop();
    }
    std::vector<double> times;
    for (gpu::Timer& timer : timers) times.push_back(timer.seconds());
    return summarise(times);
}

// --- for versions whose speed nobody knows beforehand --------------------------------------------

/// How often to measure: until about `seconds` are spent, but `fewest` times at least and `most`
/// times at most.
struct Budget {
    int fewest = 5, most = 51;
    double seconds = 0.3;
};

/// Run number 0, 1, 2, ...: a run that takes buffer set i % sets meets a cold cache each time.
using Run = std::function<void(int)>;

/// How to measure a run that takes about so long. Two events on a stream cost a microsecond or two,
/// so of runs below 500 us as many are measured at once as fill a millisecond.
struct Plan {
    int runs_at_once = 1;
    int measurements = 1;
};
[[nodiscard]] Plan plan(double seconds_of_a_run, const Budget& budget);

/// One run to warm up; if that alone has spent the budget, it is the measurement.
[[nodiscard]] Seconds host_seconds(const Budget& budget, const Run& run);

/// Seconds of one run, and of one run of its peer if there is one.
struct Pair {
    Seconds run, peer;
};

/// Up to three runs to warm up, then measurements by the GPU's clock; with a peer in turns, run,
/// peer, run, peer, so that a clock that goes down slows both. Runs launch on the default stream. A
/// kernel that is done before the CPU has launched the next one is measured as its launch: put many
/// into a gpu::Graph. On the emulator the numbers mean nothing.
/// @param peer  empty: `Pair::peer` is all 0
[[nodiscard]] Pair gpu_seconds(const Budget& budget, const Run& run, const Run& peer);

/// How many sets of buffers a run should take in turn so that none of its bytes is still in the L2
/// cache: together more than twice the cache; 1 where one set is more.
/// @throws std::invalid_argument  bytes_per_set < 1
[[nodiscard]] int sets_past_cache(std::int64_t bytes_per_set, std::int64_t l2_bytes);
[[nodiscard]] int sets_past_cache(std::int64_t bytes_per_set);  ///< the cache of this device

}  // namespace sixdays::bench
