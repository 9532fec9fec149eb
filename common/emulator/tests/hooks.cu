// Kernels that make each of the calls that stand for an access.
#include "common/emulator/tests/hooks.hpp"

extern "C" {
#define SIXDAYS_DECLARE(bytes)               \
    void __tsan_read##bytes(void*);          \
    void __tsan_write##bytes(void*);         \
    void __tsan_volatile_read##bytes(void*); \
    void __tsan_volatile_write##bytes(void*);
SIXDAYS_DECLARE(1)
SIXDAYS_DECLARE(2)
SIXDAYS_DECLARE(4)
SIXDAYS_DECLARE(8)
SIXDAYS_DECLARE(16)
#undef SIXDAYS_DECLARE
void __tsan_read_range(void*, std::size_t);
void __tsan_write_range(void*, std::size_t);
void __tsan_vptr_update(void**, void*);
void* sixdays_emulator_memcpy(void*, const void*, std::size_t);
void* sixdays_emulator_memmove(void*, const void*, std::size_t);
void* sixdays_emulator_memset(void*, int, std::size_t);
}

namespace sixdays::emulator::tests {

__global__ void call_hook_kernel(void (*call)(void*), void* p) {
    call(p);
}
std::vector<Hook> hooks() {
    std::vector<Hook> all = {
        {"read_range", AccessKind::read, 12, [](void* p) { __tsan_read_range(p, 12); }},
        {"write_range", AccessKind::write, 12, [](void* p) { __tsan_write_range(p, 12); }},
        {"vptr", AccessKind::write, 8, [](void* p) { __tsan_vptr_update((void**)p, nullptr); }},
        {"memset", AccessKind::write, 6, [](void* p) { sixdays_emulator_memset(p, 0, 6); }},
    };
#define SIXDAYS_HOOK(name, kind, bytes, body) \
    all.push_back({#name, AccessKind::kind, bytes, [](void* p) { body; }});
#define SIXDAYS_SIZED(bytes)                                                                 \
    SIXDAYS_HOOK(read##bytes, read, bytes, __tsan_read##bytes(p))                            \
    SIXDAYS_HOOK(write##bytes, write, bytes, __tsan_write##bytes(p))                         \
    SIXDAYS_HOOK(volatile_read##bytes, volatile_read, bytes, __tsan_volatile_read##bytes(p)) \
    SIXDAYS_HOOK(volatile_write##bytes, volatile_write, bytes, __tsan_volatile_write##bytes(p))
    SIXDAYS_SIZED(1)
    SIXDAYS_SIZED(2)
    SIXDAYS_SIZED(4)
    SIXDAYS_SIZED(8)
    SIXDAYS_SIZED(16)
#define SIXDAYS_ATOMIC(T)                                                                \
    SIXDAYS_HOOK(store_##T, volatile_write, sizeof(T), __atomic_store_n((T*)p, T{1}, 5)) \
    SIXDAYS_HOOK(exchange_##T, atomic, sizeof(T), __atomic_exchange_n((T*)p, T{1}, 5))   \
    SIXDAYS_HOOK(add_##T, atomic, sizeof(T), __atomic_fetch_add((T*)p, T{1}, 5))         \
    SIXDAYS_HOOK(sub_##T, atomic, sizeof(T), __atomic_fetch_sub((T*)p, T{1}, 5))         \
    SIXDAYS_HOOK(and_##T, atomic, sizeof(T), __atomic_fetch_and((T*)p, T{1}, 5))         \
    SIXDAYS_HOOK(or_##T, atomic, sizeof(T), __atomic_fetch_or((T*)p, T{1}, 5))           \
    SIXDAYS_HOOK(xor_##T, atomic, sizeof(T), __atomic_fetch_xor((T*)p, T{1}, 5))         \
    SIXDAYS_HOOK(strong_##T, atomic, sizeof(T), T old{};                                 \
                 __atomic_compare_exchange_n((T*)p, &old, T{1}, false, 5, 5))            \
    SIXDAYS_HOOK(weak_##T, atomic, sizeof(T), T old{};                                   \
                 __atomic_compare_exchange_n((T*)p, &old, T{1}, true, 5, 5))
    using byte = unsigned char;
    using word16 = unsigned short;
    using word = unsigned;
    using word64 = unsigned long;
    SIXDAYS_ATOMIC(byte)
    SIXDAYS_ATOMIC(word16)
    SIXDAYS_ATOMIC(word)
    SIXDAYS_ATOMIC(word64)
    SIXDAYS_HOOK(load16, volatile_read, 2, (void)__atomic_load_n((word16*)p, 5))
    SIXDAYS_HOOK(load32, volatile_read, 4, (void)__atomic_load_n((word*)p, 5))
    SIXDAYS_HOOK(load64, volatile_read, 8, (void)__atomic_load_n((word64*)p, 5))
    SIXDAYS_HOOK(memcpy_from, read, 6, char local[8]; sixdays_emulator_memcpy(local, p, 6))
    SIXDAYS_HOOK(memcpy_to, write, 6, char local[8] = {}; sixdays_emulator_memcpy(p, local, 6))
    SIXDAYS_HOOK(memmove_from, read, 6, char local[8]; sixdays_emulator_memmove(local, p, 6))
    SIXDAYS_HOOK(memmove_to, write, 6, char local[8] = {}; sixdays_emulator_memmove(p, local, 6))
#undef SIXDAYS_HOOK
#undef SIXDAYS_SIZED
#undef SIXDAYS_ATOMIC
    return all;
}
void call_hook(const Hook& hook, void* p) {
    call_hook_kernel<<<1, 1>>>(hook.call, p);
}

}  // namespace sixdays::emulator::tests
