/// @file
/// Threads that wait for work: a token is some sixty pieces of work of a fraction of a millisecond,
/// and starting a thread for each would take as long as the work.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sixdays::gpt2 {

/// Part `part` of `parts` of the numbers 0 .. count - 1.
struct Share {
    std::int64_t begin, end;
};
[[nodiscard]] constexpr Share share(std::int64_t count, int part, int parts) noexcept {
    return {count * part / parts, count * (part + 1) / parts};
}

class Threads {
public:
    /// @param count  with the caller's own; 0: as many as the machine runs at once
    /// @throws std::runtime_error  the system starts no more
    explicit Threads(int count);
    ~Threads();
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

    int count() const noexcept { return static_cast<int>(others_.size()) + 1; }

    /// Calls work(0), work(1), .. work(count() - 1), each in a thread of its own, and returns when
    /// all have returned. What a part throws ends the program: refuse before.
    void run(const std::function<void(int)>& work) noexcept;

private:
    void wait_for_work(int part);
    void wait_while(const std::atomic<std::uint32_t>& number, std::uint32_t old);
    void count_up(std::atomic<std::uint32_t>& number) noexcept;
    void stop() noexcept;

    const std::function<void(int)>* work_ = nullptr;  // null: the end
    std::atomic<std::uint32_t> round_{0};             // of work, counted up
    std::atomic<std::uint32_t> done_{0};              // threads that have finished this round
    std::mutex mutex_;                                // of both, for those that sleep
    std::condition_variable changed_;
    std::vector<std::thread> others_;
};

}  // namespace sixdays::gpt2
