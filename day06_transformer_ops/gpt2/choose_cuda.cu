// The sampler as one block. What the CPU sorts for is found here without sorting: a threshold, digit
// by digit, by counting (top-k) or weighing (top-p) what lies above it.
#include "day06_transformer_ops/gpt2/choose.hpp"

#include <cmath>

#include "common/gpu/launch.hpp"
#include "common/gpu/ptx.hpp"
#include "common/gpu/reduce.hpp"
#include "common/tensor/arguments.hpp"
#include "day04_argmax/joins.hpp"
#include "day06_transformer_ops/gpt2/philox.hpp"

namespace sixdays::gpt2 {
namespace {

constexpr int kThreads = 1024;
constexpr int kDigit = 8;  // bits
constexpr int kBins = 1 << kDigit;
constexpr unsigned kAll = 0xffffffffu;

struct Plus {
    template <class T>
    __device__ T operator()(T a, T b) const {
        return a + b;
    }
};

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
    std::int64_t V;
    std::uint64_t floor;  // the lowest rank that stays
    float largest, temperature;
    float unit;  // a weight of 1 in units of 2^-31 of all weights

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
        for (std::int64_t v = threadIdx.x; v < c.V; v += kThreads) {
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
    const std::uint64_t found = prefix;
    __syncthreads();
    return found;
}
// [threshold]

// [at_place]
/// The candidates laid side by side on a line, in the vocabulary's order: the one at `u` of its length.
/// A thread has a run of them.
__device__ void at_place(const Candidates& c, double u, std::int64_t* token) {
    __shared__ unsigned of_warp[kThreads / 32];
    const std::int64_t run = (c.V + kThreads - 1) / kThreads, first = threadIdx.x * run;
    const std::int64_t end = min(c.V, first + run);
    unsigned mine = 0;
    for (std::int64_t v = first; v < end; ++v) mine += c.stays(v) ? c.mass(v) : 0;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned sum = mine;
    for (int d = 1; d < 32; d *= 2) {
        const unsigned other = __shfl_up_sync(kAll, sum, d);
        if (lane >= d) sum += other;
    }
    if (lane == 31) of_warp[warp] = sum;
    __syncthreads();
    unsigned before = sum - mine, total = 0;
    for (int w = 0; w < kThreads / 32; ++w) {
        if (w < warp) before += of_warp[w];
        total += of_warp[w];
    }
    const unsigned place = static_cast<unsigned>(u * total);
    if (place < before || place - before >= mine) return;
    for (std::int64_t v = first; v < end; ++v) {
        if (!c.stays(v)) continue;
        before += c.mass(v);
        if (place < before) return void(*token = v);
    }
}
// [at_place]

// [choose]
__global__ void __launch_bounds__(kThreads)
    choose_kernel(const float* logits, std::int64_t V, const SamplerOptions* options,
                  std::int64_t* tokens, std::int64_t* place) {
    gpu::let_next_start();
    gpu::wait_for_previous();
    Best best = {-INFINITY, kAll};
    for (std::int64_t v = threadIdx.x; v < V; v += kThreads) {
        best = Better()(best, {logits[v], static_cast<unsigned>(v)});
    }
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
    Candidates c = {logits, V, 0, best.logit, how.temperature, 0};
    if (how.top_k > 0 && how.top_k < V) {
        c.floor = threshold(c, static_cast<unsigned>(how.top_k), [](std::int64_t) { return 1u; });
    }
    float total = 0;
    for (std::int64_t v = threadIdx.x; v < V; v += kThreads) total += c.stays(v) ? c.weight(v) : 0;
    total = gpu::block_reduce<kThreads>(total, Plus());
    c.unit = 0x1p31f / total;
    if (how.top_p < 1) {
        const unsigned target = max(1u, static_cast<unsigned>(std::ceil(how.top_p * 0x1p31)));
        c.floor = threshold(c, target, [&](std::int64_t v) { return c.mass(v); });
    }
    at_place(c, uniform(how.seed, static_cast<std::uint64_t>(position)), &tokens[position]);
}
// [choose]

}  // namespace

void launch_choose(View<const float> logits, const SamplerOptions* options, std::int64_t* tokens,
                   std::int64_t* place, gpu::Stream queue) {
    choose_kernel<<<1, kThreads, 0, queue>>>(logits.data, logits.extent(0), options, tokens, place);
    gpu::check_launch("choose_kernel", 1, kThreads);
}

void refuse_logits(std::int64_t instead_of_token, std::int64_t V) {
    if (instead_of_token == kNoToken) {
        refuse("sample: none of " + std::to_string(V) +
               " logits is finite, so no token can come");
    }
    refuse("sample: the logit of token " + std::to_string(-1 - instead_of_token) +
           " is NaN or infinite; a finite number or -inf is needed");
}

}  // namespace sixdays::gpt2
