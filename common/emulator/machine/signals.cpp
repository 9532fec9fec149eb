#include "common/emulator/machine/signals.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#include <cstddef>

#include "common/emulator/machine/address_space.hpp"
#include "common/emulator/machine/block.hpp"
#include "common/emulator/machine/events.hpp"
#include "common/emulator/machine/facts.hpp"
#include "common/emulator/machine/fiber.hpp"
#include "common/emulator/report.hpp"

namespace sixdays::emulator {

volatile bool time_is_up;

namespace {

constexpr std::size_t kStackReserve = 16 * 1024;  // for a hook itself
int limit_in_seconds = 60;
pthread_t kernel_thread;
struct sigaction old_fault, old_bus, old_clock;

const void* where(void* context) {
#if defined(__x86_64__)
    const auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
    // One byte past the instruction, like a return address.
    return reinterpret_cast<const void*>(machine.gregs[REG_RIP] + 1);
#else
    static_cast<void>(context);
    return nullptr;
#endif
}

// Leaving a signal handler by switching stacks is safe here: the interrupted thread never resumes.
void on_fault(int signal, siginfo_t* info, void* context) {
    if (events.open_memory(reinterpret_cast<std::uintptr_t>(info->si_addr))) return;
    if (current == nullptr) {  // not ours: restore the previous handler
        sigaction(signal, signal == SIGSEGV ? &old_fault : &old_bus, nullptr);
        return;
    }
    const InRuntime guard;
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    fail(OutOfBounds{OutOfBounds::Where::unmapped, address, 0, AccessKind::read, where(context)});
}

// Runs once per second. A kernel that makes no accesses never sees the flag, so after two more
// seconds it is ended where it is: in a loop without accesses.
void on_clock(int, siginfo_t*, void* context) {
    if (pthread_equal(pthread_self(), kernel_thread) == 0) {
        pthread_kill(kernel_thread, SIGVTALRM);
        return;
    }
    block.seconds_left = block.seconds_left - 1;
    if (block.seconds_left <= 0) time_is_up = true;
    if (block.seconds_left <= -2 && current != nullptr) fail_for_time(where(context));
}

void handle(int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction* old) {
    struct sigaction action = {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
    sigaction(signal, &action, old);
}

void set_timer(int seconds) {
    itimerval timer = {};
    timer.it_interval.tv_sec = timer.it_value.tv_sec = seconds;
    setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}

// Handlers need their own stack, since the thread's may have overflowed.
void give_handlers_a_stack() {
    constexpr std::size_t kBytes = 256 * 1024;
    static void* const stack = reserve(kBytes, "a signal stack");
    stack_t handler_stack = {};
    handler_stack.ss_sp = stack;
    handler_stack.ss_size = kBytes;
    sigaltstack(&handler_stack, nullptr);
}

stack_t old_stack;

}  // namespace

void set_time_limit(int seconds) {
    limit_in_seconds = seconds;
}

namespace {

[[gnu::noinline]] void fail_stack(const void* code) {
    const InRuntime guard;
    fail(StackOverflow{kStackBytes - kStackReserve, code});
}

}  // namespace

void check_stack(const void* frame, const void* code) {
    if (current == nullptr || in_runtime) return;
    if (static_cast<const std::byte*>(frame) < current->fiber->stack + kStackReserve)
        fail_stack(code);
}

void restart_clock() {
    block.seconds_left = limit_in_seconds;
    time_is_up = false;
}

void resume_clock() {
    time_is_up = block.seconds_left <= 0;
}

void fail_for_time(const Place& where) {
    const InRuntime guard;
    fail(TimeIsUp{limit_in_seconds, where});
}

Guard::Guard() {
    kernel_thread = pthread_self();
    sigaltstack(nullptr, &old_stack);
    give_handlers_a_stack();
    handle(SIGSEGV, on_fault, &old_fault);
    handle(SIGBUS, on_fault, &old_bus);
    handle(SIGVTALRM, on_clock, &old_clock);
    set_timer(1);
}

Guard::~Guard() {
    set_timer(0);
    sigaction(SIGVTALRM, &old_clock, nullptr);
    sigaction(SIGBUS, &old_bus, nullptr);
    sigaction(SIGSEGV, &old_fault, nullptr);
    sigaltstack(&old_stack, nullptr);
}

}  // namespace sixdays::emulator
