/// @file
/// Atomic operations, for the types that CUDA supports. They are plain functions of the emulator
/// (memory/atomics.cpp): one OS thread runs a block, so nothing can intervene between read and
/// write. To publish earlier stores they need __threadfence(), as on a GPU.
#pragma once

// Each returns the old value.
#define SIXDAYS_ATOMIC(T)              \
    T atomicAdd(T* address, T value);  \
    T atomicExch(T* address, T value); \
    T atomicMin(T* address, T value);  \
    T atomicMax(T* address, T value);
#define SIXDAYS_ATOMIC_BITS(T)                   \
    T atomicCAS(T* address, T compare, T value); \
    T atomicAnd(T* address, T value);            \
    T atomicOr(T* address, T value);             \
    T atomicXor(T* address, T value);

SIXDAYS_ATOMIC(int)
SIXDAYS_ATOMIC(unsigned)
SIXDAYS_ATOMIC(unsigned long long)
SIXDAYS_ATOMIC_BITS(int)
SIXDAYS_ATOMIC_BITS(unsigned)
SIXDAYS_ATOMIC_BITS(unsigned long long)
#undef SIXDAYS_ATOMIC
#undef SIXDAYS_ATOMIC_BITS

unsigned short atomicCAS(unsigned short* address, unsigned short compare, unsigned short value);
long long atomicMin(long long* address, long long value);
long long atomicMax(long long* address, long long value);
float atomicAdd(float* address, float value);
double atomicAdd(double* address, double value);
float atomicExch(float* address, float value);
int atomicSub(int* address, int value);
unsigned atomicSub(unsigned* address, unsigned value);
/// Increments, and wraps to 0 after `limit`.
unsigned atomicInc(unsigned* address, unsigned limit);
/// Decrements; from 0, or from above `limit`, wraps to `limit`.
unsigned atomicDec(unsigned* address, unsigned limit);

// Block and system scope behave like device scope here. Always-inline templates, so that a report
// names the line of the call.
#define SIXDAYS_SCOPES(name)                                             \
    template <class T, class V>                                          \
    [[gnu::always_inline]] inline T name##_block(T* address, V value) {  \
        return name(address, static_cast<T>(value));                     \
    }                                                                    \
    template <class T, class V>                                          \
    [[gnu::always_inline]] inline T name##_system(T* address, V value) { \
        return name(address, static_cast<T>(value));                     \
    }
SIXDAYS_SCOPES(atomicAdd)
SIXDAYS_SCOPES(atomicSub)
SIXDAYS_SCOPES(atomicExch)
SIXDAYS_SCOPES(atomicMin)
SIXDAYS_SCOPES(atomicMax)
SIXDAYS_SCOPES(atomicInc)
SIXDAYS_SCOPES(atomicDec)
SIXDAYS_SCOPES(atomicAnd)
SIXDAYS_SCOPES(atomicOr)
SIXDAYS_SCOPES(atomicXor)
#undef SIXDAYS_SCOPES
template <class T, class V>
[[gnu::always_inline]] inline T atomicCAS_block(T* address, V compare, V value) {
    return atomicCAS(address, static_cast<T>(compare), static_cast<T>(value));
}
template <class T, class V>
[[gnu::always_inline]] inline T atomicCAS_system(T* address, V compare, V value) {
    return atomicCAS(address, static_cast<T>(compare), static_cast<T>(value));
}

namespace sixdays::emulator {
/// For other types of 2 and 4 bytes: `change` computes the new value from the old one and `value`.
unsigned short atomic_change(unsigned short* address, unsigned short value,
                             unsigned short (*change)(unsigned short, unsigned short));
unsigned atomic_change(unsigned* address, unsigned value, unsigned (*change)(unsigned, unsigned));
}  // namespace sixdays::emulator
