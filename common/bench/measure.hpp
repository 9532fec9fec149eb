/// @file
/// Timing that can be trusted: warm up first, repeat, take the median, tell the spread.
#pragma once

#include <algorithm>
#include <chrono>
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

}  // namespace sixdays::bench
