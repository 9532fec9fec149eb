// Blocks that wait for each other. The correct ones run on a GPU, too.
#include "common/emulator/tests/blocks.hpp"

#include <cooperative_groups.h>
#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

#include "common/gpu/ptx/mbarrier.hpp"
#include "common/gpu/ptx/mma.hpp"
#include "common/gpu/ptx/tma.hpp"
#include "common/gpu/shared_tiles.hpp"

namespace cg = cooperative_groups;

namespace sixdays::emulator::tests {

namespace {

using gpu::load_relaxed;
using gpu::store_relaxed;
using gpu::Words;

__device__ Words wait_for(const Words* slot, unsigned epoch) {
    Words now = load_relaxed(slot);
    while (now.x[3] != epoch) now = load_relaxed(slot);
    return now;
}

// One thread of each of two blocks: returns when both are here. Whichever block comes first has to
// be put aside. Relaxed accesses order nothing else, so races are judged as without the meeting.
__device__ void meet(Board* m, int meeting) {
    Words* const slots = m->meetings[meeting];
    store_relaxed(&slots[blockIdx.x], {{0, 0, 0, 1}});
    wait_for(&slots[blockIdx.x ^ 1], 1);
}

// --- correct -------------------------------------------------------------------------------------
// The value goes back and forth, and grows by 1 each time.
__device__ void pass_value(Board* m) {
    __shared__ unsigned value;
    extern __shared__ unsigned sums[];
    sums[threadIdx.x] = 0;
    if (threadIdx.x == 0) value = 0;
    __syncthreads();
    for (unsigned epoch = 1; epoch <= 100; ++epoch) {
        if (threadIdx.x == 0) {
            if (epoch % 2 == blockIdx.x) {
                store_relaxed(m->slots, {{value + 1, blockIdx.x, 7, epoch}});
            } else {
                value = wait_for(m->slots, epoch).x[0];
            }
        }
        __syncthreads();
        sums[threadIdx.x] += value;
        __syncthreads();
    }
    m->out[blockIdx.x * 64 + threadIdx.x] = sums[threadIdx.x];
}
__global__ void plain(Board* m) {
    pass_value(m);
}
__global__ void __cluster_dims__(2, 1, 1) in_cluster(Board* m) {
    pass_value(m);
}

// Block 0 stores 64 numbers, signals, and waits until block 1 has read them.
enum class Fences { both, none_of_writer, none_of_reader };
template <Fences FENCES>
__global__ void by_flag(Board* m) {
    volatile unsigned *stored = &m->flags[0], *taken = &m->flags[32];
    const unsigned t = threadIdx.x;
    unsigned sum = 0;
    for (unsigned round = 1; round <= 20; ++round) {
        if (blockIdx.x == 0) {
            m->data[t] = round * (t + 1);  // MARK no_fence_of_writer
            __syncthreads();
            if (t == 0) {
                if (FENCES != Fences::none_of_writer) __threadfence();
                *stored = round;
                while (*taken != round) {
                }
                __threadfence();
            }
        } else {
            if (t == 0) {
                while (*stored != round) {
                }
                if (FENCES != Fences::none_of_reader) __threadfence();
            }
            // A barrier would replace the missing fence.
            if (FENCES == Fences::none_of_reader && t == 0)
                sum += m->data[1];  // MARK no_fence_of_reader
            __syncthreads();
            sum += m->data[63 - t];  // MARK no_fence_of_writer
            __syncthreads();
            if (t == 0) {
                __threadfence();
                *taken = round;
            }
        }
        __syncthreads();
    }
    m->out[blockIdx.x * 64 + t] = sum;
}

// Block 2 polls for very long, while the others make progress.
__global__ void long_wait(Board* m) {
    for (unsigned epoch = 1; epoch <= 40000 && blockIdx.x < 2; ++epoch) {
        if (epoch % 2 == blockIdx.x) {
            store_relaxed(m->slots, {{0, 0, 0, epoch}});
        } else {
            wait_for(m->slots, epoch);
        }
    }
    if (blockIdx.x == 0) store_relaxed(m->slots + 1, {{0, 0, 0, 1}});
    if (blockIdx.x == 2) wait_for(m->slots + 1, 1);
    m->out[blockIdx.x] = 1;
}

// A barrier of all blocks, made by hand; every block writes one number per round for the next one.
__global__ void barrier_by_hand(Board* m) {
    const unsigned blocks = gridDim.x, t = threadIdx.x;
    unsigned sum = 0;
    for (unsigned round = 1; round <= 10; ++round) {
        unsigned* const data = m->data + round % 2 * 64;
        if (t == 5) data[blockIdx.x] = round + blockIdx.x;
        __syncthreads();
        if (t == 0) {
            __threadfence();
            atomicAdd(&m->count, 1u);
            while (atomicAdd(&m->count, 0u) < round * blocks) __nanosleep(20);
            __threadfence();
        }
        __syncthreads();
        sum += data[(blockIdx.x + 1) % blocks];
    }
    if (t < 16) m->out[blockIdx.x * 16 + t] = sum;
}

// Each block waits for the next one.
__global__ void chain(Board* m) {
    volatile unsigned* const flags = m->flags;
    if (blockIdx.x + 1 < gridDim.x) {
        while (flags[blockIdx.x + 1] == 0) {
        }
    }
    flags[blockIdx.x] = 1;
    m->out[blockIdx.x] = gridDim.x - blockIdx.x;
}

__global__ void grid_and_polls(Board* m) {
    const unsigned t = threadIdx.x;
    unsigned sum = cg::this_grid().is_valid() ? 0 : 1;
    for (int round = 0; round < 4; ++round) {
        m->data[64 * blockIdx.x + t] = blockIdx.x + 10u * static_cast<unsigned>(round) + t;
        if (t == 33) meet(m, 2 * round);
        cg::this_grid().sync();
        if (t == 32) meet(m, 2 * round + 1);
        sum += m->data[64 * (1 - blockIdx.x) + 63 - t];
        cg::this_grid().sync();
    }
    m->out[64 * blockIdx.x + t] = sum;
}

// Shared memory, its histories, and threads that wait in a shuffle.
__global__ void shared(Board* m) {
    __shared__ unsigned mine[64];
    extern __shared__ unsigned more[];
    const unsigned t = threadIdx.x;
    mine[t] = 100 * blockIdx.x + t;
    more[t] = 1000 * blockIdx.x;
    __syncthreads();
    if (t == 17) meet(m, 0);
    const unsigned next = __shfl_sync(0xffffffffu, t, (t + 1) % 32);
    if (t == 40) meet(m, 1);
    __syncthreads();
    mine[t] += next;
    __syncthreads();
    m->out[64 * blockIdx.x + t] = mine[63 - t] + more[63 - t];
}

// What lane 1 did before the __syncwarp().
__global__ void lanes(Board* m) {
    __shared__ unsigned word;
    if (threadIdx.x == 1) word = 5 + blockIdx.x;
    __syncwarp();
    if (threadIdx.x == 0) {
        meet(m, 0);
        m->out[64 * blockIdx.x] = word;
    }
}

// What lanes 1 to 31 show of their rows before lane 0 comes.
__global__ void matrices(Board* m) {
    __shared__ alignas(16) unsigned rows[32][4];
    const unsigned t = threadIdx.x;
    for (unsigned i = 0; i < 4; ++i) rows[t][i] = 1000 * blockIdx.x + 4 * t + i;
    __syncwarp();
    if (t == 0) meet(m, 0);
    unsigned of_matrix[4];
    gpu::load_matrices(of_matrix, rows[t]);
    m->out[64 * blockIdx.x + t] = of_matrix[0] + of_matrix[1] + of_matrix[2] + of_matrix[3];
}

// Block 1 acquires before it meets block 0, and reads after it.
template <bool BARRIER>
__global__ void acquired(Board* m) {
    volatile unsigned* const flag = m->flags;
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        m->data[0] = 5;
        asm volatile("st.release.gpu.u32 [%0], 1;" ::"l"(flag) : "memory");
    } else if (threadIdx.x == 0) {
        while (*flag == 0) {
        }
        __threadfence();
    }
    if (BARRIER) __syncthreads();
    if (threadIdx.x > 0) return;
    meet(m, 0);
    meet(m, 1);
    if (blockIdx.x == 1) m->out[0] = m->data[0];
    meet(m, 2);
}

// What lane 0 has acquired, the lanes know that it then meets: 0 to 15.
template <unsigned READER>
__global__ void lanes_acquire(Board* m) {
    volatile unsigned* const flag = m->flags;
    const unsigned t = threadIdx.x;
    if (blockIdx.x == 0 && t == 0) {
        m->data[0] = 5;  // MARK other_lane
        __threadfence();
        *flag = 1;
    } else if (t == 0) {
        while (*flag == 0) {
        }
        __threadfence();
    }
    if (t < 16) __syncwarp(0xffff);
    if (blockIdx.x == 1 && t == READER) m->out[0] = m->data[0];  // MARK other_lane
}

// Block 0 calls its fence before it meets block 1, and signals after it.
__global__ void released(Board* m) {
    volatile unsigned* const flag = m->flags;
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        m->data[0] = 5;
        __threadfence();
    }
    meet(m, 0);
    meet(m, 1);
    if (blockIdx.x == 0) {
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        __threadfence();
        m->out[0] = m->data[0];
    }
}

// A plain read beside atomics, harmless since a compare-and-swap follows: after the other block has
// ended.
__global__ void compare_and_swap(Board* m) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) atomicAdd(&m->word, 1u);
    meet(m, 0);
    unsigned old = blockIdx.x == 1 ? m->word : 0;
    meet(m, 1);
    if (blockIdx.x == 0) return;
    for (unsigned assumed = old + 1; assumed != old;) {
        assumed = old;
        old = atomicCAS(&m->word, assumed, assumed + 10);
    }
    m->out[0] = old;
}

// Thread 0 overwrites what four warps have read, since each has signaled.
__global__ void readers(Board* m) {
    __shared__ unsigned word, done;
    const unsigned t = threadIdx.x;
    if (t == 0) word = 3, done = 0;
    __threadfence();
    __syncthreads();
    if (t % 32 == 1) {
        m->out[4 * blockIdx.x + t / 32] = word;
        __threadfence();
        atomicAdd(&done, 1u);
    } else if (t == 0) {
        meet(m, 0);
        meet(m, 1);
        while (atomicAdd(&done, 0u) < 4) {
        }
        __threadfence();
        word = 4;
    }
}

// A copy in flight, and an mbarrier that half the threads have not reached.
__global__ void in_flight(Board* m) {
    __shared__ unsigned tile[64];
    __shared__ gpu::Mbarrier barrier;
    const unsigned t = threadIdx.x;
    if (t == 0) {
        barrier.init(64);
        gpu::mbarriers_are_set_up();
    }
    __syncthreads();
    __pipeline_memcpy_async(&tile[t], &m->meetings[7][blockIdx.x].x[0], 4);
    __pipeline_commit();
    if (t == 0) meet(m, 0);
    __pipeline_wait_prior(0);
    barrier.arrive();
    if (t == 1) meet(m, 1);
    barrier.wait(0);
    m->out[64 * blockIdx.x + t] = tile[63 - t] + 1;
}

// The store of one box is in flight, and another box is visible to the copy engine, while the second
// block begins.
__global__ void store_in_flight(const __grid_constant__ gpu::TileMap map, Board* m) {
    extern __shared__ __align__(1024) unsigned char memory[];
    if (blockIdx.x > 0) return meet(m, 0);
    for (int b = 0; b < 2; ++b) {
        auto* const box = reinterpret_cast<float*>(memory + 1024 * b);
        for (int i = 0; i < 64; ++i) box[i] = 1;
        gpu::fence_proxy_async();
        if (b == 1) meet(m, 0);
        gpu::store_tile_async(map, 2 * b, 0, box);
        gpu::store_tiles_commit();
    }
    gpu::store_tiles_wait_read<0>();
}

// Tiles of dynamic memory do not count twice when an array is declared after the meeting.
__global__ void tile_and_array(Board* m) {
    extern __shared__ __align__(16) unsigned char memory[];
    const unsigned t = threadIdx.x;
    unsigned* const tile = gpu::SharedTiles(memory).next<unsigned>(7 * 1024);
    tile[t] = t;
    __syncthreads();
    if (t < 2) meet(m, static_cast<int>(t));
    __syncthreads();
    __shared__ unsigned array[64];
    array[t] = tile[63 - t];
    m->out[64 * blockIdx.x + t] = array[t];
}

__global__ void in_ptx(Board* m) {
    if (threadIdx.x > 0) return;
    unsigned long long low = 5 + blockIdx.x, high = 7;
    asm volatile(
        "{ .reg .b128 all; mov.b128 all, {%1, %2}; st.relaxed.gpu.global.b128 [%0], all; }" ::"l"(
            &m->slots[blockIdx.x]),
        "l"(low), "l"(high)
        : "memory");
    for (high = 0; high != 7;) {
        asm volatile(
            "{ .reg .b128 all; ld.relaxed.gpu.global.b128 all, [%2]; mov.b128 {%0, %1}, all; }"
            : "=l"(low), "=l"(high)
            : "l"(&m->slots[blockIdx.x ^ 1])
            : "memory");
    }
    m->out[blockIdx.x] = static_cast<unsigned>(low);
}

// Half of a warp loads before the meeting, the other half by the same instruction after it.
__global__ void traced(Board* m) {
    const unsigned t = threadIdx.x;
    for (unsigned half = 0; half < 2; ++half) {
        if (t / 16 == half) m->out[32 * blockIdx.x + t] = m->data[t] + 1;
        if (half == 0 && t < 2) meet(m, static_cast<int>(t));
        __syncwarp();
    }
}

// --- with a bug ----------------------------------------------------------------------------------
__global__ void never_stored(Board* m) {
    if (threadIdx.x != 3 || blockIdx.x != 1) return;
    wait_for(m->slots, 2);  // MARK never_stored MARK never_stored_in_grid
}
__global__ void reads_meanwhile(Board* m) {
    if (threadIdx.x != 3 || blockIdx.x != 1) return;
    const volatile unsigned* const flag = &m->flags[5];
    unsigned sum = 0;
    while (*flag == 0) sum += m->data[sum];  // MARK reads_meanwhile
    m->out[0] = sum;
}
__global__ void both_wait(Board* m) {
    if (threadIdx.x != 0) return;
    wait_for(&m->slots[1 - blockIdx.x], 1);  // MARK both_wait
    store_relaxed(&m->slots[blockIdx.x], {{0, 0, 0, 1}});
}
__global__ void waits_for_barrier(Board* m) {
    if (blockIdx.x == 0 && threadIdx.x == 0) wait_for(m->slots, 1);  // MARK waits_for_barrier
    cg::this_grid().sync();
    store_relaxed(m->slots, {{0, 0, 0, 1}});
}
__global__ void sleeps(Board* m) {
    const volatile unsigned* const flag = m->flags;
    while (*flag == 0) __nanosleep(20);  // MARK sleeps
}
// Block 0 waits for the last one.
__global__ void too_many_blocks(Board* m) {
    volatile unsigned* const flag = m->flags;
    if (threadIdx.x > 0) return;
    if (blockIdx.x + 1 == gridDim.x) *flag = 1;
    while (blockIdx.x == 0 && *flag == 0) __nanosleep(20);  // MARK too_many_blocks
}
__global__ void __cluster_dims__(2, 1, 1) another_cluster(Board* m) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 2) store_relaxed(m->slots, {{0, 0, 0, 1}});
    if (blockIdx.x < 2) wait_for(m->slots, 1);  // MARK another_cluster
}
// Block 1 takes whatever is there once anything is: it should be 10, then 20.
__global__ void stale(Board* m) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        store_relaxed(m->slots, {{10, 0, 0, 1}});
        wait_for(m->slots + 1, 1);
        store_relaxed(m->slots, {{20, 0, 0, 2}});
        return;
    }
    for (unsigned epoch = 1; epoch <= 2; ++epoch) {
        Words now = load_relaxed(m->slots);
        while (now.x[3] == 0) now = load_relaxed(m->slots);
        m->out[epoch] = now.x[0];
        if (epoch == 1) store_relaxed(m->slots + 1, {{0, 0, 0, 1}});
    }
}
__global__ void plain_store(Board* m) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) m->slots[0].x[3] = 1;   // MARK plain_store
    if (blockIdx.x == 1) wait_for(m->slots, 1);  // MARK plain_store
}
__global__ void no_barrier(Board* m) {
    __shared__ unsigned word;
    if (threadIdx.x == 0) {
        word = 1;  // MARK no_barrier
        meet(m, 0);
    } else if (threadIdx.x == 32) {
        wait_for(&m->meetings[0][blockIdx.x], 1);  // later than the store, but not ordered
        meet(m, 1);
        m->out[blockIdx.x] = word;  // MARK no_barrier
    }
}
__global__ void misaligned(Board* m) {
    load_relaxed(reinterpret_cast<const Words*>(m->data + 1));  // MARK misaligned
}
__global__ void read_beside_atomic(Board* m) {
    if (threadIdx.x > 0) return;
    atomicAdd(&m->word, 1u);  // MARK read_beside_atomic
    meet(m, 0);
    m->out[blockIdx.x] = m->word;  // MARK read_beside_atomic
    meet(m, 1);
}

__global__ void waits_for_host(volatile unsigned* flag, unsigned* out) {
    while (*flag == 0) __nanosleep(20);  // MARK waits_for_host
    *out = *flag;
}

void cooperatively(void (*kernel)(Board*), int blocks, Board* m) {
    void* arguments[] = {&m};
    cudaLaunchCooperativeKernel(kernel, blocks, 64, arguments, 256);
}

}  // namespace

std::vector<BlocksCase> right_blocks() {
    return {
        {"plain", [](Board* m) { plain<<<2, 64, 256>>>(m); }},
        {"cooperative", [](Board* m) { cooperatively(plain, 2, m); }},
        {"in_cluster", [](Board* m) { in_cluster<<<2, 64, 256>>>(m); }},
        {"by_flag", [](Board* m) { by_flag<Fences::both><<<2, 64>>>(m); }},
        {"barrier_by_hand", [](Board* m) { barrier_by_hand<<<4, 64>>>(m); }},
        {"barrier_by_hand_in_grid", [](Board* m) { cooperatively(barrier_by_hand, 4, m); }},
        {"long_wait", [](Board* m) { long_wait<<<3, 1>>>(m); }},
        {"chain", [](Board* m) { chain<<<128, 1>>>(m); }},
        {"grid_and_polls", [](Board* m) { cooperatively(grid_and_polls, 2, m); }},
        {"shared", [](Board* m) { shared<<<2, 64, 256>>>(m); }},
        {"lanes", [](Board* m) { lanes<<<2, 64>>>(m); }},
        {"matrices", [](Board* m) { matrices<<<2, 32>>>(m); }},
        {"acquired", [](Board* m) { acquired<false><<<2, 64>>>(m); }},
        {"lanes_acquire", [](Board* m) { lanes_acquire<15><<<2, 64>>>(m); }},
        {"acquired_before_barrier", [](Board* m) { acquired<true><<<2, 64>>>(m); }},
        {"released", [](Board* m) { released<<<2, 64>>>(m); }},
        {"compare_and_swap", [](Board* m) { compare_and_swap<<<2, 64>>>(m); }},
        {"readers", [](Board* m) { readers<<<2, 128>>>(m); }},
        {"in_flight", [](Board* m) { in_flight<<<2, 64>>>(m); }},
        {"store_in_flight",
         [](Board* m) {
             const auto* const out = reinterpret_cast<const float*>(m->out);
             store_in_flight<<<2, 1, 2048>>>(gpu::tile_map(out, 4, 32, 32, 2), m);
         }},
        {"tile_and_array", [](Board* m) { tile_and_array<<<2, 64, 30 * 1024>>>(m); }},
        {"in_ptx", [](Board* m) { in_ptx<<<2, 64>>>(m); }},
        {"traced", [](Board* m) { traced<<<2, 32>>>(m); }},
    };
}

std::vector<BlocksCase> wrong_blocks() {
    return {
        {"never_stored", [](Board* m) { never_stored<<<2, 64>>>(m); }},
        {"never_stored_in_grid", [](Board* m) { cooperatively(never_stored, 2, m); }},
        {"reads_meanwhile", [](Board* m) { reads_meanwhile<<<2, 64>>>(m); }},
        {"both_wait", [](Board* m) { both_wait<<<2, 64>>>(m); }},
        {"waits_for_barrier", [](Board* m) { cooperatively(waits_for_barrier, 2, m); }},
        {"sleeps", [](Board* m) { sleeps<<<2, 64>>>(m); }},
        {"too_many_blocks", [](Board* m) { too_many_blocks<<<200, 64>>>(m); }},
        {"another_cluster", [](Board* m) { another_cluster<<<4, 64>>>(m); }},
        {"stale", [](Board* m) { stale<<<2, 64>>>(m); }},
        {"plain_store", [](Board* m) { plain_store<<<2, 64>>>(m); }},
        {"no_fence_of_writer", [](Board* m) { by_flag<Fences::none_of_writer><<<2, 64>>>(m); }},
        {"no_fence_of_reader", [](Board* m) { by_flag<Fences::none_of_reader><<<2, 64>>>(m); }},
        {"no_barrier", [](Board* m) { no_barrier<<<2, 64>>>(m); }},
        {"read_beside_atomic", [](Board* m) { read_beside_atomic<<<2, 64>>>(m); }},
        {"misaligned", [](Board* m) { misaligned<<<2, 64>>>(m); }},
        {"other_lane", [](Board* m) { lanes_acquire<16><<<2, 64>>>(m); }},
    };
}

void wait_for_host(volatile unsigned* flag, unsigned* out, cudaStream_t stream) {
    waits_for_host<<<1, 1, 0, stream>>>(flag, out);
}

}  // namespace sixdays::emulator::tests
