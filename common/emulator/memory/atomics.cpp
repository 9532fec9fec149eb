/// @file
/// Atomic operations. The checks see them as atomic, and plain C++ implements them, since no other
/// thread runs meanwhile.
#include "emulated/atomics.h"

#include <algorithm>

#include "common/emulator/memory/access.hpp"

using sixdays::emulator::AccessKind;
using sixdays::emulator::before_access;
using sixdays::emulator::current;

namespace {

// Returns the old value; `change` computes the new one.
template <class T, class Change>
T update(T* address, const void* code, Change change, const T* expected = nullptr) {
    before_access(address, sizeof(T), AccessKind::atomic, code, expected);
    const T old = *address;
    const T next = change(old);
    if (next != old && current != nullptr) sixdays::emulator::block.turns_without_write = 0;
    *address = next;
    return old;
}

}  // namespace

// The same few operations for every type: `value` is the second argument, `old` the stored value.
#define SIXDAYS_ATOMIC(name, T, expression)                                   \
    T name(T* address, T value) {                                             \
        return update(address, __builtin_return_address(0),                   \
                      [value](T old) { return static_cast<T>(expression); }); \
    }
#define SIXDAYS_CAS(T)                                                      \
    T atomicCAS(T* address, T compare, T value) {                           \
        return update(                                                      \
            address, __builtin_return_address(0),                           \
            [=](T old) { return old == compare ? value : old; }, &compare); \
    }
// Signed integers wrap in an atomic addition, as on a GPU.
#define SIXDAYS_ALL(T)                                                                            \
    SIXDAYS_ATOMIC(atomicAdd, T,                                                                  \
                   static_cast<unsigned long long>(old) + static_cast<unsigned long long>(value)) \
    SIXDAYS_ATOMIC(atomicExch, T, (static_cast<void>(old), value))                                \
    SIXDAYS_ATOMIC(atomicMin, T, std::min(old, value))                                            \
    SIXDAYS_ATOMIC(atomicMax, T, std::max(old, value))                                            \
    SIXDAYS_ATOMIC(atomicAnd, T, old& value)                                                      \
    SIXDAYS_ATOMIC(atomicOr, T, old | value)                                                      \
    SIXDAYS_ATOMIC(atomicXor, T, old ^ value)                                                     \
    SIXDAYS_CAS(T)

SIXDAYS_ALL(int)
SIXDAYS_ALL(unsigned)
SIXDAYS_ALL(unsigned long long)
SIXDAYS_CAS(unsigned short)
SIXDAYS_ATOMIC(atomicMin, long long, std::min(old, value))
SIXDAYS_ATOMIC(atomicMax, long long, std::max(old, value))
SIXDAYS_ATOMIC(atomicAdd, float, old + value)
SIXDAYS_ATOMIC(atomicAdd, double, old + value)
SIXDAYS_ATOMIC(atomicExch, float, (static_cast<void>(old), value))
SIXDAYS_ATOMIC(atomicSub, int, static_cast<unsigned>(old) - static_cast<unsigned>(value))
SIXDAYS_ATOMIC(atomicSub, unsigned, old - value)
SIXDAYS_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
SIXDAYS_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)

namespace sixdays::emulator {

unsigned short atomic_change(unsigned short* address, unsigned short value,
                             unsigned short (*change)(unsigned short, unsigned short)) {
    return update(address, __builtin_return_address(0),
                  [=](unsigned short old) { return change(old, value); });
}
unsigned atomic_change(unsigned* address, unsigned value, unsigned (*change)(unsigned, unsigned)) {
    return update(address, __builtin_return_address(0),
                  [=](unsigned old) { return change(old, value); });
}

}  // namespace sixdays::emulator
