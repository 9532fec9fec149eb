/// @file
/// For .cu files, radix select: finds a threshold without sorting, digit by digit from the highest
/// one, by adding up the items above it: counts for top-k, probabilities for top-p.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace sixdays::gpt2 {

constexpr int kDigit = 8;           // bits
constexpr int kBins = 1 << kDigit;  // values of a digit

/// The highest digit at which bins, summed from the highest one down, reach the target; if they
/// never do, the lowest nonempty digit. Called by one warp, 8 bins per lane, lane 0 the highest.
/// @param above  in: the sum above the first bin; out: the sum above that digit
__device__ __forceinline__ int find_digit(const unsigned* bins, unsigned target, unsigned& above) {
    const int lane = threadIdx.x, high = kBins - 1 - 8 * lane;
    unsigned mine = 0;
    for (int i = 0; i < 8; ++i) mine += bins[high - i];
    unsigned sum = mine;  // inclusive prefix sum over the lanes
    for (int d = 1; d < 32; d *= 2) {
        const unsigned other = __shfl_up_sync(0xffffffffu, sum, d);
        if (lane >= d) sum += other;
    }
    const unsigned all = above + __shfl_sync(0xffffffffu, sum, 31);
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
    const unsigned found = __ballot_sync(0xffffffffu, digit >= 0);
    const int who = __ffs(static_cast<int>(found)) - 1;
    above = __shfl_sync(0xffffffffu, before, who);
    return __shfl_sync(0xffffffffu, digit, who);
}

/// The highest key such that the items from it on have `target` in all. Item i of `count` has a
/// unique key(i), and value(i); those with keys below `floor` are ignored. Called by the whole
/// block.
template <int THREADS, class Key, class Value>
__device__ std::uint64_t radix_select(std::int64_t count, std::uint64_t floor, unsigned target,
                                      const Key& key, const Value& value) {
    __shared__ unsigned bins[kBins], counts[kBins];
    __shared__ unsigned above, alone;
    __shared__ std::uint64_t prefix;
    if (threadIdx.x == 0) above = 0, prefix = 0;
    std::uint64_t mask = 0;  // of the digits found so far
    for (int shift = 64 - kDigit; shift >= 0; shift -= kDigit) {
        if (threadIdx.x < kBins) bins[threadIdx.x] = counts[threadIdx.x] = 0;
        __syncthreads();
        for (std::int64_t i = threadIdx.x; i < count; i += THREADS) {
            const std::uint64_t k = key(i);
            if (k < floor || (k & mask) != prefix) continue;
            atomicAdd(&bins[k >> shift & (kBins - 1)], value(i));
            atomicAdd(&counts[k >> shift & (kBins - 1)], 1u);
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
        if (alone == 1) break;  // only one candidate is left
    }
    // Digits that were not searched are 0, which may be below the floor.
    const std::uint64_t found = prefix > floor ? prefix : floor;
    __syncthreads();
    return found;
}

}  // namespace sixdays::gpt2
