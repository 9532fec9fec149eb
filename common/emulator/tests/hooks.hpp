/// @file
/// The calls that stand for accesses.
#pragma once

#include <cstddef>
#include <vector>

#include "common/emulator/machine/facts.hpp"

namespace sixdays::emulator::tests {

/// The calls that the compiler inserts before accesses, and the functions that replace the C
/// library's: each as the call that a kernel makes, and the access that it stands for.
struct Hook {
    const char* name;
    AccessKind kind;
    std::size_t bytes;
    void (*call)(void* p);
};
std::vector<Hook> hooks();
/// One thread calls it.
void call_hook(const Hook& hook, void* p);

}  // namespace sixdays::emulator::tests
