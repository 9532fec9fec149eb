// The sampler as one block. Where the CPU sorts, this uses radix select: radix_select.hpp.
#include "day06_transformer_ops/gpt2/gpu/choose.hpp"

#include <cmath>

#include "common/gpu/launch.hpp"
#include "common/gpu/ptx.hpp"
#include "common/gpu/reduce.hpp"
#include "common/tensor/arguments.hpp"
#include "common/tensor/vectorized.hpp"
#include "day04_argmax/joins.hpp"
#include "day06_transformer_ops/gpt2/backend/philox.hpp"
#include "day06_transformer_ops/gpt2/gpu/radix_select.hpp"
#include "day06_transformer_ops/gpt2/weights/gpu_rows.hpp"

namespace sixdays::gpt2 {
namespace {

constexpr int kThreads = 1024;
constexpr int kList = kThreads;  // maximum of candidates in shared memory

struct Likeliest {
    float logit;
    unsigned token;
};
/// Day 04's order of logits; both orders of arguments are handled.
struct Better {
    __device__ Likeliest operator()(const Likeliest& a, const Likeliest& b) const {
        const Likeliest &first = a.token < b.token ? a : b, &second = a.token < b.token ? b : a;
        return day04_argmax::beats(second.logit, first.logit) ? second : first;
    }
};

/// Calls use(v, logit) for a thread's part of the vocabulary, in ascending order, with 32 logits in
/// flight.
template <class Use>
__device__ __forceinline__ void each_logit(const float* logits, std::int64_t V, const Use& use) {
    constexpr int kDeep = 8;
    const std::int64_t vectors = V / 4, rest = 4 * vectors + threadIdx.x;
    for (std::int64_t first = threadIdx.x; first < vectors; first += kDeep * kThreads) {
        Vector some[kDeep] = {};
#pragma unroll
        for (int j = 0; j < kDeep; ++j) {
            const std::int64_t v = first + j * kThreads;
            if (v < vectors) some[j] = vector(logits + 4 * v);
        }
#pragma unroll
        for (int j = 0; j < kDeep; ++j) {
            const std::int64_t v = first + j * kThreads;
            for (int i = 0; i < 4 && v < vectors; ++i) use(4 * v + i, some[j].x[i]);
        }
    }
    if (rest < V) use(rest, logits[rest]);
}

/// Likelihood as an integer: larger is likelier. The upper half orders logits as floats do, -0 as
/// +0; in the lower half a lower token is larger. So no two ranks are equal.
__device__ __forceinline__ std::uint64_t rank(float logit, std::int64_t token) {
    const unsigned bits = __float_as_uint(logit + 0.0f);
    const unsigned ordered = bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
    return std::uint64_t{ordered} << 32 | ~static_cast<unsigned>(token);
}

/// The block's set of candidates.
struct Candidates {
    const float* logits;
    const unsigned* list;  // tokens in the vocabulary's order; a null pointer: all
    std::int64_t count;
    std::uint64_t floor;  // the lowest rank that is kept
    float largest, temperature;
    float unit;  // a weight of 1, in units of 2^-31 of the sum of weights

    __device__ std::int64_t token(std::int64_t i) const { return list != nullptr ? list[i] : i; }
    __device__ bool stays(std::int64_t v) const { return rank(logits[v], v) >= floor; }
    __device__ float weight(std::int64_t v) const {
        return expf((logits[v] - largest) / temperature);
    }
    __device__ unsigned mass(std::int64_t v) const {
        return static_cast<unsigned>(weight(v) * unit);
    }
    /// The lowest rank of the top ones whose values reach `target`; value(i) is candidate i's.
    template <class Value>
    __device__ std::uint64_t threshold(unsigned target, const Value& value) const {
        const auto key = [&](std::int64_t i) { return rank(logits[token(i)], token(i)); };
        return radix_select<kThreads>(count, floor, target, key, value);
    }
};

/// Top-k needs few of V: only tokens whose logit is close enough to the largest, in bins of 1/8.
/// They become a list, unless it would be too long. Threads append in any order; then each computes
/// its token's position in vocabulary order.
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

/// Candidates as intervals on a line, in vocabulary order: finds the one at fraction `u` of its
/// length. Each warp sums 1/32 of them; then the same within the 32nd that contains the position,
/// until one is left.
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

__global__ void __launch_bounds__(kThreads)
    choose_kernel(const float* logits, std::int64_t V, const SamplerOptions* options,
                  std::int64_t* tokens, std::int64_t* place) {
    gpu::let_next_start();
    gpu::wait_for_previous();
    Likeliest best = {-INFINITY, threadIdx.x};
    each_logit(logits, V, [&](std::int64_t v, float logit) {
        const bool better = day04_argmax::beats(logit, best.logit);  // whose index is lower
        best = better ? Likeliest{logit, static_cast<unsigned>(v)} : best;
    });
    best = gpu::block_reduce<kThreads>(best, Better());
    const std::int64_t position = *place + 1;
    const SamplerOptions how = *options;
    __syncthreads();  // all have read *place
    if (threadIdx.x == 0) *place = position;
    if (!(fabsf(best.logit) < INFINITY) || how.temperature == 0) {
        const bool none = best.logit == -INFINITY, bad = !(fabsf(best.logit) < INFINITY);
        const std::int64_t token = best.token;
        if (threadIdx.x == 0) tokens[position] = none ? kNoToken : bad ? -1 - token : token;
        return;
    }
    Candidates c = {logits, nullptr, V, 0, best.logit, how.temperature, 0};
    if (how.top_k > 0 && how.top_k < V) {
        const auto k = static_cast<unsigned>(how.top_k);
        gather(c, k);
        c.floor = c.threshold(k, [](std::int64_t) { return 1u; });
    }
    float total = 0;
    for (std::int64_t i = threadIdx.x; i < c.count; i += kThreads) {
        const std::int64_t v = c.token(i);
        total += c.stays(v) ? c.weight(v) : 0;
    }
    total = gpu::block_reduce<kThreads>(total, gpu::Plus());
    c.unit = 0x1p31f / total;
    if (how.top_p < 1) {
        const unsigned target = max(1u, static_cast<unsigned>(std::ceil(how.top_p * 0x1p31)));
        c.floor = c.threshold(target, [&](std::int64_t i) { return c.mass(c.token(i)); });
    }
    const double u = uniform(how.seed, static_cast<std::uint64_t>(position));
    const std::int64_t token = c.token(at_place(c, u));
    if (threadIdx.x == 0) tokens[position] = token;
}

}  // namespace

void launch_choose(View<const float> logits, const SamplerOptions* options, std::int64_t* tokens,
                   std::int64_t* place, gpu::Stream queue) {
    if (misalignment(logits.data) != 0) {
        reject("sample: the logits begin ", misalignment(logits.data),
               " bytes past a multiple of 16, and are read by vectors of 16 bytes");
    }
    choose_kernel<<<1, kThreads, 0, queue>>>(logits.data, logits.extent(0), options, tokens, place);
    gpu::check_launch("choose_kernel", 1, kThreads);
}

void reject_logits(std::int64_t instead_of_token, std::int64_t V, const std::string& advice) {
    if (instead_of_token == kNoToken) {
        reject("sample: none of ", V, " logits is finite, so no token is left", advice);
    }
    reject("sample: the logit of token ", -1 - instead_of_token,
           " is NaN or infinite; a finite number or -inf is needed", advice);
}

}  // namespace sixdays::gpt2
