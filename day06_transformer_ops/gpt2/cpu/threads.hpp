/// @file
/// A thread pool: a token takes some sixty pieces of work, each a fraction of a millisecond, so
/// starting a thread for each would take as long as the work.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sixdays::gpt2 {

/// A range of work: begin .. end - 1.
struct Range {
    std::int64_t begin, end;  // the first index; the one after the last
};
/// Part `part` of `parts` of the range 0 .. count - 1.
[[nodiscard]] constexpr Range part_of(std::int64_t count, int part, int parts) noexcept {
    return {count * part / parts, count * (part + 1) / parts};
}

/// Threads that wait for work, so that a product of microseconds need not start any.
class Threads {
public:
    /// @param count  including the caller's thread; 0: one per hardware thread
    /// @throws std::runtime_error  the system cannot start more
    explicit Threads(int count);
    ~Threads();
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

    /// The number of threads, with the caller's.
    int count() const noexcept { return static_cast<int>(others_.size()) + 1; }

    /// Calls work(0), work(1), .. work(count() - 1), each in its own thread, and returns when all
    /// have returned. An exception in work ends the program: check arguments before.
    void run(const std::function<void(int)>& work) noexcept;

private:
    void wait_for_work(int part);
    void wait_while(const std::atomic<std::uint32_t>& number, std::uint32_t old);
    void count_up(std::atomic<std::uint32_t>& number) noexcept;
    void stop() noexcept;

    const std::function<void(int)>* work_ = nullptr;  // null: time to exit
    std::atomic<std::uint32_t> round_{0};             // number of the round of work
    std::atomic<std::uint32_t> done_{0};              // threads that have finished this round
    std::mutex mutex_;                                // for both, when threads sleep
    std::condition_variable changed_;
    std::vector<std::thread> others_;
};

}  // namespace sixdays::gpt2
