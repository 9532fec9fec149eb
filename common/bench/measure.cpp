#include "common/bench/measure.hpp"

#include <cmath>
#include <string>

#include "common/gpu/device.hpp"
#include "common/tensor/sentence.hpp"

namespace sixdays::bench {

Plan plan(double seconds_of_a_run, const Budget& budget) {
    constexpr double kShort = 500e-6, kFilled = 1e-3;
    constexpr double kMostAtOnce = 1000;
    Plan p;
    const double one = std::max(seconds_of_a_run, 1e-9);
    if (one < kShort) {
        p.runs_at_once = static_cast<int>(std::min(std::ceil(kFilled / one), kMostAtOnce));
    }
    const double fitting = budget.seconds / (one * p.runs_at_once);
    p.measurements = static_cast<int>(std::min(fitting, static_cast<double>(budget.most)));
    p.measurements = std::max(p.measurements, std::max(budget.fewest, 1));
    return p;
}

Seconds host_seconds(const Budget& budget, const Run& run) {
    using clock = std::chrono::steady_clock;
    int number = 0;
    const auto time_one = [&] {
        const auto start = clock::now();
        run(number++);
        return std::chrono::duration<double>(clock::now() - start).count();
    };
    const double first = time_one();
    if (first > budget.seconds) return summarise({first});
    std::vector<double> times;
    for (int left = plan(first, budget).measurements; left > 0; --left) {
        times.push_back(time_one());
    }
    return summarise(times);
}

namespace {

// A run and its measurements.
struct Series {
    const Run& run;
    int number = 0;  // of the next run
    Plan plan;
    std::vector<gpu::Timer> timers;

    void measure(gpu::Timer& timer) {
        timer.start();
        for (int i = 0; i < plan.runs_at_once; ++i) run(number++);
        timer.stop();
    }

    // Seconds of the last warm-up run: the first may load the kernel.
    double warm_up(double limit) {
        double seconds = 0;
        for (int i = 0; i < 3 && seconds <= limit; ++i) {
            gpu::Timer timer;
            measure(timer);
            seconds = timer.seconds();
        }
        return seconds;
    }

    Seconds result() {
        std::vector<double> times;
        for (gpu::Timer& timer : timers) times.push_back(timer.seconds() / plan.runs_at_once);
        return summarise(times);
    }
};

}  // namespace

Pair gpu_seconds(const Budget& budget, const Run& run, const Run& peer) {
    Series ours{run, 0, {}, {}}, theirs{peer, 0, {}, {}};
    const double our_run = ours.warm_up(budget.seconds);
    const double their_run = peer ? theirs.warm_up(budget.seconds) : 0;
    ours.plan = plan(our_run, budget);
    if (peer) {
        Budget half = budget;  // each gets half of the time, and both the same number of turns
        half.seconds /= 2;
        ours.plan = plan(our_run, half);
        theirs.plan = plan(their_run, half);
        const int turns = std::min(ours.plan.measurements, theirs.plan.measurements);
        ours.plan.measurements = theirs.plan.measurements = turns;
        theirs.timers = std::vector<gpu::Timer>(static_cast<std::size_t>(turns));
    }
    ours.timers = std::vector<gpu::Timer>(static_cast<std::size_t>(ours.plan.measurements));
    for (std::size_t i = 0; i < ours.timers.size(); ++i) {  // queued without waiting
        ours.measure(ours.timers[i]);
        if (peer) theirs.measure(theirs.timers[i]);
    }
    return {ours.result(), peer ? theirs.result() : Seconds{}};
}

int sets_past_cache(std::int64_t bytes_per_set, std::int64_t l2_bytes) {
    if (bytes_per_set < 1) {
        reject("sets_past_cache: a set of ", bytes_per_set, " bytes was asked for");
    }
    return static_cast<int>(2 * l2_bytes / bytes_per_set + 1);
}

int sets_past_cache(std::int64_t bytes_per_set) {
    return sets_past_cache(bytes_per_set, gpu::device().l2_bytes);
}

}  // namespace sixdays::bench
