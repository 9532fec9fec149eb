#include "common/emulator/machine/facts.hpp"

#include <cstdlib>

#include "common/emulator/machine/events.hpp"

namespace sixdays::emulator {

namespace {

bool failed;

}  // namespace

bool launch_failed() {
    return failed;
}

void set_launch_failed(bool yes) {
    failed = yes;
}

void end_launch() {
    if (current == nullptr) {
        events.tell_report();
        std::abort();
    }
    wait_for_turn();  // the scheduler sees that the launch failed and resumes no thread
    std::abort();
}

void note(const Fact& fact, const Site& made) {
    events.found(fact, made);
}

void fail(const Fact& fact, const Site& made) {
    note(fact, made);
    end_launch();
}

void remark(const Place& where, const Fact& fact, const Site& made) {
    events.remarked(where, fact, made);
}

}  // namespace sixdays::emulator
