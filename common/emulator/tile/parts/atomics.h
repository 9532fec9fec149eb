/// @file
/// Atomic operations on tiles of addresses, one element at a time. The emulator checks what a
/// memory order guarantees; of the scopes it distinguishes only block scope from wider ones.
#pragma once

#include <cstring>

#include "memory.h"

namespace cuda::tiles {

enum class memory_order : unsigned char { relaxed, acquire, release, acq_rel };
enum class thread_scope : unsigned char { system, device, block };
template <memory_order ORDER>
struct memory_order_constant : detail::Constant<ORDER> {};
template <thread_scope SCOPE>
struct thread_scope_constant : detail::Constant<SCOPE> {};

using memory_order_relaxed_t = memory_order_constant<memory_order::relaxed>;
using memory_order_acquire_t = memory_order_constant<memory_order::acquire>;
using memory_order_release_t = memory_order_constant<memory_order::release>;
using memory_order_acq_rel_t = memory_order_constant<memory_order::acq_rel>;
using thread_scope_system_t = thread_scope_constant<thread_scope::system>;
using thread_scope_device_t = thread_scope_constant<thread_scope::device>;
using thread_scope_block_t = thread_scope_constant<thread_scope::block>;
SIXDAYS_TILE constexpr thread_scope default_thread_scope() noexcept {
    return thread_scope::system;
}
using default_thread_scope_t = thread_scope_constant<default_thread_scope()>;

template <memory_order ORDER>
concept read_memory_order = ORDER == memory_order::relaxed || ORDER == memory_order::acquire;
template <memory_order ORDER>
concept write_memory_order = ORDER == memory_order::relaxed || ORDER == memory_order::release;

namespace detail {

using sixdays::emulator::AtomicCall;
using Use = AtomicCall::Use;
template <memory_order ORDER, thread_scope SCOPE>
SIXDAYS_TILE inline AtomicCall atomic_call(Use use, const void* code) {
    constexpr bool kBoth = ORDER == memory_order::acq_rel;
    return {use, kBoth || ORDER == memory_order::acquire, kBoth || ORDER == memory_order::release,
            SCOPE == thread_scope::block, code};
}

template <class E>
SIXDAYS_TILE inline bool same_bits(const E& a, const E& b) {
    return std::memcmp(&a, &b, sizeof(E)) == 0;
}
/// Replaces the value with change(old) and returns the old one.
template <class E, class Change>
SIXDAYS_TILE inline E updated(E* p, const AtomicCall& call, const Change& change,
                              const E* expected = nullptr) {
    call.element(p, sizeof(E), expected);
    const E old = *p, next = change(old);
    if (!same_bits(old, next)) AtomicCall::changed();
    *p = next;
    return old;
}
/// The result for masked-off elements: a value that no program should rely on.
template <class E>
SIXDAYS_TILE inline E left_out() {
    E e;
    std::memset(&e, 0xfe, sizeof(E));
    return e;
}

/// use(pointer, position) for every element that is not masked off, as one call.
template <class P, class M, class UseOne>
SIXDAYS_TILE inline tile_load_t<P> atomically(const P& pointers, const M& mask,
                                              const AtomicCall& call, const UseOne& use) {
    using E = pointed<P>;
    using S = shape_of<P>;
    call.begin();
    auto result = made<tile_load_t<P>>([&](std::size_t n) SIXDAYS_TILE {
        const bool counts = converted<bool>(at(mask, place<shape_of<M>, S>(n)));
        return counts ? use(at(pointers, n), n) : left_out<E>();
    });
    call.end();
    return result;
}

// --- the operations: which element types they accept, and what they compute ----------------------
template <class E>
inline constexpr bool is_wide_integer = std::is_integral_v<E> && sizeof(E) >= 4;
template <class E>
inline constexpr bool is_swapped =
    is_wide_integer<E> || std::is_same_v<E, float> || std::is_same_v<E, double>;
template <class E>
inline constexpr bool is_added =
    is_swapped<E> || std::is_same_v<E, __half> || std::is_same_v<E, __nv_bfloat16>;

/// Signed integers wrap in an atomic addition.
template <class E>
SIXDAYS_TILE inline E wrapped_sum(E a, E b, bool minus) {
    if constexpr (std::is_integral_v<E>) {
        using U = std::make_unsigned_t<E>;
        const U x = static_cast<U>(a), y = static_cast<U>(b);
        return static_cast<E>(minus ? x - y : x + y);
    } else {
        return minus ? a - b : a + b;
    }
}
#define SIXDAYS_CHANGE(name, takes, expression)        \
    struct name {                                      \
        template <class E>                             \
        static constexpr bool kTakes = takes<E>;       \
        template <class E>                             \
        SIXDAYS_TILE static E change(E old, E value) { \
            static_cast<void>(old);                    \
            return static_cast<E>(expression);         \
        }                                              \
    };
SIXDAYS_CHANGE(Add, is_added, wrapped_sum(old, value, false))
SIXDAYS_CHANGE(Sub, is_added, wrapped_sum(old, value, true))
SIXDAYS_CHANGE(And, is_wide_integer, old& value)
SIXDAYS_CHANGE(Or, is_wide_integer, old | value)
SIXDAYS_CHANGE(Xor, is_wide_integer, old ^ value)
SIXDAYS_CHANGE(Max, is_wide_integer, old < value ? value : old)
SIXDAYS_CHANGE(Min, is_wide_integer, value < old ? value : old)
SIXDAYS_CHANGE(Exchange, is_swapped, value)
#undef SIXDAYS_CHANGE

template <class C, memory_order ORDER, thread_scope SCOPE, class P, class V, class M>
SIXDAYS_TILE inline auto update(const P& pointers, const V& values, const M& mask,
                                const void* code) {
    using E = pointed<P>;
    const AtomicCall call = atomic_call<ORDER, SCOPE>(Use::update, code);
    return atomically(pointers, mask, call, [&](E* p, std::size_t n) SIXDAYS_TILE {
        const E value = converted<E>(at(values, n));
        return updated(p, call, [=](E old) SIXDAYS_TILE { return C::change(old, value); });
    });
}
template <memory_order ORDER, thread_scope SCOPE, class P, class C, class V, class M>
SIXDAYS_TILE inline auto compare_exchange(const P& pointers, const C& compared, const V& values,
                                          const M& mask, const void* code) {
    using E = pointed<P>;
    const AtomicCall call = atomic_call<ORDER, SCOPE>(Use::update, code);
    return atomically(pointers, mask, call, [&](E* p, std::size_t n) SIXDAYS_TILE {
        const E expected = converted<E>(at(compared, n)), value = converted<E>(at(values, n));
        const auto change = [&](E old)
                                SIXDAYS_TILE { return same_bits(old, expected) ? value : old; };
        return updated(p, call, change, &expected);
    });
}
template <memory_order ORDER, thread_scope SCOPE, class P, class M, class V>
SIXDAYS_TILE inline auto atomic_gather(const P& pointers, const M& mask, const V& padding,
                                       const void* code) {
    using E = pointed<P>;
    const AtomicCall call = atomic_call<ORDER, SCOPE>(Use::load, code);
    const auto got = atomically(pointers, mask, call, [&](const E* p, std::size_t) SIXDAYS_TILE {
        call.element(p, sizeof(E));
        return *p;
    });
    return made<tile_load_t<P>>([&](std::size_t n) SIXDAYS_TILE {
        const bool counts = converted<bool>(at(mask, place<shape_of<M>, shape_of<P>>(n)));
        return counts ? at(got, n) : converted<E>(at(padding, place<shape_of<V>, shape_of<P>>(n)));
    });
}
template <memory_order ORDER, thread_scope SCOPE, class P, class V, class M>
SIXDAYS_TILE inline void atomic_scatter(const P& pointers, const V& values, const M& mask,
                                        const void* code) {
    using E = pointed<P>;
    const AtomicCall call = atomic_call<ORDER, SCOPE>(Use::store, code);
    atomically(pointers, mask, call, [&](E* p, std::size_t n) SIXDAYS_TILE {
        return updated(p, call, [&](E) SIXDAYS_TILE { return converted<E>(at(values, n)); });
    });
}

}  // namespace detail

// --- public interface ----------------------------------------------------------------------------
template <memory_order ORDER, thread_scope SCOPE = default_thread_scope(), loadable_tile P>
requires read_memory_order<ORDER>
[[gnu::noinline]] SIXDAYS_TILE inline auto atomic_load(const P& pointers,
                                                       memory_order_constant<ORDER> = {},
                                                       thread_scope_constant<SCOPE> = {}) {
    return detail::atomic_gather<ORDER, SCOPE>(pointers, true, detail::zero<detail::pointed<P>>(),
                                               SIXDAYS_TILE_CODE);
}
template <memory_order ORDER, thread_scope SCOPE = default_thread_scope(), loadable_tile P,
          detail::mask_of<P> M>
requires read_memory_order<ORDER>
[[gnu::noinline]] SIXDAYS_TILE inline auto atomic_load_masked(const P& pointers, const M& mask,
                                                              memory_order_constant<ORDER> = {},
                                                              thread_scope_constant<SCOPE> = {}) {
    return detail::atomic_gather<ORDER, SCOPE>(pointers, mask, detail::zero<detail::pointed<P>>(),
                                               SIXDAYS_TILE_CODE);
}
template <memory_order ORDER, thread_scope SCOPE = default_thread_scope(), loadable_tile P,
          detail::mask_of<P> M, detail::padding_of<P> V>
requires read_memory_order<ORDER>
[[gnu::noinline]] SIXDAYS_TILE inline auto atomic_load_masked(const P& pointers, const M& mask,
                                                              const V& padding,
                                                              memory_order_constant<ORDER> = {},
                                                              thread_scope_constant<SCOPE> = {}) {
    return detail::atomic_gather<ORDER, SCOPE>(pointers, mask, padding, SIXDAYS_TILE_CODE);
}
template <memory_order ORDER, thread_scope SCOPE = default_thread_scope(), storeable_tile P,
          detail::values_of<P> V>
requires write_memory_order<ORDER>
[[gnu::noinline]] SIXDAYS_TILE inline void atomic_store(const P& pointers, const V& values,
                                                        memory_order_constant<ORDER> = {},
                                                        thread_scope_constant<SCOPE> = {}) {
    detail::atomic_scatter<ORDER, SCOPE>(pointers, values, true, SIXDAYS_TILE_CODE);
}
template <memory_order ORDER, thread_scope SCOPE = default_thread_scope(), storeable_tile P,
          detail::values_of<P> V, detail::mask_of<P> M>
requires write_memory_order<ORDER>
[[gnu::noinline]] SIXDAYS_TILE inline void atomic_store_masked(const P& pointers, const V& values,
                                                               const M& mask,
                                                               memory_order_constant<ORDER> = {},
                                                               thread_scope_constant<SCOPE> = {}) {
    detail::atomic_scatter<ORDER, SCOPE>(pointers, values, mask, SIXDAYS_TILE_CODE);
}

#define SIXDAYS_UPDATE(name, Change)                                                              \
    template <memory_order ORDER, thread_scope SCOPE = default_thread_scope(), storeable_tile P,  \
              detail::values_of<P> V>                                                             \
    requires(detail::Change::kTakes<detail::pointed<P>>)                                          \
        [[gnu::noinline]] SIXDAYS_TILE inline tile_load_t<P>                                      \
        name(const P& pointers, const V& values, memory_order_constant<ORDER> = {},               \
             thread_scope_constant<SCOPE> = {}) {                                                 \
        return detail::update<detail::Change, ORDER, SCOPE>(pointers, values, true,               \
                                                            SIXDAYS_TILE_CODE);                   \
    }                                                                                             \
    template <memory_order ORDER, thread_scope SCOPE = default_thread_scope(), storeable_tile P,  \
              detail::values_of<P> V, detail::mask_of<P> M>                                       \
    requires(detail::Change::kTakes<detail::pointed<P>>)                                          \
        [[gnu::noinline]] SIXDAYS_TILE inline tile_load_t<P>                                      \
            name##_masked(const P& pointers, const V& values, const M& mask,                      \
                          memory_order_constant<ORDER> = {}, thread_scope_constant<SCOPE> = {}) { \
        return detail::update<detail::Change, ORDER, SCOPE>(pointers, values, mask,               \
                                                            SIXDAYS_TILE_CODE);                   \
    }
SIXDAYS_UPDATE(atomic_add, Add)
SIXDAYS_UPDATE(atomic_sub, Sub)
SIXDAYS_UPDATE(atomic_and, And)
SIXDAYS_UPDATE(atomic_or, Or)
SIXDAYS_UPDATE(atomic_xor, Xor)
SIXDAYS_UPDATE(atomic_max, Max)
SIXDAYS_UPDATE(atomic_min, Min)
SIXDAYS_UPDATE(atomic_xchg, Exchange)
#undef SIXDAYS_UPDATE

/// Compare-and-swap: stores `values` where the bits equal those of `compared`.
template <memory_order ORDER, thread_scope SCOPE = default_thread_scope(), storeable_tile P,
          detail::values_of<P> C, detail::values_of<P> V>
requires detail::is_swapped<detail::pointed<P>>
[[gnu::noinline]] SIXDAYS_TILE inline tile_load_t<P> atomic_compare_exchange(
    const P& pointers, const C& compared, const V& values, memory_order_constant<ORDER> = {},
    thread_scope_constant<SCOPE> = {}) {
    return detail::compare_exchange<ORDER, SCOPE>(pointers, compared, values, true,
                                                  SIXDAYS_TILE_CODE);
}
template <memory_order ORDER, thread_scope SCOPE = default_thread_scope(), storeable_tile P,
          detail::values_of<P> C, detail::values_of<P> V, detail::mask_of<P> M>
requires detail::is_swapped<detail::pointed<P>>
[[gnu::noinline]] SIXDAYS_TILE inline tile_load_t<P> atomic_compare_exchange_masked(
    const P& pointers, const C& compared, const V& values, const M& mask,
    memory_order_constant<ORDER> = {}, thread_scope_constant<SCOPE> = {}) {
    return detail::compare_exchange<ORDER, SCOPE>(pointers, compared, values, mask,
                                                  SIXDAYS_TILE_CODE);
}

}  // namespace cuda::tiles
