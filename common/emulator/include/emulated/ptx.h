/// @file
/// The functions for inline PTX: translate/ptx.cpp turns `asm("name.modifiers ...")` into a call of
/// the function with that name, outputs first. Shared-memory addresses in PTX are 32-bit numbers,
/// as __cvta_generic_to_shared returns them.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>

#include "common/emulator/async_copy.hpp"
#include "common/emulator/libraries/exchange.hpp"
#include "common/emulator/mbarrier.hpp"
#include "common/emulator/memory_order.hpp"
#include "emulated/more_math.h"
#include "emulated/small_float.h"
#include "emulated/warp.h"

namespace sixdays::emulator {

/// Converts a generic address to the shared state space, and back.
std::uint32_t to_shared_space(const void* generic);
void* from_shared_space(std::uint32_t address);
bool is_global_address(const void* p);
bool is_shared_address(const void* p);

namespace ptx {

/// An address operand, [a + offset].
template <class A>
[[gnu::always_inline]] inline void* address(A a, long long offset = 0) {
    if constexpr (std::is_pointer_v<A>) {
        return const_cast<char*>(reinterpret_cast<const volatile char*>(a)) + offset;
    } else {
        const auto wide = static_cast<std::uintptr_t>(a);
        const bool is_short = wide >> 32 == 0;
        void* p = is_short ? from_shared_space(static_cast<std::uint32_t>(wide))
                           : reinterpret_cast<void*>(wide);
        return static_cast<char*>(p) + offset;
    }
}
/// Reinterprets bits; a wider value is truncated.
template <class To, class From>
[[gnu::always_inline]] inline To bits(From from) {
    To to{};
    __builtin_memcpy(&to, &from, sizeof(To) < sizeof(From) ? sizeof(To) : sizeof(From));
    return to;
}

/// `_`, a discarded result.
struct Ignored {
    template <class T>
    void operator=(T) {}
};

// --- moves ------------------------------------------------------------------------------------
template <class D, class A>
[[gnu::always_inline]] inline void mov(D& d, A a) {
    d = bits<D>(a);
}
// 128 bits from two halves, and back.
__extension__ typedef unsigned __int128 b128;
inline void mov(b128& d, std::uint64_t low, std::uint64_t high) {
    d = b128{high} << 64 | low;
}
template <class D>
[[gnu::always_inline]] inline void mov(D& low, D& high, b128 a) {
    low = static_cast<D>(a);
    high = static_cast<D>(a >> 64);
}
// A register may be wider than the value loaded into it, and may hold bits of another type.
template <class To, class From>
[[gnu::always_inline]] inline To converted(From from) {
    if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
        return static_cast<To>(from);
    } else {
        return bits<To>(from);
    }
}
/// COUNT values moved by one instruction.
template <class M, std::size_t COUNT>
using Parts [[gnu::vector_size(sizeof(M) * COUNT), gnu::may_alias]] = M;

template <class M, class... D>
[[gnu::always_inline]] inline void ld(const void* p, D&... d) {
    const auto parts = *static_cast<const Parts<M, sizeof...(D)>*>(p);
    int i = 0;
    ((d = converted<D>(M{parts[i++]})), ...);
}
template <class M, class... T>
[[gnu::always_inline]] inline void st(void* p, T... x) {
    *static_cast<Parts<M, sizeof...(T)>*>(p) = Parts<M, sizeof...(T)>{converted<M>(x)...};
}
// With a memory order, or volatile.
template <class M, MemoryOrder ORDER, class... D>
[[gnu::always_inline]] inline void ld_ordered(const void* p, D&... d) {
    M parts[sizeof...(D)];
    load_ordered(p, parts, sizeof(parts), ORDER);
    int i = 0;
    ((d = converted<D>(parts[i++])), ...);
}
template <class M, MemoryOrder ORDER, class... T>
[[gnu::always_inline]] inline void st_ordered(void* p, T... x) {
    const M parts[] = {converted<M>(x)...};
    store_ordered(p, parts, sizeof(parts), ORDER);
}

/// The same variable in another block of the cluster; a 32-bit address gives a 32-bit address.
template <class D, class A>
[[gnu::always_inline]] inline void mapa(Site site, D& d, A a, unsigned rank) {
    void* const there = cluster_address(address(a), rank, site);
    d = sizeof(D) == 4 ? static_cast<D>(to_shared_space(there)) : bits<D>(there);
}

// --- atomics --------------------------------------------------------------------------------------
// The operands are the destination, the address, and the arguments of the function.
#define SIXDAYS_PTX_ATOMIC(operation, function)                                           \
    template <class M, MemoryOrder ORDER, class D, class... T>                            \
    [[gnu::always_inline]] inline void atom_##operation(D&& d, void* p, T... x) {         \
        const WithOrder order(ORDER);                                                     \
        d = converted<std::decay_t<D>>(function(static_cast<M*>(p), converted<M>(x)...)); \
    }
SIXDAYS_PTX_ATOMIC(add, atomicAdd)
SIXDAYS_PTX_ATOMIC(exch, atomicExch)
SIXDAYS_PTX_ATOMIC(cas, atomicCAS)
SIXDAYS_PTX_ATOMIC(min, atomicMin)
SIXDAYS_PTX_ATOMIC(max, atomicMax)
SIXDAYS_PTX_ATOMIC(inc, atomicInc)
SIXDAYS_PTX_ATOMIC(dec, atomicDec)
SIXDAYS_PTX_ATOMIC(and, atomicAnd)
SIXDAYS_PTX_ATOMIC(or, atomicOr)
SIXDAYS_PTX_ATOMIC(xor, atomicXor)
#undef SIXDAYS_PTX_ATOMIC

// --- asynchronous copies ------------------------------------------------------------------------
[[gnu::always_inline]] inline void cp_async(void* to, const void* from, int bytes, int valid,
                                            Site site = Site::current()) {
    async_copy(to, from, static_cast<std::size_t>(bytes), static_cast<std::size_t>(valid), site);
}
[[gnu::always_inline]] inline void cp_async(void* to, const void* from, int bytes,
                                            Site site = Site::current()) {
    cp_async(to, from, bytes, bytes, site);
}
inline void cp_async_commit_group() {
    async_commit();
}
inline void cp_async_wait_group(int groups) {
    async_wait(groups);
}
inline void cp_async_wait_all() {
    async_wait_all();
}

// --- mbarriers ------------------------------------------------------------------------------------
[[gnu::always_inline]] inline std::uint64_t* word_at(void* p) {
    return static_cast<std::uint64_t*>(p);
}
[[gnu::always_inline]] inline void mbarrier_init(Site site, void* p, unsigned arrivals) {
    emulator::mbarrier_init(word_at(p), arrivals, site);
}
inline void mbarriers_are_set_up() {
    emulator::mbarriers_are_set_up();
}
/// The state token is the phase number.
template <class D>
[[gnu::always_inline]] inline void mbarrier_arrive(Site site, D&& state, void* p,
                                                   unsigned arrivals = 1) {
    state = emulator::mbarrier_arrive(word_at(p), 0, site, arrivals);
}
template <class D>
[[gnu::always_inline]] inline void mbarrier_arrive_expect(Site site, D&& state, void* p,
                                                          unsigned bytes) {
    state = emulator::mbarrier_arrive(word_at(p), bytes, site);
}
[[gnu::always_inline]] inline void mbarrier_expect_tx(Site site, void* p, unsigned bytes) {
    emulator::mbarrier_arrive(word_at(p), bytes, site, 0);
}
// The phase is a state token or a parity; the time limit is ignored.
template <class P, class... Hint>
[[gnu::always_inline]] inline void mbarrier_try_wait(Site site, bool& done, void* p, P phase,
                                                     Hint...) {
    done = emulator::mbarrier_asks(word_at(p), static_cast<unsigned>(phase), true, site);
}
template <class P>
[[gnu::always_inline]] inline void mbarrier_test_wait(Site site, bool& done, void* p, P phase) {
    done = emulator::mbarrier_asks(word_at(p), static_cast<unsigned>(phase), false, site);
}
template <class... Policy>
[[gnu::always_inline]] inline void cp_async_bulk(Site site, void* to, const void* from,
                                                 unsigned bytes, void* p, Policy...) {
    copy_bulk(to, from, bytes, word_at(p), site);
}

// --- predicates -----------------------------------------------------------------------------------
template <class Compare, class A, class B>
[[gnu::always_inline]] inline void setp(bool& d, A a, B b) {
    d = Compare{}(a, b);
}
template <class D, class A, class B>
[[gnu::always_inline]] inline void selp(D& d, A a, B b, bool p) {
    d = p ? static_cast<D>(a) : static_cast<D>(b);
}

// --- arithmetic -----------------------------------------------------------------------------------
template <class D, class A, class B>
[[gnu::always_inline]] inline void add(D& d, A a, B b) {
    if constexpr (std::is_integral_v<D>) {
        d = static_cast<D>(static_cast<std::make_unsigned_t<D>>(a) +
                           static_cast<std::make_unsigned_t<D>>(b));
    } else {
        d = a + b;
    }
}
template <class D, class A, class B>
[[gnu::always_inline]] inline void fma(D& d, A a, A b, B c) {
    d = std::fma(a, b, c);
}
inline void ex2(float& d, float a) {
    d = std::exp2(a);
}
inline void lg2(float& d, float a) {
    d = std::log2(a);
}
inline void rcp(float& d, float a) {
    d = 1 / a;
}
inline void sqrt(float& d, float a) {
    d = std::sqrt(a);
}
inline void rsqrt(float& d, float a) {
    d = 1 / std::sqrt(a);
}
inline void tanh(float& d, float a) {
    d = std::tanh(a);
}
inline void sin(float& d, float a) {
    d = std::sin(a);
}
inline void cos(float& d, float a) {
    d = std::cos(a);
}
// A 32-bit register may hold an 8- or 16-bit value. ROUNDS is the letter from rni, rzi, rmi, rpi.
template <class To, class From, char ROUNDS, class D, class A>
[[gnu::always_inline]] inline void cvt(D& d, A a) {
    const auto from = static_cast<From>(a);
    if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
        d = static_cast<D>(to_whole<To>(ROUNDS == 'z'   ? std::trunc(from)
                                        : ROUNDS == 'm' ? std::floor(from)
                                        : ROUNDS == 'p' ? std::ceil(from)
                                                        : std::nearbyint(from)));
    } else {
        d = static_cast<D>(static_cast<To>(from));
    }
}
// Conversions to 16 bits and back; the first of a pair becomes the upper half.
template <int EXPONENT, class D>
[[gnu::always_inline]] inline void cvt_small(D& d, float a) {
    d = bits<D>(small_bits<EXPONENT>(a));
}
template <int EXPONENT, class D>
[[gnu::always_inline]] inline void cvt_pair(D& d, float high, float low) {
    d = bits<D>(std::uint32_t{small_bits<EXPONENT>(high)} << 16 | small_bits<EXPONENT>(low));
}
template <int EXPONENT, class A>
[[gnu::always_inline]] inline void cvt_wide(float& d, A a) {
    d = small_value<EXPONENT>(bits<std::uint16_t>(a));
}
// Rounds to ten fraction bits, ties away from 0.
template <class D>
[[gnu::always_inline]] inline void cvt_tf32(D& d, float a) {
    const bool finite = std::isfinite(a);
    d = bits<D>(finite ? (bits<std::uint32_t>(a) + 0x1000u) & ~0x1fffu : bits<std::uint32_t>(a));
}
// Position of the most significant set bit; all ones if a is 0.
template <class D>
[[gnu::always_inline]] inline void bfind(D& d, unsigned a) {
    d = static_cast<D>(a == 0 ? ~0u : 31u - static_cast<unsigned>(__builtin_clz(a)));
}
template <class D>
[[gnu::always_inline]] inline void popc(D& d, unsigned a) {
    d = static_cast<D>(__builtin_popcount(a));
}
inline void prmt(unsigned& d, unsigned a, unsigned b, unsigned select) {
    d = __byte_perm(a, b, select);
}
// d: each bit is looked up in `table` by the corresponding bits of a, b and c.
inline void lop3(unsigned& d, unsigned a, unsigned b, unsigned c, unsigned table) {
    d = 0;
    for (unsigned i = 0; i < 8; ++i) {
        if ((table >> i & 1) == 0) continue;
        d |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
    }
}

// --- warp-wide instructions (libraries/ptx_warp.cpp) ---------------------------------------------
template <class A>
[[gnu::always_inline]] inline const void* last(const A& a) {
    return a;
}
template <class A, class B, class... More>
[[gnu::always_inline]] inline const void* last(const A&, const B& b, const More&... more) {
    return last(b, more...);
}
[[gnu::always_inline]] inline unsigned lane_id() {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}
[[gnu::always_inline]] inline unsigned warp_id() {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32;
}
enum class Factor { f16, bf16, tf32 };
/// d = a b + c; a is 16 x k, b is k x 8, with the fragment layout of the PTX manual.
void mma_float(Factor factor, int k, const std::uint32_t* a, const std::uint32_t* b, const float* c,
               float* d, Site site);
/// The same with half accumulators, two per register. (Here they are float until the end.)
void mma_half(int k, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c,
              std::uint32_t* d, Site site);

template <int COUNT, class R, class... More>
[[gnu::always_inline]] inline void put(const std::uint32_t* words, R& d, More&... more) {
    d = bits<R>(*words);
    if constexpr (COUNT > 1) put<COUNT - 1>(words + 1, more...);
}
/// The destination registers, then the row address: lanes 0 to 7 for one matrix, 0 to 15 for two.
template <bool TRANSPOSED, class... R>
[[gnu::always_inline]] inline void ldmatrix(Site site, R&&... r) {
    constexpr int kCount = sizeof...(R) - 1;
    Parts<std::uint32_t, 4> mine{};
    if (lane_id() < 8u * kCount) mine = *static_cast<const Parts<std::uint32_t, 4>*>(last(r...));
    std::uint32_t words[4];
    spread_matrices(words, &mine, TRANSPOSED, site);
    put<kCount>(words, r...);
}
/// Operands in order: 4 of d, then those of a and b, then 4 of c.
template <Factor F, int K, class... R>
[[gnu::always_inline]] inline void mma_floats(R&&... r) {
    constexpr int kOfA = F == Factor::tf32 ? K / 2 : K / 4, kOfB = kOfA / 2;
    static_assert(K <= 16 && sizeof...(R) == 4 + kOfA + kOfB + 4);
    const std::uint32_t words[] = {bits<std::uint32_t>(r)...};
    float c[4], d[4];
    std::uint32_t out[4];
    __builtin_memcpy(c, words + 4 + kOfA + kOfB, sizeof(c));
    mma_float(F, K, words + 4, words + 4 + kOfA, c, d, Site::current());
    __builtin_memcpy(out, d, sizeof(d));
    put<4>(out, r...);
}
template <int K, class... R>
[[gnu::always_inline]] inline void mma_halves(R&&... r) {
    constexpr int kOfA = K / 4, kOfB = kOfA / 2;
    static_assert(sizeof...(R) == 2 + kOfA + kOfB + 2);
    const std::uint32_t words[] = {bits<std::uint32_t>(r)...};
    std::uint32_t out[2];
    mma_half(K, words + 2, words + 2 + kOfA, words + 2 + kOfA + kOfB, out, Site::current());
    put<2>(out, r...);
}

}  // namespace ptx
}  // namespace sixdays::emulator

inline std::size_t __cvta_generic_to_shared(const void* p) {
    return sixdays::emulator::to_shared_space(p);
}
inline void* __cvta_shared_to_generic(std::size_t address) {
    return sixdays::emulator::from_shared_space(static_cast<std::uint32_t>(address));
}
inline std::size_t __cvta_generic_to_global(const void* p) {
    return reinterpret_cast<std::size_t>(p);
}
inline void* __cvta_global_to_generic(std::size_t address) {
    return reinterpret_cast<void*>(address);
}
inline unsigned __isShared(const void* p) {
    return sixdays::emulator::is_shared_address(p);
}
inline unsigned __isGlobal(const void* p) {
    return sixdays::emulator::is_global_address(p);
}
