/// @file
/// Accesses of a stated memory order, as in PTX: `ld.acquire`, `st.release`, `atom.acq_rel`. They do
/// not race with each other. A release publishes what its thread has done and knows; an acquire of
/// the same word learns that. A relaxed access orders nothing else: that takes a __threadfence() on
/// both sides. All scopes count as that of the device. PTX ISA, "Memory Consistency Model".
#pragma once

#include <cstddef>
#include <cstdint>

namespace sixdays::emulator {

enum class MemoryOrder : std::uint8_t {
    none,  // a volatile access or a function such as atomicAdd(): relaxed, but in shared memory a
           // volatile access counts as a plain one
    relaxed,
    acquire,
    release,
    acq_rel
};
constexpr bool acquires(MemoryOrder order) {
    return order == MemoryOrder::acquire || order == MemoryOrder::acq_rel;
}
constexpr bool releases(MemoryOrder order) {
    return order == MemoryOrder::release || order == MemoryOrder::acq_rel;
}

/// Loads or stores up to 16 bytes, at a multiple of their number.
void load_ordered(const void* from, void* to, std::size_t bytes, MemoryOrder order);
void store_ordered(void* to, const void* from, std::size_t bytes, MemoryOrder order);

/// An atomic update in two steps: reads the old value, and writes the new one.
/// @param expected  the value that a compare-and-swap compares with
void begin_update(void* p, void* old, std::size_t bytes, MemoryOrder order, const void* expected);
void end_update(void* p, const void* next, std::size_t bytes) noexcept;

/// Returns the order of the current thread's next volatile and atomic accesses, and sets a new one.
MemoryOrder exchange_order(MemoryOrder order) noexcept;
/// While it lives, the thread's volatile and atomic accesses have this order.
class WithOrder {
public:
    explicit WithOrder(MemoryOrder order) noexcept : before_(exchange_order(order)) {}
    WithOrder(const WithOrder&) = delete;
    WithOrder& operator=(const WithOrder&) = delete;
    ~WithOrder() { exchange_order(before_); }

private:
    MemoryOrder before_;
};

/// The emulated versions of common/gpu/ptx/relaxed.hpp: 16 bytes, relaxed, atomic as a whole.
/// A thread that repeats the load and gets the same value lets others run, other blocks too.
void load_relaxed16(const void* from, void* to);
void store_relaxed16(void* to, const void* from);

}  // namespace sixdays::emulator
