#include "day06_transformer_ops/training/signals.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace sixdays::day06_transformer_ops {
namespace {

std::atomic<int> interrupts{0}, first_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);  // a handler may use nothing else

void say_now(const char* words) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, words, std::strlen(words));
}

extern "C" void on_signal(int number) {
    const int before = errno;
    int none = 0;
    first_signal.compare_exchange_strong(none, number);
    const int count = number == SIGINT ? ++interrupts : 0;
    if (count == 1) say_now("\nStopping after this step; press Ctrl-C again to abandon it.\n");
    if (count == 2) {
        say_now(
            "\nAbandoning this step. A third Ctrl-C ends the program at once and saves nothing.\n");
        std::signal(SIGINT, SIG_DFL);
    }
    errno = before;
}

}  // namespace

void listen_to_signals() {
    struct sigaction action = {}, before = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    std::signal(SIGXFSZ, SIG_IGN);  // exceeding ulimit -f is an ordinary error
    sigaction(SIGHUP, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup stays nohup
}

bool interrupted() {
    return first_signal != 0;
}

bool step_is_given_up() {
    return interrupts > 1;
}

int status_of_signal() {
    return interrupted() ? 128 + first_signal : 0;
}

}  // namespace sixdays::day06_transformer_ops
