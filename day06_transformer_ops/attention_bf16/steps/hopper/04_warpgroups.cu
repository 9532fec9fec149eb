// Step 4, for Hopper, with warp specialization: a producer thread copies tiles with TMA, and
// consumer warpgroups, each with 64 of the block's queries, multiply them with wgmma; only the
// attention weights come from registers. Each consumer is software-pipelined: it issues the scores
// of a tile together with the value product of the previous tile, and computes the exponentials
// while the values are still being added. The consumers take turns (ping-pong scheduling): while
// one computes exponentials, another's products run.
#include <algorithm>

#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul_bf16/hopper/stages.hpp"
#include "day06_transformer_ops/attention_bf16/steps/place.hpp"
#include "day06_transformer_ops/attention_bf16/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

using day05_matmul::Order, day05_matmul::Turn;

/// Tile sizes. GROUPS consumer warpgroups of 64 queries each per block, KEYS keys per tile.
/// @tparam BLOCKS  blocks that must fit on an SM
template <class T, int HEAD, int GROUPS, int KEYS = 128, int BLOCKS = 1>
struct CutForGroups {
    using Element = T;
    static constexpr int kHead = HEAD, kKeys = KEYS, kGroups = GROUPS, kStages = 2;
    static constexpr int kBlocks = BLOCKS;
    static constexpr int kDown = 1, kQueries = 64 * GROUPS;
    static constexpr bool kHolds = false;  // the tensor cores read the queries from shared memory
    static constexpr int kThreads = 128 * (GROUPS + 1);  // one more: the producer's
    // Registers per thread: at launch, in the producer, and in the consumers.
    static constexpr int kFirst = gpu::registers_of_bound(kThreads, BLOCKS);
    static constexpr int kGiven = BLOCKS > 1 ? 24 : GROUPS == 2 ? 40 : 32;
    static constexpr int kTaken = kFirst + (kFirst - kGiven) / GROUPS / 8 * 8;
    static constexpr unsigned kTileBytes = sizeof(T) * kKeys * HEAD;
    static constexpr unsigned kQueryBytes = sizeof(T) * kQueries * HEAD;
    static constexpr std::size_t kBytes = kQueryBytes + 2 * kStages * std::size_t{kTileBytes};
    static_assert(gpu::registers_suffice(kFirst, kThreads, kGiven, kTaken));
    // Each panel of 64 columns begins at a repeat of the swizzle pattern.
    static_assert(HEAD % 64 == 0 && kKeys * 128 % gpu::kSwizzleBytes == 0 &&
                  kQueries * 128 % gpu::kSwizzleBytes == 0);
};

/// The TMA descriptor of queries, keys or values.
struct Map {
    gpu::TileMap map;
    std::int64_t plane_pitch;
};
struct Maps {
    Map queries, keys, values;
};

/// The barriers of a ring of stages. `full`: the tile has arrived. `empty`: all consumers are done.
template <class C>
struct Barriers {
    gpu::Mbarrier full[C::kStages], empty[C::kStages];

    __device__ __forceinline__ void init() {
        for (int s = 0; s < C::kStages; ++s) {
            full[s].init(1);                // the producer
            empty[s].init(4 * C::kGroups);  // one lane per consumer warp
        }
    }
};
template <class C>
struct AllBarriers {
    Barriers<C> keys, values;
    gpu::Mbarrier may_ask[C::kGroups];  // whose turn it is to issue wgmma

    __device__ __forceinline__ void set_up() {
        if (threadIdx.x == 0) {
            keys.init();
            values.init();
            for (gpu::Mbarrier& one : may_ask) one.init(4);  // per warp of the previous group
            gpu::mbarriers_are_set_up();
        }
        __syncthreads();
    }
};

/// A head's queries, keys or values, as the TMA addresses them.
struct Source {
    const Map& of;
    std::int64_t plane, column;

    /// @param first  where the head begins, in elements
    __device__ __forceinline__ Source(const Map& map, std::int64_t first)
        : of(map), plane(first / map.plane_pitch), column(first % map.plane_pitch) {}
    template <int HEAD, class T, int ROWS>
    __device__ __forceinline__ void fetch(Panel<T, ROWS> to, std::int64_t row,
                                          gpu::Mbarrier& full) const {
        for (int d = 0; d < HEAD; d += 64) {
            gpu::copy_tile_of_plane_async(to.data + d * ROWS, of.map, plane, row, column + d, full);
        }
    }
};

/// The producer.
template <class C>
__device__ __forceinline__ void copy_tiles(const Tiles<C>& tiles, const Place<C>& place,
                                           const Maps& maps, AllBarriers<C>& barriers) {
    const AttentionBf16Problem<typename C::Element>& p = place.p;
    const Source queries(maps.queries, &p.q.first(place.at) - p.q.first.data),
        keys(maps.keys, &p.keys(place.at) - p.keys.data),
        values(maps.values, &p.values(place.at) - p.values.data);
    Turn<C::kStages> turn;
    for (std::int64_t s0 = 0; s0 < place.most; s0 += C::kKeys) {
        barriers.keys.empty[turn.stage].wait(turn.parity ^ 1);  // empty at first
        gpu::Mbarrier& k = barriers.keys.full[turn.stage];
        k.arrive_and_expect(C::kTileBytes + (s0 == 0 ? C::kQueryBytes : 0));
        if (s0 == 0) queries.fetch<C::kHead>(tiles.queries, place.t0, k);
        keys.fetch<C::kHead>(tiles.keys(turn.stage), s0, k);
        barriers.values.empty[turn.stage].wait(turn.parity ^ 1);
        gpu::Mbarrier& v = barriers.values.full[turn.stage];
        v.arrive_and_expect(C::kTileBytes);
        values.fetch<C::kHead>(tiles.values(turn.stage), s0, v);
        turn.next();
    }
}

/// Consumer release: called by a warp that has waited for a tile and no longer needs it.
__device__ __forceinline__ void give_back(gpu::Mbarrier& empty) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) empty.arrive();
}

/// A consumer warpgroup: its threads' state, and how they issue products.
template <class C>
struct Group : Warp<C> {
    using T = typename C::Element;
    static constexpr int kKeys = C::kKeys;
    using Warp<C>::score, Warp<C>::out, Warp<C>::m, Warp<C>::sum;
    int group;
    std::uint32_t weight[kKeys / 16][4];  // fragments of a: 16 keys each

    __device__ __forceinline__ Group(Panel<T, C::kQueries> tile, int which)
        : Warp<C>(tile), group(which) {}

    /// Issues score = q k^T, for all keys of a tile.
    __device__ __forceinline__ void ask_for_scores(Panel<T, kKeys> keys) {
        const auto q = gpu::wgmma_tile(this->queries.data + group * 64 * 64, 0);
        const auto k = gpu::wgmma_tile(keys.data, 0);
        gpu::wgmma_fence();
#pragma unroll
        for (int d = 0; d < C::kHead; d += 16) {
            const int panel = d / 64 * 128, in_row = d % 64 * 2;  // in bytes; panel: per row
            gpu::wgmma<T, false, false>(score[0], q.further(panel * C::kQueries + in_row),
                                        k.further(panel * kKeys + in_row), d > 0);
        }
        gpu::wgmma_commit();
    }
    /// Issues out += weights v.
    __device__ __forceinline__ void ask_for_values(Panel<T, kKeys> values) {
        const auto v = gpu::wgmma_tile(values.data, kKeys * 128);
        gpu::wgmma_fence();
#pragma unroll
        for (int s = 0; s < kKeys; s += 16) {
            gpu::wgmma<T, true>(out[0], weight[s / 16], v.further(s * 128));
        }
        gpu::wgmma_commit();
    }

    /// Exponentials, in place: `weight` is still an operand in use. @param to  receives the sums
    __device__ __forceinline__ void take_exps(float (&to)[2], float scale) {
        to[0] = to[1] = 0;
#pragma unroll
        for (auto& four : score[0]) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                four[e] = gpu::fast_exp2(fmaf(four[e], scale, -m[0][e / 2]));
                to[e / 2] += four[e];
            }
        }
    }
    /// Rounds the exponentials to T, as the operand of the next product.
    __device__ __forceinline__ void round_weights() {
#pragma unroll
        for (int s = 0; s < kKeys; s += 16) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const float* const pair = &score[0][s / 8 + j / 2][j % 2 * 2];
                weight[s / 16][j] = gpu::pack<T>(pair[0], pair[1]);
            }
        }
    }
};

/// A consumer's mainloop over all tiles that one of its queries sees.
template <class C>
__device__ __forceinline__ void attend(Group<C>& mine, const Tiles<C>& tiles, const Place<C>& place,
                                       AllBarriers<C>& barriers) {
    Barriers<C>&keys = barriers.keys, &values = barriers.values;
    const float scale = place.p.scale * 1.44269504f;
    const std::int64_t last = min(place.t0 + 64 * mine.group + 63, place.p.tokens() - 1),
                       seen = place.p.seen(last, place.counted);
    gpu::Mbarrier* const turns = barriers.may_ask;
    Order asking(turns[mine.group], turns[(mine.group + 1) % C::kGroups], mine.group == 0);
    Turn<C::kStages> now, before;
    float old[1][2], sum[2];
    std::int64_t s0 = 0;
    if (seen > 0) {
        keys.full[0].wait(0);
        mine.ask_for_scores(tiles.keys(0));
        gpu::wgmma_wait<0>(mine.score[0]);
        give_back(keys.empty[0]);
        place.hide(mine, 0);
        mine.find_maximum(old, scale);
        mine.take_exps(mine.sum[0], scale);
        mine.round_weights();
        now.next();
        // [mainloop]
        for (s0 = C::kKeys; s0 < seen; s0 += C::kKeys) {
            keys.full[now.stage].wait(now.parity);
            asking.wait();
            mine.ask_for_scores(tiles.keys(now.stage));
            values.full[before.stage].wait(before.parity);
            mine.ask_for_values(tiles.values(before.stage));
            asking.pass();
            gpu::wgmma_wait<1>(mine.score[0]);  // the value product is still running
            give_back(keys.empty[now.stage]);
            place.hide(mine, s0);
            mine.find_maximum(old, scale);
            mine.take_exps(sum, scale);
            gpu::wgmma_wait<0>(mine.out[0], mine.weight);
            give_back(values.empty[before.stage]);
            mine.rescale(old);
            mine.sum[0][0] += sum[0];
            mine.sum[0][1] += sum[1];
            mine.round_weights();
            now.next();
            before.next();
        }
        // [mainloop]
        values.full[before.stage].wait(before.parity);
        mine.ask_for_values(tiles.values(before.stage));
        gpu::wgmma_wait<0>(mine.out[0], mine.weight);
        give_back(values.empty[before.stage]);
    }
    for (; s0 < place.most; s0 += C::kKeys) {  // tiles that only later groups see
        if (s0 > 0) {
            asking.wait();
            asking.pass();
        }
        keys.full[now.stage].wait(now.parity);
        give_back(keys.empty[now.stage]);
        values.full[now.stage].wait(now.parity);
        give_back(values.empty[now.stage]);
        now.next();
    }
}

/// @param section  number of consecutive heads whose keys and values fit in the L2 cache together
template <class C>
__global__ void __launch_bounds__(C::kThreads, C::kBlocks)
    attention_warpgroups_kernel(const __grid_constant__ AttentionBf16Problem<typename C::Element> p,
                                const __grid_constant__ Maps maps, unsigned heads,
                                unsigned section) {
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ AllBarriers<C> barriers;
    barriers.set_up();
    const Tiles<C> tiles(memory);
    // The section's first head, its number of heads, and this block's index within the section.
    const unsigned high = gridDim.x / heads, first = blockIdx.x / (high * section) * section,
                   here = min(section, heads - first), b = blockIdx.x - first * high;
    const Place<C> place(p, first + b % here, high - 1 - b / here);
    const int group = static_cast<int>(threadIdx.x / 128);
    if (group == C::kGroups) {
        gpu::give_registers<C::kGiven>();
        if (threadIdx.x % 128 == 0) copy_tiles(tiles, place, maps, barriers);
    } else {
        gpu::take_registers<C::kTaken>();
        Group<C> mine(tiles.queries, group);
        attend(mine, tiles, place, barriers);
        place.store(mine);
    }
}

/// L2 budget for keys and values that blocks share: 8/15 of the cache, 32 MiB of an H200's 60. The
/// rest is for queries and outputs, which pass through.
std::int64_t section_bytes() {
#ifdef SIXDAYS_EMULATED
    return 64 << 10;  // small, so that small tests have several sections
#else
    int device = 0, cache = 0;
    SIXDAYS_CUDA(cudaGetDevice(&device));
    SIXDAYS_CUDA(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device));
    return std::int64_t{cache} / 15 * 8;
#endif
}

template <class T>
Map map_of(const T* first, const View<const T>& heads, std::int64_t rows, std::int64_t pitch,
           std::int64_t D, int rows_of_tile) {
    if (rows == 0) return {{}, 1};  // nothing to copy
    const Planes x = planes_of(without(heads.layout, {heads.rank() - 1}), rows, pitch, D).value();
    return {gpu::tile_map_of_planes(first, x.planes, x.plane_pitch, rows, x.columns, x.pitch,
                                    rows_of_tile),
            x.plane_pitch};
}

template <class C>
void launch(const AttentionBf16Problem<typename C::Element>& p, gpu::Stream stream) {
    const std::int64_t heads = p.q.count() / p.tokens(), D = p.q.length;
    const auto& q = p.q.first;
    const Maps maps = {map_of(q.data, q, p.tokens(), q.stride(q.rank() - 1), D, C::kQueries),
                       map_of(p.keys.data, p.keys, p.S, p.k_along_s, D, C::kKeys),
                       map_of(p.values.data, p.values, p.S, p.v_along_s, D, C::kKeys)};
    const std::int64_t head_bytes = std::max<std::int64_t>(2 * sizeof(*q.data) * p.S * D, 1),
                       section = std::clamp<std::int64_t>(section_bytes() / head_bytes, 1, heads);
    const unsigned grid = gpu::blocks_for(heads * gpu::blocks_for(p.tokens(), C::kQueries), 1);
    gpu::allow_shared(attention_warpgroups_kernel<C>, C::kBytes);
    gpu::require_registers<attention_warpgroups_kernel<C>>(C::kThreads, C::kGiven, C::kTaken);
    attention_warpgroups_kernel<C><<<grid, C::kThreads, C::kBytes, stream>>>(
        p, maps, static_cast<unsigned>(heads), static_cast<unsigned>(section));
    gpu::check_launch("attention_warpgroups_kernel", grid, C::kThreads, C::kBytes);
}

}  // namespace

template <class T>
void launch_attention_warpgroups(const AttentionBf16Problem<T>& p, gpu::Stream stream) {
    p.q.length > 64 ? launch<CutForGroups<T, 128, 2>>(p, stream)
                    : launch<CutForGroups<T, 64, 3>>(p, stream);
}

template void launch_attention_warpgroups(const AttentionBf16Problem<bf16>&, gpu::Stream);
template void launch_attention_warpgroups(const AttentionBf16Problem<f16>&, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
