/// @file
/// Warp calls: shuffles, votes, matches, reductions, __syncwarp. Each synchronizes the lanes in its
/// mask; the last one to arrive computes all results (machine/warp.cpp).
#pragma once

#include <cstdint>
#include <cstring>

#include "emulated/language.h"

namespace sixdays::emulator {

enum class WarpCall {
    sync,
    shuffle,
    shuffle_up,
    shuffle_down,
    shuffle_xor,
    ballot,
    match_any,
    match_all,
    reduce_add,
    reduce_min,
    reduce_min_signed,
    reduce_max,
    reduce_max_signed,
    reduce_and,
    reduce_or,
    reduce_xor,
    active_mask
};

/// @param value     this lane's operand, as 64 bits
/// @param argument  a shuffle's source lane, distance or lane mask
/// @param width     a shuffle's group: 1, 2, 4, 8, 16 or 32 lanes
std::uint64_t warp_call(WarpCall what, unsigned mask, std::uint64_t value, int argument, int width,
                        Site site);

template <class T>
std::uint64_t to_bits(T value) {
    static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
    std::uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return bits;
}
template <class T>
T from_bits(std::uint64_t bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
}

}  // namespace sixdays::emulator

#define SIXDAYS_SHUFFLE(name, what, Argument)                                           \
    template <class T>                                                                  \
    T name(unsigned mask, T value, Argument argument, int width = 32,                   \
           sixdays::emulator::Site site = sixdays::emulator::Site::current()) {         \
        return sixdays::emulator::from_bits<T>(sixdays::emulator::warp_call(            \
            sixdays::emulator::WarpCall::what, mask, sixdays::emulator::to_bits(value), \
            static_cast<int>(argument), width, site));                                  \
    }
SIXDAYS_SHUFFLE(__shfl_sync, shuffle, int)
SIXDAYS_SHUFFLE(__shfl_up_sync, shuffle_up, unsigned)
SIXDAYS_SHUFFLE(__shfl_down_sync, shuffle_down, unsigned)
SIXDAYS_SHUFFLE(__shfl_xor_sync, shuffle_xor, int)
#undef SIXDAYS_SHUFFLE

inline void __syncwarp(unsigned mask = 0xffffffffu,
                       sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    sixdays::emulator::warp_call(sixdays::emulator::WarpCall::sync, mask, 0, 0, 32, site);
}

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    return static_cast<unsigned>(sixdays::emulator::warp_call(sixdays::emulator::WarpCall::ballot,
                                                              mask, predicate != 0, 0, 32, site));
}
inline int __any_sync(unsigned mask, int predicate,
                      sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    return __ballot_sync(mask, predicate, site) != 0;
}
inline int __all_sync(unsigned mask, int predicate,
                      sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    return __ballot_sync(mask, predicate == 0, site) == 0;
}

inline unsigned __activemask(sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    return static_cast<unsigned>(sixdays::emulator::warp_call(
        sixdays::emulator::WarpCall::active_mask, 0xffffffffu, 0, 0, 32, site));
}

template <class T>
unsigned __match_any_sync(unsigned mask, T value,
                          sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    return static_cast<unsigned>(
        sixdays::emulator::warp_call(sixdays::emulator::WarpCall::match_any, mask,
                                     sixdays::emulator::to_bits(value), 0, 32, site));
}
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* all_equal,
                          sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    const auto equal = static_cast<unsigned>(
        sixdays::emulator::warp_call(sixdays::emulator::WarpCall::match_all, mask,
                                     sixdays::emulator::to_bits(value), 0, 32, site));
    *all_equal = equal != 0;
    return equal;
}

// CUDA has these for int and unsigned; add, min and max depend on the signedness.
#define SIXDAYS_REDUCE(name, T, what)                                                      \
    inline T name(unsigned mask, T value,                                                  \
                  sixdays::emulator::Site site = sixdays::emulator::Site::current()) {     \
        return static_cast<T>(                                                             \
            sixdays::emulator::warp_call(sixdays::emulator::WarpCall::what, mask,          \
                                         sixdays::emulator::to_bits(value), 0, 32, site)); \
    }
SIXDAYS_REDUCE(__reduce_add_sync, unsigned, reduce_add)
SIXDAYS_REDUCE(__reduce_add_sync, int, reduce_add)
SIXDAYS_REDUCE(__reduce_min_sync, unsigned, reduce_min)
SIXDAYS_REDUCE(__reduce_min_sync, int, reduce_min_signed)
SIXDAYS_REDUCE(__reduce_max_sync, unsigned, reduce_max)
SIXDAYS_REDUCE(__reduce_max_sync, int, reduce_max_signed)
SIXDAYS_REDUCE(__reduce_and_sync, unsigned, reduce_and)
SIXDAYS_REDUCE(__reduce_or_sync, unsigned, reduce_or)
SIXDAYS_REDUCE(__reduce_xor_sync, unsigned, reduce_xor)
#undef SIXDAYS_REDUCE
