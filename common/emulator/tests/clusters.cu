// Clusters. For a GPU of sm_90 and newer as well.
#include "common/emulator/tests/clusters.hpp"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <utility>

#include "common/gpu/ptx/mbarrier.hpp"

namespace cg = cooperative_groups;

namespace sixdays::emulator::tests {

namespace {

// Each block stores its number, and reads the next one's of its cluster.
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

// Between arriving and waiting lies work that nobody else sees.
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

// An mbarrier keeps what has arrived while its block waits for the cluster.
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
    out[16 + block] =
        static_cast<int>(cluster.query_shared_rank(cluster.map_shared_rank(&mine, last)) +
                         10 * cluster.thread_rank() + 1000 * cluster.num_threads());
    cluster.sync();
}

// What the cluster's first block knows of the second, the second cluster hears of by fence and atomic.
__global__ void __cluster_dims__(2, 1, 1) told_to_others(int* out) {
    if (blockIdx.x == 1) out[1] = 11;
    cg::this_cluster().sync();
    if (blockIdx.x == 0) {
        __threadfence();
        atomicAdd(&out[0], 1);
    }
    if (blockIdx.x == 2) {
        const bool told = atomicAdd(&out[0], 0) == 0;
        __threadfence();
        out[2] = told ? out[1] : 11;
    }
}

// --- mistakes -------------------------------------------------------------------------------------

__global__ void __cluster_dims__(2, 1, 1) no_first_barrier(int* out) {
    __shared__ int mine;
    const cg::cluster_group cluster = cg::this_cluster();
    mine = 1;
    out[blockIdx.x] =
        *cluster.map_shared_rank(&mine, static_cast<int>(blockIdx.x) ^ 1);  // MARK no_first_barrier
    cluster.sync();
}
__global__ void __cluster_dims__(2, 1, 1) no_last_barrier(int* out) {
    __shared__ int mine;
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) mine = 1;
    cluster.sync();
    if (blockIdx.x == 0 && threadIdx.x == 1) {
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

template <class... Args>
void launch_by_call(dim3 grid, dim3 block, dim3 cluster, void (*kernel)(Args...), Args... args) {
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = cluster.x;
    attribute[0].val.clusterDim.y = cluster.y;
    attribute[0].val.clusterDim.z = cluster.z;
    config.attrs = attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, kernel, args...);
}

}  // namespace

const std::vector<ClusterCase>& clusters() {
    static const std::vector<ClusterCase> all = {
        {"neighbours", [](int* out) { neighbours<<<8, 4>>>(out); }},
        {"template_neighbours", [](int* out) { template_neighbours<4><<<8, 4>>>(out); }},
        {"neighbours_by_call",
         [](int* out) { launch_by_call(8, 4, 8, neighbours_by_call, out, 0.0f, 7); }},
        {"alone", [](int* out) { neighbours_by_call<<<8, 4>>>(out, 0.0f, 7); }},
        {"histogram", [](int* out) { histogram<<<8, 8, 4 * sizeof(int)>>>(out); }},
        {"global_memory", [](int* out) { global_memory<<<4, 1>>>(out); }},
        {"arrive_early", [](int* out) { arrive_early<<<4, 1>>>(out); }},
        {"indices", [](int* out) { launch_by_call(dim3(4, 4), 1, dim3(4, 2), indices, out); }},
        {"told_to_others", [](int* out) { told_to_others<<<4, 1>>>(out); }},
        {"no_first_barrier", [](int* out) { no_first_barrier<<<2, 1>>>(out); }},
        {"mbarrier_across", [](int* out) { mbarrier_across<<<2, 2>>>(out); }},
        {"no_last_barrier", [](int* out) { no_last_barrier<<<2, 2>>>(out); }},
        {"stored_by_another", [](int* out) { stored_by_another<<<2, 1>>>(out); }},
        {"no_barrier_in_global_memory",
         [](int* out) { no_barrier_in_global_memory<<<2, 1>>>(out); }},
        {"another_cluster", [](int* out) { another_cluster<<<4, 1>>>(out); }},
        {"no_such_block", [](int* out) { no_such_block<<<2, 1>>>(out); }},
        {"past_the_array", [](int* out) { past_the_array<<<2, 1>>>(out); }},
        {"never_written", [](int* out) { never_written<<<2, 1>>>(out); }},
        {"not_shared", [](int* out) { not_shared<<<2, 1>>>(out); }},
        {"arrives_twice", [](int* out) { arrives_twice<<<2, 1>>>(out); }},
        {"waits_without_arriving", [](int* out) { waits_without_arriving<<<2, 1>>>(out); }},
        {"half_a_cluster", [](int* out) { neighbours<<<7, 4>>>(out); }},
        {"too_large", [](int* out) { template_neighbours<16><<<16, 4>>>(out); }},
        {"two_sizes", [](int* out) { launch_by_call(8, 4, 4, neighbours, out); }},
    };
    return all;
}

}  // namespace sixdays::emulator::tests
