/// @file
/// Cooperative groups: block, grid, cluster, tiles of a warp, coalesced lanes. Each call is a
/// barrier or a warp call of the emulator and is checked like one.
#pragma once

#include "cuda_runtime.h"
#include "emulated/small_float.h"  // SIXDAYS_INLINE

namespace cooperative_groups {

using sixdays::emulator::Site;

namespace details {

SIXDAYS_INLINE unsigned thread_in_block() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
SIXDAYS_INLINE unsigned threads_of_block() {
    return blockDim.x * blockDim.y * blockDim.z;
}
using sixdays::emulator::ptx::lane_id;
/// Number of lanes in the mask below this one.
SIXDAYS_INLINE unsigned rank_in(unsigned mask, unsigned of_lane) {
    return static_cast<unsigned>(__builtin_popcount(mask & ((1u << of_lane) - 1)));
}
/// The lane with that rank.
SIXDAYS_INLINE unsigned lane_in(unsigned mask, unsigned rank) {
    for (; rank > 0; --rank) mask &= mask - 1;
    return static_cast<unsigned>(__builtin_ctz(mask | 1u << 31));
}
/// Converts a mask of lanes to a mask of ranks.
SIXDAYS_INLINE unsigned packed(unsigned lanes, unsigned mask) {
    unsigned ranks = 0, rank = 0;
    for (; mask != 0; mask &= mask - 1, ++rank)
        ranks |= ((lanes & mask & -mask) != 0 ? 1u : 0u) << rank;
    return ranks;
}
/// Shuffles a value of any size.
template <class T>
SIXDAYS_INLINE T from_lane(unsigned mask, const T& value, unsigned lane, Site site) {
    if constexpr (sizeof(T) <= 8) {
        return __shfl_sync(mask, value, static_cast<int>(lane), 32, site);
    } else {
        unsigned words[(sizeof(T) + 3) / 4] = {};
        __builtin_memcpy(words, &value, sizeof(T));
        for (unsigned& word : words)
            word = __shfl_sync(mask, word, static_cast<int>(lane), 32, site);
        T result;
        __builtin_memcpy(&result, words, sizeof(T));
        return result;
    }
}

/// A subset of the lanes of one warp.
class lanes {
public:
    SIXDAYS_INLINE explicit lanes(unsigned mask) : mask_(mask) {}

    SIXDAYS_INLINE unsigned size() const {
        return static_cast<unsigned>(__builtin_popcount(mask_));
    }
    SIXDAYS_INLINE unsigned num_threads() const { return size(); }
    SIXDAYS_INLINE unsigned thread_rank() const { return rank_in(mask_, lane_id()); }
    SIXDAYS_INLINE void sync(Site site = Site::current()) const { __syncwarp(mask_, site); }

    template <class T>
    SIXDAYS_INLINE T shfl(T value, unsigned rank, Site site = Site::current()) const {
        return from_lane(mask_, value, lane_in(mask_, rank % size()), site);
    }
    template <class T>
    SIXDAYS_INLINE T shfl_down(T value, unsigned by, Site site = Site::current()) const {
        const unsigned me = thread_rank();
        return shfl(value, me + by < size() ? me + by : me, site);
    }
    template <class T>
    SIXDAYS_INLINE T shfl_up(T value, unsigned by, Site site = Site::current()) const {
        const unsigned me = thread_rank();
        return shfl(value, me >= by ? me - by : me, site);
    }
    template <class T>
    SIXDAYS_INLINE T shfl_xor(T value, unsigned with, Site site = Site::current()) const {
        const unsigned me = thread_rank();
        return shfl(value, (me ^ with) < size() ? me ^ with : me, site);
    }
    SIXDAYS_INLINE int any(int predicate, Site site = Site::current()) const {
        return __any_sync(mask_, predicate, site);
    }
    SIXDAYS_INLINE int all(int predicate, Site site = Site::current()) const {
        return __all_sync(mask_, predicate, site);
    }
    SIXDAYS_INLINE unsigned ballot(int predicate, Site site = Site::current()) const {
        return packed(__ballot_sync(mask_, predicate, site), mask_);
    }
    template <class T>
    SIXDAYS_INLINE unsigned match_any(T value, Site site = Site::current()) const {
        return packed(__match_any_sync(mask_, value, site), mask_);
    }
    template <class T>
    SIXDAYS_INLINE unsigned match_all(T value, int& all_equal, Site site = Site::current()) const {
        return packed(__match_all_sync(mask_, value, &all_equal, site), mask_);
    }
    SIXDAYS_INLINE unsigned mask() const { return mask_; }  // not in CUDA: for the functions below

private:
    unsigned mask_;
};

/// The lanes of a tile of `size`. The last tile of a block may have fewer.
SIXDAYS_INLINE unsigned tile_mask(unsigned size) {
    const unsigned first = lane_id() / size * size;
    const unsigned in_warp = threads_of_block() - (thread_in_block() - lane_id());
    const unsigned here = in_warp - first < size ? in_warp - first : size;
    return (here == 32 ? ~0u : (1u << here) - 1) << first;
}

}  // namespace details

class thread_block {
public:
    SIXDAYS_INLINE static void sync(Site site = Site::current()) { __syncthreads(site); }
    SIXDAYS_INLINE static unsigned size() { return details::threads_of_block(); }
    SIXDAYS_INLINE static unsigned num_threads() { return size(); }
    SIXDAYS_INLINE static unsigned thread_rank() { return details::thread_in_block(); }
    SIXDAYS_INLINE static dim3 group_index() { return blockIdx; }
    SIXDAYS_INLINE static dim3 thread_index() { return threadIdx; }
    SIXDAYS_INLINE static dim3 group_dim() { return blockDim; }
    SIXDAYS_INLINE static dim3 dim_threads() { return blockDim; }
};
SIXDAYS_INLINE thread_block this_thread_block() {
    return {};
}

/// All blocks of a cooperative launch.
class grid_group {
public:
    SIXDAYS_INLINE static void sync(Site site = Site::current()) {
        sixdays::emulator::grid_barrier(site);
    }
    SIXDAYS_INLINE static bool is_valid() { return sixdays::emulator::is_cooperative_launch(); }
    SIXDAYS_INLINE static unsigned long long num_blocks() {
        return 1ull * gridDim.x * gridDim.y * gridDim.z;
    }
    SIXDAYS_INLINE static unsigned long long block_rank() {
        return blockIdx.x + 1ull * gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
    }
    SIXDAYS_INLINE static unsigned long long size() { return num_blocks() * thread_block::size(); }
    SIXDAYS_INLINE static unsigned long long num_threads() { return size(); }
    SIXDAYS_INLINE static unsigned long long thread_rank() {
        return block_rank() * thread_block::size() + thread_block::thread_rank();
    }
    SIXDAYS_INLINE static dim3 block_index() { return blockIdx; }
    SIXDAYS_INLINE static dim3 dim_blocks() { return gridDim; }
    SIXDAYS_INLINE static dim3 group_dim() { return gridDim; }
};
SIXDAYS_INLINE grid_group this_grid() {
    return {};
}

/// The blocks of a cluster; in a launch without clusters, the block itself.
class cluster_group {
public:
    using arrival_token = int;
    SIXDAYS_INLINE static void sync(Site site = Site::current()) {
        sixdays::emulator::cluster_arrive(site);
        sixdays::emulator::cluster_wait(site);
    }
    SIXDAYS_INLINE static arrival_token barrier_arrive(Site site = Site::current()) {
        sixdays::emulator::cluster_arrive(site);
        return 0;
    }
    SIXDAYS_INLINE static void barrier_wait(Site site = Site::current()) {
        sixdays::emulator::cluster_wait(site);
    }
    SIXDAYS_INLINE static void barrier_wait(arrival_token&&, Site site = Site::current()) {
        barrier_wait(site);
    }
    template <class T>
    SIXDAYS_INLINE static T* map_shared_rank(T* here, int rank, Site site = Site::current()) {
        return static_cast<T*>(
            sixdays::emulator::cluster_address(here, static_cast<unsigned>(rank), site));
    }
    SIXDAYS_INLINE static unsigned query_shared_rank(const void* place) {
        return sixdays::emulator::cluster_rank_of(place);
    }
    SIXDAYS_INLINE static dim3 dim_blocks() { return sixdays::emulator::cluster_extents(); }
    SIXDAYS_INLINE static dim3 block_index() {
        const dim3 c = dim_blocks();
        return {blockIdx.x % c.x, blockIdx.y % c.y, blockIdx.z % c.z};
    }
    SIXDAYS_INLINE static unsigned num_blocks() {
        const dim3 c = dim_blocks();
        return c.x * c.y * c.z;
    }
    SIXDAYS_INLINE static unsigned block_rank() {
        const dim3 c = dim_blocks(), b = block_index();
        return b.x + c.x * (b.y + c.y * b.z);
    }
    SIXDAYS_INLINE static unsigned num_threads() { return num_blocks() * thread_block::size(); }
    SIXDAYS_INLINE static unsigned size() { return num_threads(); }
    SIXDAYS_INLINE static unsigned thread_rank() {
        return block_rank() * thread_block::size() + thread_block::thread_rank();
    }
};
SIXDAYS_INLINE cluster_group this_cluster() {
    return {};
}

/// The lanes that execute the call together.
class coalesced_group : public details::lanes {
public:
    using lanes::lanes;
    SIXDAYS_INLINE unsigned meta_group_size() const { return 1; }
    SIXDAYS_INLINE unsigned meta_group_rank() const { return 0; }
};
SIXDAYS_INLINE coalesced_group coalesced_threads(Site site = Site::current()) {
    return coalesced_group(__activemask(site));
}

/// `Size` adjacent lanes.
template <unsigned Size, class Parent = void>
class thread_block_tile : public details::lanes {
    static_assert(Size <= 32 && (Size & (Size - 1)) == 0,
                  "tiles of 1, 2, 4, 8, 16 or 32 threads run on the emulator");

public:
    SIXDAYS_INLINE thread_block_tile() : lanes(details::tile_mask(Size)) {}
    template <class Other>
    SIXDAYS_INLINE thread_block_tile(const thread_block_tile<Size, Other>&) : thread_block_tile() {}
    SIXDAYS_INLINE static constexpr unsigned size() { return Size; }
    SIXDAYS_INLINE static constexpr unsigned num_threads() { return Size; }
    SIXDAYS_INLINE static unsigned thread_rank() { return details::lane_id() % Size; }
    SIXDAYS_INLINE static unsigned meta_group_rank() { return details::thread_in_block() / Size; }
    SIXDAYS_INLINE static unsigned meta_group_size() {
        return (details::threads_of_block() + Size - 1) / Size;
    }
};

/// Any of the above, or a tile whose size is only known at run time.
class thread_group {
public:
    SIXDAYS_INLINE thread_group(thread_block) : mask_(0) {}
    SIXDAYS_INLINE thread_group(const details::lanes& group) : mask_(group.mask()) {}
    SIXDAYS_INLINE unsigned size() const {
        return mask_ == 0 ? thread_block::size() : details::lanes(mask_).size();
    }
    SIXDAYS_INLINE unsigned num_threads() const { return size(); }
    SIXDAYS_INLINE unsigned thread_rank() const {
        return mask_ == 0 ? thread_block::thread_rank() : details::lanes(mask_).thread_rank();
    }
    SIXDAYS_INLINE void sync(Site site = Site::current()) const {
        if (mask_ == 0) {
            __syncthreads(site);
        } else {
            __syncwarp(mask_, site);
        }
    }

private:
    unsigned mask_;  // 0: the whole block
};

template <unsigned Size, class Parent>
SIXDAYS_INLINE thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
    return {};
}
template <class Parent>
SIXDAYS_INLINE thread_group tiled_partition(const Parent&, unsigned size) {
    return details::lanes(details::tile_mask(size));
}
/// Splits the group by label or predicate: returns the lanes whose value is equal.
template <class Group, class Label>
SIXDAYS_INLINE coalesced_group labeled_partition(const Group& group, Label label,
                                                 Site site = Site::current()) {
    return coalesced_group(__match_any_sync(group.mask(), label, site));
}
template <class Group>
SIXDAYS_INLINE coalesced_group binary_partition(const Group& group, bool answer,
                                                Site site = Site::current()) {
    return labeled_partition(group, static_cast<int>(answer), site);
}

template <class Group>
SIXDAYS_INLINE void sync(const Group& group, Site site = Site::current()) {
    group.sync(site);
}
template <class Group>
SIXDAYS_INLINE unsigned thread_rank(const Group& group) {
    return static_cast<unsigned>(group.thread_rank());
}
template <class Group>
SIXDAYS_INLINE unsigned group_size(const Group& group) {
    return static_cast<unsigned>(group.size());
}
template <class Group, class Function, class... Args>
SIXDAYS_INLINE void invoke_one(const Group& group, Function&& function, Args&&... args) {
    if (group.thread_rank() == 0) function(args...);
}

}  // namespace cooperative_groups
