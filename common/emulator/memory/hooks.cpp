/// @file
/// The functions that g++ -fsanitize=thread calls before every load and store. They are usually
/// part of ThreadSanitizer's library; here the emulator implements them.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/emulator/machine/signals.hpp"
#include "common/emulator/memory/access.hpp"

using sixdays::emulator::AccessKind;
using sixdays::emulator::before_access;

#define SIXDAYS_HERE __builtin_return_address(0)

// The sized hooks are called where the type guarantees that alignment, up to 8; other accesses use
// the range hooks. UBSan checks alignment too, but only once for two addresses a known distance
// apart, whatever that distance is.
#define SIXDAYS_ACCESS(p, bytes, kind)                                                  \
    constexpr std::uintptr_t kAlignment = bytes < 8 ? bytes : 8;                        \
    if (reinterpret_cast<std::uintptr_t>(p) % kAlignment != 0)                          \
        sixdays::emulator::misaligned_access(p, bytes, kAlignment, kind, SIXDAYS_HERE); \
    before_access(p, bytes, kind, SIXDAYS_HERE)

// One hook per size. A macro, because only the name and the size differ.
#define SIXDAYS_HOOKS(bytes)                                  \
    void __tsan_read##bytes(void* p) {                        \
        SIXDAYS_ACCESS(p, bytes, AccessKind::read);           \
    }                                                         \
    void __tsan_write##bytes(void* p) {                       \
        SIXDAYS_ACCESS(p, bytes, AccessKind::write);          \
    }                                                         \
    void __tsan_volatile_read##bytes(void* p) {               \
        SIXDAYS_ACCESS(p, bytes, AccessKind::volatile_read);  \
    }                                                         \
    void __tsan_volatile_write##bytes(void* p) {              \
        SIXDAYS_ACCESS(p, bytes, AccessKind::volatile_write); \
    }

extern "C" {

SIXDAYS_HOOKS(1)
SIXDAYS_HOOKS(2)
SIXDAYS_HOOKS(4)
SIXDAYS_HOOKS(8)
SIXDAYS_HOOKS(16)

void __tsan_read_range(void* p, std::size_t bytes) {
    before_access(p, bytes, AccessKind::read, SIXDAYS_HERE);
}
void __tsan_write_range(void* p, std::size_t bytes) {
    before_access(p, bytes, AccessKind::write, SIXDAYS_HERE);
}

// A constructor sets the object's virtual-table pointer.
void __tsan_vptr_update(void** p, void*) {
    before_access(p, sizeof(void*), AccessKind::write, SIXDAYS_HERE);
}

// At the start of a function: is there enough stack for it, and for a hook?
void __tsan_func_entry(void*) {
    sixdays::emulator::check_stack(__builtin_frame_address(0), SIXDAYS_HERE);
}

// These need no action.
void __tsan_init() {}
void __tsan_func_exit() {}
void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}

// std::atomic and __sync_...: mostly from host code. In a kernel no other thread runs meanwhile.
#define SIXDAYS_FETCH(bits, T, name)                                   \
    T __tsan_atomic##bits##_fetch_##name(T* p, T value, int) {         \
        before_access(p, sizeof(T), AccessKind::atomic, SIXDAYS_HERE); \
        return __atomic_fetch_##name(p, value, __ATOMIC_SEQ_CST);      \
    }
#define SIXDAYS_COMPARE_EXCHANGE(bits, T, name)                                                   \
    int __tsan_atomic##bits##_compare_exchange_##name(T* p, T* expected, T value, int, int) {     \
        before_access(p, sizeof(T), AccessKind::atomic, SIXDAYS_HERE, expected);                  \
        return static_cast<int>(__atomic_compare_exchange_n(p, expected, value, false,            \
                                                            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
    }
#define SIXDAYS_ATOMIC_LOAD(bits, T)                                          \
    T __tsan_atomic##bits##_load(const T* p, int) {                           \
        before_access(p, sizeof(T), AccessKind::volatile_read, SIXDAYS_HERE); \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                          \
    }
#define SIXDAYS_ATOMICS(bits, T)                                               \
    void __tsan_atomic##bits##_store(T* p, T value, int) {                     \
        before_access(p, sizeof(T), AccessKind::volatile_write, SIXDAYS_HERE); \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                          \
    }                                                                          \
    T __tsan_atomic##bits##_exchange(T* p, T value, int) {                     \
        before_access(p, sizeof(T), AccessKind::atomic, SIXDAYS_HERE);         \
        return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);                \
    }                                                                          \
    SIXDAYS_FETCH(bits, T, add)                                                \
    SIXDAYS_FETCH(bits, T, sub)                                                \
    SIXDAYS_FETCH(bits, T, and)                                                \
    SIXDAYS_FETCH(bits, T, or)                                                 \
    SIXDAYS_FETCH(bits, T, xor)                                                \
    SIXDAYS_COMPARE_EXCHANGE(bits, T, strong)                                  \
    SIXDAYS_COMPARE_EXCHANGE(bits, T, weak)
// Mostly the guard of a function-local static variable, which is not the kernel's data.
unsigned char __tsan_atomic8_load(const unsigned char* p, int) {
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}
SIXDAYS_ATOMICS(8, unsigned char)
SIXDAYS_ATOMIC_LOAD(16, unsigned short)
SIXDAYS_ATOMIC_LOAD(32, unsigned)
SIXDAYS_ATOMIC_LOAD(64, unsigned long)
SIXDAYS_ATOMICS(16, unsigned short)
SIXDAYS_ATOMICS(32, unsigned)
SIXDAYS_ATOMICS(64, unsigned long)

void* sixdays_emulator_memcpy(void* to, const void* from, std::size_t bytes) {
    before_access(from, bytes, AccessKind::read, SIXDAYS_HERE);
    before_access(to, bytes, AccessKind::write, SIXDAYS_HERE);
    return std::memmove(to, from, bytes);
}
void* sixdays_emulator_memmove(void* to, const void* from, std::size_t bytes) {
    before_access(from, bytes, AccessKind::read, SIXDAYS_HERE);
    before_access(to, bytes, AccessKind::write, SIXDAYS_HERE);
    return std::memmove(to, from, bytes);
}
void* sixdays_emulator_memset(void* to, int byte, std::size_t bytes) {
    before_access(to, bytes, AccessKind::write, SIXDAYS_HERE);
    return std::memset(to, byte, bytes);
}

}  // extern "C"
