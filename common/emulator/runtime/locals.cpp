#include "common/emulator/runtime/locals.hpp"

#include <algorithm>
#include <vector>

#include "common/emulator/runtime/async.hpp"
#include "common/emulator/runtime/finding.hpp"

namespace sixdays::emulator {

bool watching_locals = false;

namespace {

struct Local {
    std::uintptr_t begin;
    std::size_t bytes;
    const char* name;
    unsigned thread;
};
struct Held {
    std::uintptr_t begin;
    std::size_t bytes;
    std::size_t call;
    const void* code;
};
struct Watched {
    std::vector<Local> unset;
    std::vector<std::vector<Held>> held = std::vector<std::vector<Held>>(kMaxThreads);  // by thread
    unsigned holding = 0;  // all of them

    bool empty() const { return holding == 0 && unset.empty(); }
};
Watched watched;

void check_held(std::uintptr_t address, std::size_t bytes, bool writes, const void* code) {
    const auto& mine = watched.held[current->id];
    const auto touched = std::find_if(mine.begin(), mine.end(), [&](const Held& one) {
        return address < one.begin + one.bytes && one.begin < address + bytes;
    });
    if (touched == mine.end()) return;
    fail(
        {Kind::pending_copy,
         cudaErrorLaunchFailure,
         code,
         format("%s %s a sum of the wgmma in {0}, which it has not waited for: a wgmma_wait() that "
                "names these sums comes first.",
                name(*current).c_str(), writes ? "writes" : "reads"),
         0,
         {touched->code}});
}

}  // namespace

void hold_local(const void* sums, std::size_t bytes, std::size_t call, const void* code) {
    release_local(sums, call);
    watched.held[current->id].push_back(
        {reinterpret_cast<std::uintptr_t>(sums), bytes, call, code});
    ++watched.holding;
    watching_locals = true;
}

void release_local(const void* sums, std::size_t call) {
    const auto begin = reinterpret_cast<std::uintptr_t>(sums);
    watched.holding -=
        static_cast<unsigned>(std::erase_if(watched.held[current->id], [&](const Held& one) {
            return one.begin == begin && one.call < call;
        }));
    watching_locals = !watched.empty();
}

void watch_local(const volatile void* variable, std::size_t bytes, const char* name) {
    if (current == nullptr) return;
    const InRuntime guard;
    const auto begin = reinterpret_cast<std::uintptr_t>(variable);
    std::erase_if(watched.unset, [begin](const Local& one) { return one.begin == begin; });
    watched.unset.push_back({begin, bytes, name, current->id});
    watching_locals = true;
}

void check_local(std::uintptr_t address, std::size_t bytes, bool writes, const void* code) {
    const InRuntime guard;
    if (watched.holding > 0) check_held(address, bytes, writes, code);
    const auto touched =
        std::find_if(watched.unset.begin(), watched.unset.end(), [&](const Local& one) {
            return one.thread == current->id && address < one.begin + one.bytes &&
                   one.begin < address + bytes;
        });
    if (touched == watched.unset.end()) return;
    const Local local = *touched;
    watched.unset.erase(touched);  // one element of an array counts for all
    watching_locals = !watched.empty();
    if (writes) return;
    fail({Kind::uninitialised_read, cudaErrorLaunchFailure, code,
          format("%s reads its local variable `%s`, which has no value yet. A GPU finds there "
                 "whatever the register held before. Does it need a  = 0 , or is there a way to "
                 "here that sets it nowhere?",
                 name(*current).c_str(), local.name)});
}

void forget_locals() {
    if (!watching_locals) return;
    watched.unset.clear();
    for (auto& of_thread : watched.held) of_thread.clear();
    watched.holding = 0;
    watching_locals = false;
}

void exchange_locals(std::shared_ptr<void>& aside) {
    exchange(watched, aside);
    watching_locals = !watched.empty();
}

}  // namespace sixdays::emulator
