// Prefix sum in one launch, by decoupled look-back: a block publishes the sum of its tile, then
// looks back over preceding tiles until it finds one with a published prefix.
#include "common/emulator/published/published.hpp"

namespace sixdays::emulator::published {

namespace {

enum { kNoFence = 1, kPlainStatus };
enum : unsigned { kNothing, kSum, kPrefix };  // what a tile has published
constexpr unsigned kThreads = 64;

struct Tiles {
    unsigned* ticket;  // the next tile to process
    unsigned* status;  // per tile, like
    int* sums;         // the tile's sum
    int* prefixes;     // the sum up to and including the tile
};

__device__ void publish(unsigned* status, unsigned what, int* place, int value, int mistake) {
    *place = value;
    if (mistake != kNoFence) __threadfence();
    atomicExch(status, what);
}

__device__ unsigned wait_for(unsigned* status, int mistake) {
    const volatile unsigned* from_memory = status;
    unsigned seen = kNothing;
    while (seen == kNothing) {
        if (mistake != kPlainStatus) seen = *from_memory;
        if (mistake == kPlainStatus) seen = *status;
    }
    __threadfence();
    return seen;
}

__device__ int sum_before(const Tiles& tiles, unsigned tile, int mistake) {
    int before = 0;
    for (unsigned at = tile; at-- > 0;) {
        if (wait_for(&tiles.status[at], mistake) == kPrefix) {
            return before + tiles.prefixes[at];  // MARK no_fence plain_status
        }
        before += tiles.sums[at];
    }
    return before;
}

__global__ void look_back_scan_kernel(const int* in, unsigned n, Tiles tiles, int* out,
                                      int mistake) {
    __shared__ int scan[kThreads];
    __shared__ unsigned tile;
    __shared__ int before;
    const unsigned t = threadIdx.x;
    // Tiles are assigned in starting order, so that the preceding ones have at least started.
    if (t == 0) tile = atomicAdd(tiles.ticket, 1u);
    __syncthreads();
    const unsigned i = tile * kThreads + t;
    scan[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned distance = 1; distance < kThreads; distance *= 2) {
        const int left = t >= distance ? scan[t - distance] : 0;
        __syncthreads();
        scan[t] += left;
        __syncthreads();
    }
    if (t == 0) {
        const int sum = scan[kThreads - 1];
        publish(&tiles.status[tile], kSum, &tiles.sums[tile], sum, mistake);
        before = sum_before(tiles, tile, mistake);
        publish(&tiles.status[tile], kPrefix, &tiles.prefixes[tile], before + sum, mistake);
    }
    __syncthreads();
    if (i < n) out[i] = before + scan[t];
}

}  // namespace

Outcome look_back_scan(int mistake) {
    constexpr unsigned kCount = 500, kTiles = (kCount + kThreads - 1) / kThreads;
    std::vector<int> values, expected;
    int sum = 0;
    for (const float v : numbers(kCount)) {
        values.push_back(static_cast<int>(v));
        expected.push_back(sum += values.back());
    }
    const Device<int> in(values), sums(kTiles), prefixes(kTiles), out(kCount);
    const Device<unsigned> state(std::vector<unsigned>(1 + kTiles, 0u));
    const Tiles tiles{state.data(), state.data() + 1, sums.data(), prefixes.data()};
    look_back_scan_kernel<<<kTiles, kThreads>>>(in.data(), kCount, tiles, out.data(), mistake);
    return compare(out, expected);
}

}  // namespace sixdays::emulator::published
