/// @file
/// State of the running block, put aside while other blocks run.
#pragma once

#include <memory>
#include <utility>

namespace sixdays::emulator {

/// A block stops to wait for others, or goes on: swaps its state with the saved one, initially that
/// of a block which has done nothing.
template <class State>
void exchange(State& now, std::shared_ptr<void>& aside) {
    if constexpr (requires { now.empty(); }) {
        if (now.empty() && !aside) return;
    }
    if (!aside) aside = std::make_shared<State>();
    std::swap(now, *static_cast<State*>(aside.get()));
}

}  // namespace sixdays::emulator
