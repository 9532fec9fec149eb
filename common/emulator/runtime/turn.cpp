#include "common/emulator/runtime/turn.hpp"

#include <mutex>

#include "common/emulator/runtime/block.hpp"

namespace sixdays::emulator {

static std::recursive_mutex& device() {
    static auto& mutex = *new std::recursive_mutex;
    return mutex;
}

Turn::Turn() : taken_(current == nullptr) {
    if (taken_) device().lock();
}

Turn::~Turn() {
    if (taken_) device().unlock();
}

}  // namespace sixdays::emulator
