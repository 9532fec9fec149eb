// trace.hpp: queries the emulator; without it, results are empty. Compiled into both gpu libraries.
#include "common/gpu/trace.hpp"

#include <algorithm>

#include "common/gpu/device.hpp"

#ifdef SIXDAYS_EMULATED
#include "common/emulator/report.hpp"
#include "common/emulator/trace.hpp"
#endif

namespace sixdays::gpu {

#ifdef SIXDAYS_EMULATED

namespace {

std::vector<emulator::LineTrace> trace(const std::function<void()>& launches) {
    emulator::start_trace();
    try {
        launches();
        synchronize();
    } catch (...) {
        (void)emulator::stop_trace();
        throw;
    }
    return emulator::stop_trace();
}

}  // namespace

std::optional<Touched> touched(const std::function<void()>& launches) {
    Touched sum;
    for (const emulator::LineTrace& line : trace(launches)) {
        sum.requests += static_cast<std::int64_t>(line.requests);
        sum.accesses += static_cast<std::int64_t>(line.accesses);
        sum.sectors += static_cast<std::int64_t>(line.sectors);
        sum.fewest_sectors += static_cast<std::int64_t>(line.fewest_sectors);
        sum.passes += static_cast<std::int64_t>(line.passes);
        sum.fewest_passes += static_cast<std::int64_t>(line.fewest_passes);
    }
    return sum;
}

std::string trace_text(const std::function<void()>& launches) {
    const std::vector<emulator::LineTrace> lines = trace(launches);
    if (lines.empty()) return "No warp touched memory.\n";
    return emulator::trace_table(lines) + "\n" + emulator::trace_picture(lines.front()) + "\n" +
           emulator::trace_verdict(lines) + "\n";
}

bool run_only_blocks(std::uint64_t first, std::uint64_t count,
                     const std::function<void()>& launches) {
    emulator::only_blocks(first, count);
    try {
        launches();
    } catch (...) {
        emulator::only_blocks();
        throw;
    }
    emulator::only_blocks();
    return true;
}

void run_in_other_orders(const std::function<void()>& launches) {
    using emulator::Order;
    struct Forward {
        ~Forward() { emulator::set_order(Order::forward); }
    } afterwards;
    emulator::set_order(Order::reversed);
    launches();
    for (const std::uint64_t seed : {1, 2, 3}) {
        emulator::set_order(Order::shuffled, seed);
        launches();
    }
}

bool run_last_block(std::int64_t threads, const std::function<void()>& launches) {
    run_only_blocks(0, 0, launches);
    const emulator::LastLaunch& asked = emulator::last_launch();
    const auto wanted = static_cast<std::uint64_t>(threads);
    const std::uint64_t blocks = asked.blocks;
    if (asked.threads < wanted || asked.threads - wanted >= asked.threads / blocks) return false;
    return run_only_blocks(blocks - 1, 1, launches);
}

bool run_last_block(const std::function<void()>& launches) {
    run_only_blocks(0, 0, launches);
    return run_only_blocks(emulator::last_launch().blocks - 1, 1, launches);
}

bool run_rejected(const std::function<void()>& launches) {
    struct Accepted {
        ~Accepted() {
            emulator::reject_launches(false);
            try {
                check_pending();
            } catch (const std::exception&) {  // an error that the caller has not read
            }
        }
    } afterwards;
    emulator::reject_launches(true);
    launches();
    return true;
}

std::optional<bool> launched_with(const void* bytes, std::size_t count) {
    const std::vector<std::byte>& arguments = emulator::last_launch().arguments;
    const auto* wanted = static_cast<const std::byte*>(bytes);
    return std::search(arguments.begin(), arguments.end(), wanted, wanted + count) !=
           arguments.end();
}

std::optional<std::int64_t> threads_launched() {
    return static_cast<std::int64_t>(emulator::last_launch().threads);
}

#else

std::optional<std::int64_t> threads_launched() {
    return std::nullopt;
}

void run_in_other_orders(const std::function<void()>& launches) {
    launches();
}

bool run_last_block(std::int64_t, const std::function<void()>&) {
    return false;
}

bool run_last_block(const std::function<void()>&) {
    return false;
}

std::optional<bool> launched_with(const void*, std::size_t) {
    return std::nullopt;
}

bool run_rejected(const std::function<void()>&) {
    return false;
}

bool run_only_blocks(std::uint64_t, std::uint64_t, const std::function<void()>&) {
    return false;
}

std::optional<Touched> touched(const std::function<void()>& launches) {
    launches();
    return std::nullopt;
}

std::string trace_text(const std::function<void()>&) {
    return "";
}

#endif

}  // namespace sixdays::gpu
