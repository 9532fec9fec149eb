/// @file
/// For choose_cuda.cu: what its block knows of the tokens that may be drawn, and how it finds a
/// threshold without sorting: digit by digit, by counting (top-k) or weighing (top-p) what lies above.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "common/gpu/reduce.hpp"
#include "day04_argmax/joins.hpp"

namespace sixdays::gpt2 {

constexpr int kThreads = 1024;
constexpr int kDigit = 8;  // bits
constexpr int kBins = 1 << kDigit;
constexpr unsigned kAll = 0xffffffffu;
constexpr int kList = kThreads;  // candidates in shared memory at most

struct Best {
    float logit;
    unsigned token;
};
/// Day 04's order, whichever of the two comes first.
struct Better {
    __device__ Best operator()(const Best& a, const Best& b) const {
        const Best &first = a.token < b.token ? a : b, &second = a.token < b.token ? b : a;
        return day04_argmax::beats(second.logit, first.logit) ? second : first;
    }
};

// [each_logit]
/// Calls use(v, logit) for a thread's share of all: 16 loads are in flight at a time.
template <class Use>
__device__ __forceinline__ void each_logit(const float* logits, std::int64_t V, const Use& use) {
    constexpr int kDeep = 16;
    for (std::int64_t first = threadIdx.x; first < V; first += kDeep * kThreads) {
        float some[kDeep];
#pragma unroll
        for (int j = 0; j < kDeep; ++j) {
            const std::int64_t v = first + j * kThreads;
            some[j] = v < V ? logits[v] : 0;
        }
#pragma unroll
        for (int j = 0; j < kDeep; ++j) {
            const std::int64_t v = first + j * kThreads;
            if (v < V) use(v, some[j]);
        }
    }
}
// [each_logit]

// [rank]
/// How likely, as an integer: larger is likelier. The upper half orders logits as floats do, -0 as
/// +0; in the lower one the lower of equal tokens is larger. No two are equal.
__device__ __forceinline__ std::uint64_t rank(float logit, std::int64_t token) {
    const unsigned bits = __float_as_uint(logit + 0.0f);
    const unsigned ordered = bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
    return std::uint64_t{ordered} << 32 | ~static_cast<unsigned>(token);
}
// [rank]

/// What the block knows of the candidates.
struct Candidates {
    const float* logits;
    const unsigned* list;  // tokens in the vocabulary's order; a null pointer: all
    std::int64_t count;
    std::uint64_t floor;  // the lowest rank that stays
    float largest, temperature;
    float unit;  // a weight of 1 in units of 2^-31 of all weights

    __device__ std::int64_t token(std::int64_t i) const { return list != nullptr ? list[i] : i; }
    __device__ bool stays(std::int64_t v) const { return rank(logits[v], v) >= floor; }
    __device__ float weight(std::int64_t v) const {
        return expf((logits[v] - largest) / temperature);
    }
    __device__ unsigned mass(std::int64_t v) const {
        return static_cast<unsigned>(weight(v) * unit);
    }
};

// [digit]
/// The highest digit at which bins, added up from the highest one on, reach the target; if they
/// never do, the lowest digit that has anything. By one warp: 8 bins a lane, lane 0 the highest.
/// @param above  what was added up before the first bin; then what lies above that digit
__device__ __forceinline__ int find_digit(const unsigned* bins, unsigned target, unsigned& above) {
    const int lane = threadIdx.x, high = kBins - 1 - 8 * lane;
    unsigned mine = 0;
    for (int i = 0; i < 8; ++i) mine += bins[high - i];
    unsigned sum = mine;  // of the lanes up to this one
    for (int d = 1; d < 32; d *= 2) {
        const unsigned other = __shfl_up_sync(kAll, sum, d);
        if (lane >= d) sum += other;
    }
    const unsigned all = above + __shfl_sync(kAll, sum, 31);
    if (all < target) target = all;
    unsigned before = above + sum - mine;
    int digit = -1;
    for (int i = 0; i < 8 && digit < 0; ++i) {
        const unsigned bin = bins[high - i];
        if (before < target && before + bin >= target) {
            digit = high - i;
        } else {
            before += bin;
        }
    }
    const unsigned found = __ballot_sync(kAll, digit >= 0);
    const int who = __ffs(static_cast<int>(found)) - 1;
    above = __shfl_sync(kAll, before, who);
    return __shfl_sync(kAll, digit, who);
}
// [digit]

// [threshold]
/// The highest rank such that the candidates from it on have `target` in all, each value(v).
template <class Value>
__device__ std::uint64_t threshold(const Candidates& c, unsigned target, const Value& value) {
    __shared__ unsigned bins[kBins], counts[kBins];
    __shared__ unsigned above, alone;
    __shared__ std::uint64_t prefix;
    if (threadIdx.x == 0) above = 0, prefix = 0;
    std::uint64_t mask = 0;  // of the digits that are found
    for (int shift = 64 - kDigit; shift >= 0; shift -= kDigit) {
        if (threadIdx.x < kBins) bins[threadIdx.x] = counts[threadIdx.x] = 0;
        __syncthreads();
        for (std::int64_t i = threadIdx.x; i < c.count; i += kThreads) {
            const std::int64_t v = c.token(i);
            const std::uint64_t r = rank(c.logits[v], v);
            if (r < c.floor || (r & mask) != prefix) continue;
            atomicAdd(&bins[r >> shift & (kBins - 1)], value(v));
            atomicAdd(&counts[r >> shift & (kBins - 1)], 1u);
        }
        __syncthreads();
        if (threadIdx.x < 32) {
            unsigned over = above;
            const int digit = find_digit(bins, target, over);
            __syncwarp();
            if (threadIdx.x == 0) {
                above = over, alone = counts[digit];
                prefix |= std::uint64_t{static_cast<unsigned>(digit)} << shift;
            }
        }
        mask |= std::uint64_t{kBins - 1} << shift;
        __syncthreads();
        if (alone == 1) break;  // no lower digit could part them
    }
    // Digits that were not looked for are 0, which may lie below the floor.
    const std::uint64_t found = prefix > c.floor ? prefix : c.floor;
    __syncthreads();
    return found;
}
// [threshold]

// [gather]
/// Top-k needs few of V: those within so many eighths of the largest as k are. They become a list,
/// unless it would be too long. Whoever comes first takes the next place in it; then each looks for
/// its place in the vocabulary's order.
__device__ void gather(Candidates& c, unsigned k) {
    __shared__ unsigned bins[kBins], near, found, unsorted[kList], list[kList];
    const auto bin = [&](float logit) {
        return kBins - 1 - static_cast<int>(fminf((c.largest - logit) * 8, kBins - 1));
    };
    if (threadIdx.x < kBins) bins[threadIdx.x] = 0;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    each_logit(c.logits, c.count,
               [&](std::int64_t, float logit) { atomicAdd(&bins[bin(logit)], 1u); });
    __syncthreads();
    if (threadIdx.x < 32) {
        unsigned above = 0;
        const int lowest = find_digit(bins, k, above);
        if (threadIdx.x == 0) near = above + bins[lowest] <= kList ? lowest : kBins;
    }
    __syncthreads();
    if (near == kBins) return;
    each_logit(c.logits, c.count, [&](std::int64_t v, float logit) {
        if (bin(logit) < static_cast<int>(near)) return;
        unsorted[atomicAdd(&found, 1u)] = static_cast<unsigned>(v);
    });
    __syncthreads();
    if (threadIdx.x < found) {
        const unsigned mine = unsorted[threadIdx.x];
        unsigned place = 0;
        for (unsigned i = 0; i < found; ++i) place += unsorted[i] < mine;
        list[place] = mine;
    }
    __syncthreads();
    c.list = list;
    c.count = found;
}
// [gather]

// [at_place]
/// The candidates laid side by side on a line, in the vocabulary's order: the one at `u` of its length.
/// Each warp adds up a 32nd of them; then the same with the 32nd where the place is, until it is one.
__device__ std::int64_t at_place(const Candidates& c, double u) {
    constexpr int kWarps = kThreads / 32;
    __shared__ unsigned sums[kWarps];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    std::int64_t first = 0, end = c.count;
    unsigned place = 0;
    for (bool whole = true; whole || end - first > 1; whole = false) {
        const std::int64_t run = (end - first + kWarps - 1) / kWarps, from = first + warp * run;
        const std::int64_t to = min(end, from + run);
        unsigned mine = 0;
        for (std::int64_t i = from + lane; i < to; i += 32) {
            const std::int64_t v = c.token(i);
            if (c.stays(v)) mine += c.mass(v);
        }
        mine = gpu::warp_reduce(mine, gpu::Plus());
        __syncthreads();  // all have read the sums before these
        if (lane == 0) sums[warp] = mine;
        __syncthreads();
        const unsigned of_lane = sums[lane];
        if (whole) place = static_cast<unsigned>(u * gpu::warp_reduce(of_lane, gpu::Plus()));
        int who = 0;
        while (place >= sums[who]) place -= sums[who++];
        first += who * run;
        end = min(end, first + run);
    }
    return first;
}
// [at_place]

}  // namespace sixdays::gpt2
