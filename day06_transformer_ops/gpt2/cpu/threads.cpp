#include "day06_transformer_ops/gpt2/cpu/threads.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <system_error>

#include "common/tensor/sentence.hpp"

namespace sixdays::gpt2 {
namespace {

// Tells the core that this thread is spinning, so that its hyper-thread sibling can proceed.
inline void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace

Threads::Threads(int count) {
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    const int all = count > 0 ? count : std::max(cores, 1);
    try {
        for (int part = 1; part < all; ++part) {
            others_.emplace_back([=, this] { wait_for_work(part); });
        }
    } catch (const std::system_error& error) {
        const std::string started = std::to_string(this->count());
        stop();
        throw std::runtime_error(sentence("of ", all, " threads only ", started,
                                          " could be started (", error.code().message(),
                                          "): ask for fewer"));
    }
}

Threads::~Threads() {
    stop();
}

// The next piece of work usually arrives within microseconds, sooner than the system would wake a
// sleeping thread, so the thread spins first. It never yields, as std::atomic::wait would: on a
// busy machine, each yield lasts a time slice of milliseconds.
void Threads::wait_while(const std::atomic<std::uint32_t>& number, std::uint32_t old) {
    constexpr int kSpins = 1000;  // 10 to 50 us
    for (int spin = 0; spin < kSpins; ++spin) {
        if (number != old) return;
        pause();
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return number != old; });
}

void Threads::count_up(std::atomic<std::uint32_t>& number) noexcept {
    {
        const std::lock_guard lock(mutex_);
        ++number;
    }
    changed_.notify_all();
}

void Threads::stop() noexcept {
    work_ = nullptr;
    count_up(round_);
    for (std::thread& other : others_) other.join();
}

void Threads::run(const std::function<void(int)>& work) noexcept {
    work_ = &work;
    done_ = 0;
    count_up(round_);
    work(0);
    const auto others = static_cast<std::uint32_t>(others_.size());
    for (std::uint32_t done = done_; done < others; done = done_) wait_while(done_, done);
}

void Threads::wait_for_work(int part) {
    for (std::uint32_t round = 0;;) {
        wait_while(round_, round);
        ++round;
        if (work_ == nullptr) return;
        (*work_)(part);
        count_up(done_);
    }
}

}  // namespace sixdays::gpt2
