#include "common/emulator/machine/turn.hpp"

#include <mutex>

#include "common/emulator/machine/block.hpp"

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
