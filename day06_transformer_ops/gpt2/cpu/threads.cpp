#include "day06_transformer_ops/gpt2/cpu/threads.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <system_error>

namespace sixdays::gpt2 {
namespace {

// Returns when `number` is no longer `old`. The next piece of work mostly comes within
// microseconds, sooner than the system would wake a thread that sleeps; so some looks come first.
void wait_while(const std::atomic<std::uint32_t>& number, std::uint32_t old) {
    constexpr int kLooks = 200;
    for (int look = 0; look < kLooks; ++look) {
        if (number.load() != old) return;
        std::this_thread::yield();
    }
    number.wait(old);
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
        throw std::runtime_error("of " + std::to_string(all) + " threads only " + started +
                                 " could be started (" + error.code().message() +
                                 "): ask for fewer");
    }
}

Threads::~Threads() {
    stop();
}

void Threads::stop() noexcept {
    work_ = nullptr;
    ++round_;
    round_.notify_all();
    for (std::thread& other : others_) other.join();
}

void Threads::run(const std::function<void(int)>& work) noexcept {
    work_ = &work;
    done_ = 0;
    ++round_;
    round_.notify_all();
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
        ++done_;
        done_.notify_one();
    }
}

}  // namespace sixdays::gpt2
