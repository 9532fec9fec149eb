// Clusters. Also for GPUs of sm_90 and newer.
#include "common/emulator/tests/clusters.hpp"

#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

#include <utility>

#include "common/gpu/ptx/mbarrier.hpp"
#include "common/gpu/ptx/wgmma.hpp"
#include "common/gpu/shared_tiles.hpp"

namespace cg = cooperative_groups;

namespace sixdays::emulator::tests {

namespace {

// Each block stores its number and reads that of the next block of its cluster.
__device__ void read_the_next(int* out) {
    __shared__ int mine[4];
    const cg::cluster_group cluster = cg::this_cluster();
    mine[threadIdx.x] = static_cast<int>(10 * blockIdx.x + threadIdx.x);
    cluster.sync();
    const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    const int* theirs = cluster.map_shared_rank(mine, static_cast<int>(next));
    out[blockIdx.x * 4 + threadIdx.x] = theirs[threadIdx.x];
    cluster.sync();
}
__global__ void __cluster_dims__(2, 1, 1) neighbours(int* out) {
    read_the_next(out);
}
template <int N>
__global__ void __launch_bounds__(64) __cluster_dims__(N, 1, 1) template_neighbours(int* out) {
    read_the_next(out);
}
__global__ void neighbours_by_call(int* out, float, int first) {
    if (first == 7) read_the_next(out);
}
// The definition does not repeat the cluster size; and a template argument is deduced.
__global__ void __cluster_dims__(2, 1, 1) declared(int* out);
__global__ void declared(int* out) {
    read_the_next(out);
}
template <class T>
__global__ void __cluster_dims__(16, 1, 1) deduced(T* out) {
    read_the_next(out);
}

// Arrays of different sizes: a block keeps its own, and reads those of the other block.
__global__ void __cluster_dims__(2, 1, 1) several_arrays(int* out) {
    __shared__ char chars[3];
    __shared__ int ints[5];
    __shared__ short shorts[2];
    const int me = static_cast<int>(blockIdx.x);
    for (int i = 0; i < 3; ++i) chars[i] = static_cast<char>(10 * me + i);
    for (int i = 0; i < 5; ++i) ints[i] = 100 * me + i;
    for (int i = 0; i < 2; ++i) shorts[i] = static_cast<short>(1000 * me + i);
    const cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    out[6 * me] = chars[2];
    out[6 * me + 1] = ints[4];
    out[6 * me + 2] = shorts[1];
    out[6 * me + 3] = cluster.map_shared_rank(chars, 1 - me)[2];
    out[6 * me + 4] = cluster.map_shared_rank(ints, 1 - me)[4];
    out[6 * me + 5] = cluster.map_shared_rank(shorts, 1 - me)[1];
    cluster.sync();
}

// The maximum number of threads in a cluster, all of which wait.
__global__ void many_threads(int* out) {
    __shared__ int mine;
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) mine = static_cast<int>(blockIdx.x);
    cluster.sync();
    const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    if (threadIdx.x == blockDim.x - 1)
        out[blockIdx.x] = *cluster.map_shared_rank(&mine, static_cast<int>(next));
    cluster.sync();
}

// As in CUDA's programming guide: 16 bins, 4 in each block's shared memory.
__global__ void __cluster_dims__(4, 1, 1) histogram(int* out) {
    extern __shared__ int bins[];
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    cluster.sync();
    const unsigned bin = (blockIdx.x * blockDim.x + threadIdx.x) * 7 % 16;
    atomicAdd(cluster.map_shared_rank(bins, static_cast<int>(bin / 4)) + bin % 4, 1);
    cluster.sync();
    if (threadIdx.x < 4) out[blockIdx.x * 4 + threadIdx.x] = bins[threadIdx.x];
}

__global__ void __cluster_dims__(2, 1, 1) global_memory(int* out) {
    out[blockIdx.x] = static_cast<int>(blockIdx.x);
    cg::this_cluster().sync();
    out[32 + blockIdx.x] = out[blockIdx.x ^ 1];
}

// Reads the next block's number with PTX; and with a shared address converted in C++.
__global__ void __cluster_dims__(2, 1, 1) by_ptx(int* out) {
    __shared__ int mine;
    unsigned rank, there;
    int value;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    mine = static_cast<int>(blockIdx.x) + 1;
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    const auto here = static_cast<unsigned>(__cvta_generic_to_shared(&mine));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank ^ 1));
    asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(value) : "r"(there));
    int* const mapped = cg::this_cluster().map_shared_rank(&mine, static_cast<int>(rank ^ 1));
    const auto same = static_cast<unsigned>(__cvta_generic_to_shared(mapped));
    out[blockIdx.x] = value + (same == there ? 100 : 0);
    cg::this_cluster().sync();
}

// Thread-local work between arrive and wait.
__global__ void __cluster_dims__(2, 1, 1) arrive_early(int* out) {
    __shared__ int mine;
    const cg::cluster_group cluster = cg::this_cluster();
    mine = static_cast<int>(blockIdx.x) + 1;
    auto token = cluster.barrier_arrive();
    const int own = static_cast<int>(threadIdx.x);
    cluster.barrier_wait(std::move(token));
    out[blockIdx.x] = own + *cluster.map_shared_rank(&mine, static_cast<int>(blockIdx.x % 2) ^ 1);
    cluster.sync();
}

// Both warps have arrived when one of them goes on to another barrier.
__global__ void __cluster_dims__(2, 1, 1) syncs_between(int* out) {
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned warp = threadIdx.x / 32;
    if (warp == 0) {
        cluster.barrier_arrive();
    } else {
        cluster.sync();
    }
    __syncthreads();
    if (warp == 0) cluster.barrier_wait();
    out[2 * blockIdx.x + warp] = 1;
    cluster.sync();
}

// Threads can reach a cluster barrier at different lines.
__global__ void two_lines(int* out) {
    if (threadIdx.x < 32) {
        out[threadIdx.x] = 1;
        cg::this_cluster().sync();
    } else {
        cg::this_cluster().sync();
        out[threadIdx.x] = out[threadIdx.x - 32] + 1;
    }
}

// The other blocks' array exists from their start, even before they reach its declaration.
__device__ int sum_of_cluster(int value) {
    __shared__ int parts[8];
    const cg::cluster_group cluster = cg::this_cluster();
    const int size = static_cast<int>(cluster.num_blocks());
    for (int rank = 0; rank < size; ++rank)
        cluster.map_shared_rank(parts, rank)[cluster.block_rank()] = value;
    cluster.sync();
    int sum = 0;
    for (int rank = 0; rank < size; ++rank) sum += parts[rank];
    return sum;
}
__global__ void __cluster_dims__(4, 1, 1) pushed(int* out) {
    cg::this_cluster().sync();
    out[blockIdx.x] = sum_of_cluster(static_cast<int>(blockIdx.x) + 1);
}

// A tile cut out of dynamic shared memory is still the same after the barrier.
__global__ void __cluster_dims__(2, 1, 1) tiles_across(int* out) {
    extern __shared__ __align__(16) unsigned char memory[];
    gpu::SharedTiles(memory).next<int>(4)[threadIdx.x] = 3;
    cg::this_cluster().sync();
    out[4 * blockIdx.x + threadIdx.x] = gpu::SharedTiles(memory).next<int>(4)[threadIdx.x];
}

// A copy in flight at the barrier arrives after it.
__global__ void __cluster_dims__(2, 1, 1) copy_across(int* out) {
    __shared__ int mine[4];
    __pipeline_memcpy_async(&mine[threadIdx.x], &out[32 + threadIdx.x], sizeof(int));
    __pipeline_commit();
    cg::this_cluster().sync();
    __pipeline_wait_prior(0);
    out[4 * blockIdx.x + threadIdx.x] = mine[threadIdx.x];
}
__global__ void __cluster_dims__(2, 1, 1) sums_across(int* out) {
    __shared__ __align__(1024) unsigned short ones[(64 + 128) * 64];
    for (unsigned i = threadIdx.x; i < (64 + 128) * 64; i += blockDim.x) ones[i] = 0x3f80;
    __syncthreads();
    const auto a = gpu::wgmma_tile(ones, 16), b = gpu::wgmma_tile(ones + 64 * 64, 16);
    float sum[16][4] = {};
    gpu::wgmma_fence();
    gpu::wgmma<bf16, false, false>(sum, a, b);
    gpu::wgmma_commit();
    cg::this_cluster().sync();
    gpu::wgmma_wait<0>(sum);
    gpu::wgmma_fence();
    cg::this_cluster().sync();
    gpu::wgmma<bf16, false, false>(sum, a, b);
    gpu::wgmma_commit();
    gpu::wgmma_wait<0>(sum);
    if (threadIdx.x < 32) out[32 * blockIdx.x + threadIdx.x] = static_cast<int>(sum[0][0]);
}

// An mbarrier keeps its arrivals while its block waits for the cluster.
__global__ void __cluster_dims__(2, 1, 1) mbarrier_across(int* out) {
    __shared__ gpu::Mbarrier both;
    if (threadIdx.x == 0) both.init(2);
    __syncthreads();
    if (threadIdx.x == 0) both.arrive();
    cg::this_cluster().sync();
    if (threadIdx.x == 1) both.arrive();
    both.wait(0);
    out[2 * blockIdx.x + threadIdx.x] = 5;
}

// Ranks, extents and indices.
__global__ void indices(int* out) {
    const cg::cluster_group cluster = cg::this_cluster();
    __shared__ int mine;
    const dim3 extents = cluster.dim_blocks(), index = cluster.block_index();
    const unsigned block = blockIdx.x + gridDim.x * blockIdx.y;
    out[block] =
        static_cast<int>(cluster.block_rank() + 10 * cluster.num_blocks() + 1000 * index.x +
                         10000 * index.y + 100000 * extents.x + 1000000 * extents.y);
    const int last = static_cast<int>(cluster.num_blocks()) - 1;
    cluster.sync();
    out[16 + block] = static_cast<int>(cluster.query_shared_rank(cluster.map_shared_rank(
                                           cluster.map_shared_rank(&mine, 0), last)) +
                                       10 * cluster.thread_rank() + 1000 * cluster.num_threads());
    cluster.sync();
}

// What the first block of a cluster knows of the second reaches the later cluster through a fence
// and an atomic.
__global__ void __cluster_dims__(2, 1, 1) told_to_others(int* out) {
    const unsigned cluster = blockIdx.x / 2;
    if (blockIdx.x % 2 == 1) out[1 + cluster] = 11;
    cg::this_cluster().sync();
    if (blockIdx.x % 2 == 1) return;
    __threadfence();
    const bool is_later = atomicAdd(&out[0], 1) == 0;
    __threadfence();
    if (is_later) out[3] = out[2 - cluster];
}

// A three-dimensional cluster.
__global__ void __cluster_dims__(1, 2, 2) deep(int* out) {
    const cg::cluster_group cluster = cg::this_cluster();
    const dim3 index = cluster.block_index();
    out[blockIdx.x + 2 * (blockIdx.y + 2 * blockIdx.z)] = static_cast<int>(
        cluster.block_rank() + 10 * index.z + 100 * index.y + 1000 * cluster.dim_blocks().z);
}

// Each block reads the number of the next one in its cluster of 1 x 2 x 3.
__global__ void __cluster_dims__(1, 2, 3) boxes(int* out) {
    __shared__ int mine;
    const cg::cluster_group cluster = cg::this_cluster();
    mine = static_cast<int>(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
    cluster.sync();
    out[mine] = *cluster.map_shared_rank(&mine, static_cast<int>(cluster.block_rank() + 1) % 6);
    cluster.sync();
}

// --- planted bugs --------------------------------------------------------------------------------

__global__ void __cluster_dims__(2, 1, 1) no_first_barrier(int* out) {
    __shared__ int mine;
    const cg::cluster_group cluster = cg::this_cluster();
    mine = 1;
    out[blockIdx.x] =
        *cluster.map_shared_rank(&mine, static_cast<int>(blockIdx.x) ^ 1);  // MARK no_first_barrier
    cluster.sync();
}
__global__ void __cluster_dims__(2, 1, 1) no_last_barrier(int* out, unsigned reader) {
    __shared__ int mine;
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) mine = 1;
    cluster.sync();
    if (blockIdx.x == reader && threadIdx.x == 1) {
        out[0] = *cluster.map_shared_rank(&mine, 1);  // MARK no_last_barrier
    }
}
__global__ void __cluster_dims__(2, 1, 1) stored_by_another(int* out) {
    __shared__ int mine;
    const cg::cluster_group cluster = cg::this_cluster();
    mine = 1;
    cluster.sync();
    if (blockIdx.x == 0) *cluster.map_shared_rank(&mine, 1) = 2;  // MARK stored_by_another
    if (blockIdx.x == 1) out[1] = mine;                           // MARK stored_by_another
    cluster.sync();
}
__global__ void __cluster_dims__(2, 1, 1) no_barrier_in_global_memory(int* out) {
    cg::this_cluster().sync();
    out[blockIdx.x] = 1;                         // MARK no_barrier_in_global_memory
    out[32 + blockIdx.x] = out[blockIdx.x ^ 1];  // MARK no_barrier_in_global_memory
}
__global__ void __cluster_dims__(2, 1, 1) another_cluster(int* out) {
    out[blockIdx.x] = 1;  // MARK another_cluster
    cg::this_cluster().sync();
    out[32 + blockIdx.x] = out[blockIdx.x ^ 2];  // MARK another_cluster
}
// The history of part of a word is kept, even if its owner accesses it first.
template <class T>
__global__ void __cluster_dims__(2, 1, 1) narrow(int* out) {
    __shared__ T mine[4];
    const cg::cluster_group cluster = cg::this_cluster();
    for (int i = 0; i < 4; ++i) mine[i] = T(1);
    cluster.sync();
    const T* const firsts = cluster.map_shared_rank(mine, 0);
    if (blockIdx.x == 0) mine[1] = T(2);                 // MARK narrow_char, MARK narrow_half
    if (blockIdx.x == 1) out[1] = mine[1] == firsts[1];  // MARK narrow_char, MARK narrow_half
    cluster.sync();
}
// Each cluster has its own counter, which no other cluster updates.
__global__ void __cluster_dims__(2, 1, 1) not_told(int* out) {
    __shared__ int counter;
    counter = 0;
    cg::this_cluster().sync();
    if (blockIdx.x == 0) {
        out[0] = 1;  // MARK not_told
        __threadfence();
        atomicAdd(&counter, 1);
    }
    if (blockIdx.x == 2) {
        atomicAdd(&counter, 0);
        __threadfence();
        out[1] = out[0];  // MARK not_told
    }
}
__global__ void __cluster_dims__(2, 1, 1) lanes_disagree(int* out) {
    __shared__ int mine;
    if (threadIdx.x < 2) mine = static_cast<int>(threadIdx.x);  // MARK lanes_disagree
    cg::this_cluster().sync();
    out[blockIdx.x] = mine;
}
__global__ void lanes_disagree_in_grid(int* out) {
    __shared__ int mine;
    if (threadIdx.x < 2) mine = static_cast<int>(threadIdx.x);  // MARK lanes_disagree_in_grid
    cg::this_grid().sync();
    out[blockIdx.x] = mine;
}
__global__ void __cluster_dims__(2, 1, 1) copy_not_waited_for(int* out) {
    __shared__ int mine[4];
    __pipeline_memcpy_async(&mine[threadIdx.x], &out[32 + threadIdx.x], sizeof(int));
    cg::this_cluster().sync();
    out[4 * blockIdx.x + threadIdx.x] = mine[threadIdx.x];  // MARK copy_not_waited_for
}
__global__ void __cluster_dims__(2, 1, 1) others_copy(int* out) {
    __shared__ int mine[4];
    __pipeline_memcpy_async(&mine[threadIdx.x], &out[32 + threadIdx.x], sizeof(int));
    cg::this_cluster().sync();
    const int* const theirs = cg::this_cluster().map_shared_rank(mine, blockIdx.x == 0);
    out[blockIdx.x] = theirs[threadIdx.x];  // MARK others_copy
    cg::this_cluster().sync();
    __pipeline_wait_prior(0);
}
__global__ void __cluster_dims__(2, 1, 1) two_barriers(int*) {
    if (threadIdx.x == 0) {
        cg::this_cluster().sync();
    } else {
        __syncthreads();  // MARK two_barriers
    }
}
__global__ void __cluster_dims__(2, 1, 1) ended_after_arrival(int* out) {
    __shared__ int mine;
    const cg::cluster_group cluster = cg::this_cluster();
    mine = 1;
    cluster.sync();
    cluster.barrier_arrive();
    if (blockIdx.x == 0) out[0] = *cluster.map_shared_rank(&mine, 1);  // MARK ended_after_arrival
    cluster.barrier_wait();
}
// After a barrier of the cluster, all threads have arrived at its next one, and none waits there.
__global__ void __cluster_dims__(2, 1, 1) waits_elsewhere(int*) {
    __shared__ gpu::Mbarrier full;
    full.init(1);
    cg::this_cluster().sync();
    cg::this_cluster().barrier_arrive();
    full.wait(0);  // MARK waits_elsewhere
    cg::this_cluster().barrier_wait();
}
__global__ void __cluster_dims__(2, 1, 1) endless(int*) {
    for (int i = 0; i >= 0; i = (i + 1) % 8) cg::this_cluster().sync();  // MARK endless
}
__global__ void endless_in_grid(int*) {
    for (int i = 0; i >= 0; i = (i + 1) % 8) cg::this_grid().sync();  // MARK endless_in_grid
}
__global__ void __cluster_dims__(2, 1, 1) no_such_block(int* out) {
    __shared__ int mine;
    mine = 1;
    cg::this_cluster().sync();
    out[0] = *cg::this_cluster().map_shared_rank(&mine, 2);  // MARK no_such_block
}
__global__ void __cluster_dims__(2, 1, 1) past_the_array(int* out) {
    __shared__ int mine[4];
    mine[threadIdx.x] = 1;
    cg::this_cluster().sync();
    if (blockIdx.x == 0)
        out[0] =
            cg::this_cluster().map_shared_rank(mine, 1)[threadIdx.x + 4];  // MARK past_the_array
    cg::this_cluster().sync();
}
__global__ void __cluster_dims__(2, 1, 1) past_the_chars(int* out) {
    __shared__ char mine[3];
    __shared__ int next_to_it;
    for (char& c : mine) c = 1;
    next_to_it = 1;
    cg::this_cluster().sync();
    if (blockIdx.x == 0)
        out[0] =
            cg::this_cluster().map_shared_rank(mine, 1)[next_to_it + 2];  // MARK past_the_chars
    cg::this_cluster().sync();
}
__global__ void __cluster_dims__(2, 1, 1) never_written(int* out) {
    __shared__ int mine[4];
    if (blockIdx.x == 0) mine[threadIdx.x] = 1;
    cg::this_cluster().sync();
    if (blockIdx.x == 0)
        out[0] = cg::this_cluster().map_shared_rank(mine, 1)[threadIdx.x];  // MARK never_written
    cg::this_cluster().sync();
}
__global__ void __cluster_dims__(2, 1, 1) not_shared(int* out) {
    cg::this_cluster().sync();
    out[0] = *cg::this_cluster().map_shared_rank(out, 1);  // MARK not_shared
}
__global__ void __cluster_dims__(2, 1, 1) arrives_twice(int*) {
    cg::this_cluster().barrier_arrive();
    cg::this_cluster().barrier_arrive();  // MARK arrives_twice
    cg::this_cluster().barrier_wait();
}
__global__ void __cluster_dims__(2, 1, 1) waits_without_arriving(int*) {
    cg::this_cluster().barrier_wait();  // MARK waits_without_arriving
}

// The ways to specify a cluster launch.
struct InClusters {
    InClusters(dim3 grid, dim3 block, dim3 cluster) {
        config.gridDim = grid;
        config.blockDim = block;
        attribute[0].id = cudaLaunchAttributeClusterDimension;
        attribute[0].val.clusterDim.x = cluster.x;
        attribute[0].val.clusterDim.y = cluster.y;
        attribute[0].val.clusterDim.z = cluster.z;
        config.attrs = attribute;
        config.numAttrs = 1;
    }
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute[1] = {};
};
template <class... Args>
void launch_by_call(dim3 grid, dim3 block, dim3 cluster, void (*kernel)(Args...), Args... args) {
    const InClusters in(grid, block, cluster);
    cudaLaunchKernelEx(&in.config, kernel, args...);
}
template <class Kernel>
void allow_16_blocks(Kernel* kernel, int allow) {
    cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, allow);
}
void cooperatively(void (*kernel)(int*), int* out) {
    void* arguments[] = {&out};
    cudaLaunchCooperativeKernel(kernel, 2, 32, arguments);
}

}  // namespace

const std::vector<ClusterCase>& clusters() {
    static const std::vector<ClusterCase> all = {
        {"neighbours", [](int* out) { neighbours<<<8, 4>>>(out); }},
        {"template_neighbours", [](int* out) { template_neighbours<4><<<8, 4>>>(out); }},
        {"neighbours_by_call",
         [](int* out) { launch_by_call(8, 4, 8, neighbours_by_call, out, 0.0f, 7); }},
        {"neighbours_by_address",
         [](int* out) {
             float unused = 0;
             int first = 7;
             void* arguments[] = {&out, &unused, &first};
             const InClusters in(8, 4, 8);
             cudaLaunchKernelExC(&in.config, (const void*)neighbours_by_call, arguments);
         }},
        {"template_by_address",
         [](int* out) {
             void* arguments[] = {&out};
             const InClusters in(8, 4, 4);
             cudaLaunchKernelExC(&in.config, (const void*)template_neighbours<4>, arguments);
         }},
        {"declared", [](int* out) { declared<<<8, 4>>>(out); }},
        {"deduced",
         [](int* out) {
             allow_16_blocks(deduced<int>, 1);
             deduced<<<16, 4>>>(out);
             allow_16_blocks(deduced<int>, 0);
         }},
        {"no_longer_allowed", [](int* out) { deduced<<<16, 4>>>(out); }},
        {"many_threads",
         [](int* out) {
             allow_16_blocks(many_threads, 1);
             launch_by_call(16, 1024, 16, many_threads, out);
             allow_16_blocks(many_threads, 0);
         }},
        {"syncs_between", [](int* out) { syncs_between<<<4, 64>>>(out); }},
        {"two_lines", [](int* out) { two_lines<<<1, 64>>>(out); }},
        {"two_lines_of_a_cluster", [](int* out) { launch_by_call(1, 64, 1, two_lines, out); }},
        {"pushed", [](int* out) { pushed<<<8, 1>>>(out); }},
        {"tiles_across", [](int* out) { tiles_across<<<2, 4, 16>>>(out); }},
        {"copy_across", [](int* out) { copy_across<<<2, 4>>>(out); }},
        {"sums_across", [](int* out) { sums_across<<<2, 128>>>(out); }},
        {"deep", [](int* out) { deep<<<dim3(2, 2, 4), 1>>>(out); }},
        {"boxes", [](int* out) { boxes<<<dim3(2, 4, 6), 1>>>(out); }},
        {"narrow_char", [](int* out) { narrow<char><<<2, 1>>>(out); }},
        {"narrow_half", [](int* out) { narrow<__half><<<2, 1>>>(out); }},
        {"not_told", [](int* out) { not_told<<<4, 1>>>(out); }},
        {"lanes_disagree", [](int* out) { lanes_disagree<<<2, 32>>>(out); }},
        {"lanes_disagree_in_grid", [](int* out) { cooperatively(lanes_disagree_in_grid, out); }},
        {"copy_not_waited_for", [](int* out) { copy_not_waited_for<<<2, 4>>>(out); }},
        {"others_copy", [](int* out) { others_copy<<<2, 4>>>(out); }},
        {"two_barriers", [](int* out) { two_barriers<<<2, 2>>>(out); }},
        {"ended_after_arrival", [](int* out) { ended_after_arrival<<<2, 1>>>(out); }},
        {"waits_elsewhere", [](int* out) { waits_elsewhere<<<2, 1>>>(out); }},
        {"endless", [](int* out) { endless<<<2, 32>>>(out); }},
        {"endless_in_grid", [](int* out) { cooperatively(endless_in_grid, out); }},
        {"no_blocks", [](int* out) { launch_by_call(8, 4, dim3(2, 0, 0), neighbours, out); }},
        {"cooperative", [](int* out) { cooperatively(neighbours, out); }},
        {"alone", [](int* out) { neighbours_by_call<<<8, 4>>>(out, 0.0f, 7); }},
        {"histogram", [](int* out) { histogram<<<8, 8, 4 * sizeof(int)>>>(out); }},
        {"global_memory", [](int* out) { global_memory<<<4, 1>>>(out); }},
        {"arrive_early", [](int* out) { arrive_early<<<4, 1>>>(out); }},
        {"by_ptx", [](int* out) { by_ptx<<<4, 1>>>(out); }},
        {"indices", [](int* out) { launch_by_call(dim3(4, 4), 1, dim3(4, 2), indices, out); }},
        {"columns", [](int* out) { launch_by_call(dim3(4, 4), 1, dim3(1, 4), indices, out); }},
        {"told_to_others", [](int* out) { told_to_others<<<4, 1>>>(out); }},
        {"no_first_barrier", [](int* out) { no_first_barrier<<<2, 1>>>(out); }},
        {"mbarrier_across", [](int* out) { mbarrier_across<<<2, 2>>>(out); }},
        {"several_arrays", [](int* out) { several_arrays<<<2, 1>>>(out); }},
        {"no_last_barrier", [](int* out) { no_last_barrier<<<2, 2>>>(out, 0); }},
        {"no_last_barrier_of_second", [](int* out) { no_last_barrier<<<4, 2>>>(out, 2); }},
        {"stored_by_another", [](int* out) { stored_by_another<<<2, 1>>>(out); }},
        {"no_barrier_in_global_memory",
         [](int* out) { no_barrier_in_global_memory<<<2, 1>>>(out); }},
        {"another_cluster", [](int* out) { another_cluster<<<4, 1>>>(out); }},
        {"no_such_block", [](int* out) { no_such_block<<<2, 1>>>(out); }},
        {"past_the_array", [](int* out) { past_the_array<<<2, 1>>>(out); }},
        {"past_the_chars", [](int* out) { past_the_chars<<<2, 1>>>(out); }},
        {"never_written", [](int* out) { never_written<<<2, 1>>>(out); }},
        {"not_shared", [](int* out) { not_shared<<<2, 1>>>(out); }},
        {"arrives_twice", [](int* out) { arrives_twice<<<2, 1>>>(out); }},
        {"waits_without_arriving", [](int* out) { waits_without_arriving<<<2, 1>>>(out); }},
        {"half_a_cluster", [](int* out) { neighbours<<<7, 4>>>(out); }},
        {"half_along_y",
         [](int* out) { launch_by_call(dim3(2, 3), 1, dim3(1, 2), neighbours, out); }},
        {"half_along_z",
         [](int* out) { launch_by_call(dim3(2, 2, 3), 1, dim3(1, 1, 2), neighbours, out); }},
        {"too_large", [](int* out) { template_neighbours<16><<<16, 4>>>(out); }},
        {"two_sizes", [](int* out) { launch_by_call(8, 4, 4, neighbours, out); }},
    };
    return all;
}

}  // namespace sixdays::emulator::tests
