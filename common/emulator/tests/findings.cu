// Kernels for findings.cpp. One thread among many has the bug, where possible in three-dimensional
// blocks and grids, so that a report with a wrong thread or line is detected.
#undef NDEBUG  // assert() is under test, in release builds too
#include "common/emulator/tests/findings.hpp"

#include <cooperative_groups.h>
#include <cuda_pipeline_primitives.h>

#include <cassert>
#include <cstdlib>

#include "common/emulator/machine/block.hpp"
#include "common/emulator/recording.hpp"
#include "common/emulator/report.hpp"
#include "common/gpu/ptx/mbarrier.hpp"
#include "common/gpu/ptx/tma.hpp"
#include "common/gpu/ptx/wgmma.hpp"
#include "common/gpu/shared_tiles.hpp"

namespace cg = cooperative_groups;

// The warnings are about planted bugs.
#pragma GCC diagnostic ignored "-Wreturn-type"
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wvla"

namespace sixdays::emulator::tests {

namespace {

const dim3 kGrid(2, 3, 2), kBlock(4, 3, 2);

__device__ float variable[4];

// Thread (2,1,1) of block (1,2,1).
__device__ bool in_chosen_block() {
    const uint3 b = blockIdx;
    return b.x == 1 && b.y == 2 && b.z == 1;
}
__device__ bool chosen() {
    const uint3 t = threadIdx;
    return in_chosen_block() && t.x == 2 && t.y == 1 && t.z == 1;
}
__device__ int thread_of_block() {
    return static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}

// --- memory ------------------------------------------------------------------------------------
__global__ void first_of_two_lines(float* x) {
    if (!chosen()) return;
    const float a = x[67];
    const float b = x[3];
    x[0] = a + b;
}
__global__ void pitch_in_elements(float* x, std::size_t pitch) {
    x[threadIdx.y * pitch + threadIdx.x] = 0.0f;
}
__global__ void step_is_another_extent(float* x) {
    x[blockIdx.x * blockDim.y + threadIdx.x] = 0.0f;
}
__global__ void step_is_too_small(float* x) {
    x[4 * (blockIdx.y * 10 + threadIdx.y)] = 0.0f;
}
__global__ void no_room_for_tile(float* x) {
    extern __shared__ __align__(16) unsigned char memory[];
    gpu::SharedTiles tiles(memory);
    tiles.next<float>(8)[thread_of_block() % 8] = 0.0f;
    if (chosen()) x[0] = tiles.next<float>(16)[0];
}
__global__ void tiles_of_an_array() {
    __shared__ __align__(16) unsigned char memory[64];
    gpu::SharedTiles tiles(memory);
    for (int i = 0; i < 2; ++i) tiles.next<float>(8)[threadIdx.x] = 0.0f;
}
__global__ void second_of_two_lines(float* x) {
    if (!chosen()) return;
    const float a = x[3];
    const float b = x[68];
    x[0] = a + b;
}
__global__ void double_past_end(float* x) {
    if (chosen()) reinterpret_cast<double*>(x)[32] = 1.0;
}
__global__ void ends_beyond(float* x) {
    if (chosen()) *reinterpret_cast<float4*>(x + 62) = make_float4(1, 2, 3, 4);
}
__global__ void atomic_past_end(float* x) {
    if (chosen()) atomicAdd(x + 70, 1.0f);
}
__global__ void atomic_before_start(float* x) {
    if (chosen()) atomicAdd(x - 3, 1.0f);
}
__global__ void past_variable(float* x) {
    if (chosen()) x[0] = variable[threadIdx.x + 2];
}
__global__ void bytes_for_elements(float* x) {
    if (chosen()) x[20] = 1.0f;
}
__global__ void freed(float* x) {
    if (chosen()) x[1] = x[5];
}
__global__ void reads_null(float* x) {
    if (chosen()) x[0] = static_cast<float*>(nullptr)[threadIdx.z];
}
__global__ void reads_host(const float* host, float* x) {
    if (chosen()) x[0] = host[1];
}
__global__ void misaligned_by_two(float* x) {
    if (chosen()) x[0] = *reinterpret_cast<float*>(reinterpret_cast<char*>(x) + 6);
}
__global__ void misaligned_by_one(float* x) {
    if (chosen()) x[0] = *reinterpret_cast<short*>(reinterpret_cast<char*>(x) + 9);
}
// 16 bytes, of which the hook checks the alignment up to 8.
__global__ void misaligned_by_four(float* x) {
    __extension__ using Wide = __int128;
    auto* const wide = reinterpret_cast<Wide*>(x);
    if (chosen()) wide[0] = *reinterpret_cast<Wide*>(reinterpret_cast<char*>(wide) + 20);
}
__global__ void sleeps_for_ever() {
    while (chosen()) __nanosleep(20);
}
__global__ void second_load_unwritten(const float* y, float* x) {
    if (!chosen()) return;
    const float a = x[7];
    const float b = y[7];
    x[0] = a + b;
}
__global__ void left_by_another_block(float* x) {
    extern __shared__ float tile[];
    const unsigned t = threadIdx.x, last = blockDim.x - 1;
    if (blockIdx.x == 0) tile[t] = x[t];
    __syncthreads();
    x[blockIdx.x * blockDim.x + t] = tile[last];
}
__global__ void unwritten_in_shared_array(float* x) {
    __shared__ float one[24], two[24];
    const int t = thread_of_block();
    one[t] = x[t];
    if (!chosen()) two[t] = x[t];
    __syncthreads();
    if (chosen()) x[0] = one[t] + two[t];
}
__global__ void barrier_before_the_write(float* x) {
    __shared__ float kept[24];
    const int t = thread_of_block();
    __syncthreads();
    kept[t] = x[t];
    x[t] = kept[23 - t];
}
__global__ void returned_before_the_write(float* x) {
    __shared__ float kept[24];
    const int t = thread_of_block();
    if (t >= 20) return;
    kept[t] = x[t];
    __syncthreads();
    x[t] = kept[23 - t];
}
__global__ void writes_what_others_read_in_its_round(float* x) {
    __shared__ float kept[24];
    const int t = thread_of_block();
    kept[t] = x[t];
    for (int far = 1; far < 8; far *= 2) {
        __syncthreads();
        const float other = kept[(t + far) % 24];
        kept[t] += other;
    }
}
__global__ void frees_twice(float* x) {
    if (!chosen()) return;
    float* const mine = static_cast<float*>(malloc(16));
    free(mine);
    free(mine);
    x[0] = 1;
}
__global__ void frees_the_middle(float* x) {
    if (!chosen()) return;
    float* const mine = static_cast<float*>(malloc(16));
    free(mine + 1);
    x[0] = 1;
}
__global__ void deletes_twice(float* x) {
    if (!chosen()) return;
    float* const mine = new float[4];
    delete[] mine;
    delete[] mine;
    x[0] = 1;
}
__global__ void reads_what_it_freed(float* x) {
    if (!chosen()) return;
    float* const mine = static_cast<float*>(malloc(16));
    mine[2] = x[0];
    free(mine);
    x[1] = mine[2];
}
__global__ void unset_local(float* x) {
    if (!in_chosen_block()) return;
    float mine[4];
    const Unset watched(mine, "mine");
    if (thread_of_block() != 18) mine[threadIdx.x] = 1.0f;
    x[thread_of_block()] = mine[threadIdx.x];
}

__global__ void unset_member(float* x) {
    if (!in_chosen_block() || thread_of_block() < 16) return;
    float4 one;
    const Unset watched(one, "one");
    one.x = one.y = one.z = 1.0f;
    if (!chosen()) one.w = 1.0f;
    reinterpret_cast<float4*>(x)[thread_of_block() - 16] = one;
}
__constant__ float fixed[4];
__global__ void writes_constant(float* x) {
    if (chosen()) fixed[2] = x[0];
}
__global__ void takes_reference(const float& one, float* x) {
    if (chosen()) x[0] = one;
}

// Padding stays uninitialized, the emulator's writes count as initialization, and `turn` is
// uninitialized again in its second iteration, until it is assigned.
struct Padded {
    char letter;
    double number;
};
// As after the translation of `float first; if (t == 2) first = 5; __shfl_sync(mask, first, lane)`.
template <int LANE>
__global__ void unset_operand(float* x) {
    float first;
    const Unset watched(first, "first");
    const int t = thread_of_block();
    if (t == 2) first = 5;
    x[t] = __shfl_sync(0x00ffffffu, shuffled(first), t == 7 ? LANE : 2);
}
// In place, where lanes read what others write.
__global__ void shifted(const float* in, float* out) {
    out[threadIdx.x] = in[threadIdx.x ^ 1];
}
__global__ void counter_without_barrier(float* x) {
    __shared__ unsigned count;
    if (thread_of_block() == 0) {
        count = 0;
        __threadfence_block();
        atomicAdd(&count, 1u);
    }
    if (thread_of_block() == 9) x[0] = static_cast<float>(atomicAdd(&count, 1u));
}
__global__ void unset_but_right(float* x) {
    Padded one;
    const Unset watched(one, "one");
    one.letter = 'x';
    one.number = x[4 * thread_of_block()];
    reinterpret_cast<Padded*>(x)[thread_of_block()] = one;
    float all[3];
    const Unset watched_too(all, "all");
    for (int i = 0; i < 2; ++i) {
        float turn;
        const Unset in_turn(turn, "turn");
        turn = static_cast<float>(i);
        all[i] = turn;
    }
    x[4 * thread_of_block()] = all[0] + all[1];
    double whole;
    const Unset by_runtime(whole, "whole");
    const float part = modf(2.5, &whole) == 0.5 ? 1.0f : 0.0f;
    x[4 * thread_of_block() + 1] = part + static_cast<float>(whole);
}
__global__ void no_such_number(float* x) {
    if (!chosen()) return;
    const float much = 3e9f * x[0];
    x[1] = static_cast<float>(static_cast<int>(much));
    x[2] = static_cast<float>(static_cast<unsigned>(-much));
    x[3] = static_cast<float>(static_cast<long long>(1e300 * static_cast<double>(x[0])));
    x[4] = static_cast<float>(static_cast<int>(much * NAN));
    x[5] = static_cast<float>(static_cast<long long>(much * NAN));
}
__global__ void shifts_by_all_bits(float* x) {
    if (chosen()) x[1] = static_cast<float>(1u << (32 * static_cast<unsigned>(x[0])));
}

// Each block tracks its own variable, even while another block runs.
__global__ void unset_local_behind_grid_barrier(float* x) {
    float mine[4];
    const Unset watched(mine, "mine");
    cg::this_grid().sync();
    if (blockIdx.x == 0) mine[0] = 1.0f;
    if (blockIdx.x == 0 || threadIdx.x == 2) x[4 * blockIdx.x + threadIdx.x] = mine[0];
}
__global__ void returns_before_grid_barrier(float* x) {
    if (threadIdx.x == 3) return;
    x[4 * blockIdx.x + threadIdx.x] = 2.0f;
    cg::this_grid().sync();
    if (x[4 * (1 - blockIdx.x) + threadIdx.x] != 2.0f) __trap();
}
// The other threads are still waiting there when one has failed.
__global__ void fails_behind_grid_barrier(float* x) {
    cg::this_grid().sync();
    if (blockIdx.x == 0 && threadIdx.x == 33) x[80] = 1.0f;
}

// --- races ---------------------------------------------------------------------------------------
__global__ void race_in_shared(float* x) {
    if (!in_chosen_block()) return;
    __shared__ float part[24];
    const int t = thread_of_block();
    part[t] = x[t];
    if (chosen()) part[5] = 2.0f;
    __syncthreads();
    x[t] = part[t];
}
__global__ void race_of_blocks(float* x) {
    const uint3 b = blockIdx;
    if (thread_of_block() == 7 && b.y == 1 && b.z == 0) x[9] = static_cast<float>(b.x);
}
__global__ void reads_beside_write(float* x) {
    const int t = thread_of_block();
    float a = 0;
    if (t == 3) a = x[40];
    if (t == 17) x[40] = 2.0f;
    x[t] = a;
}
__global__ void writes_beside_read(float* x) {
    const int t = thread_of_block();
    float a = 0;
    if (t == 3) x[40] = 2.0f;
    if (t == 17) a = x[40];
    x[t] = a;
}
__global__ void atomic_beside_write(float* x) {
    const int t = thread_of_block();
    if (t == 3) x[40] = 2.0f;
    if (t == 17) atomicAdd(x + 40, 1.0f);
}
__global__ void byte_of_a_word(float* x) {
    const int t = thread_of_block();
    if (t == 3) x[40] = 2.0f;
    if (t == 17) x[t] = static_cast<float>(reinterpret_cast<const signed char*>(x + 40)[2]);
}
__global__ void write_beside_atomic(float* x) {
    const int t = thread_of_block();
    if (t == 3) atomicAdd(x + 40, 1.0f);
    if (t == 17) x[40] = 2.0f;
}
__global__ void read_beside_atomic(float* x) {
    const int t = thread_of_block();
    if (t == 3) atomicAdd(x + 40, 1.0f);
    if (t == 17) x[t] = x[40];
}
__global__ void atomic_beside_read(float* x) {
    const int t = thread_of_block();
    if (t == 3) x[t] = x[40];
    if (t == 17) atomicAdd(x + 40, 1.0f);
}
__global__ void atomic_beside_read_of_block(float* x) {
    if (thread_of_block() != 5) return;
    if (blockIdx.x == 0) x[1] = x[40];
    if (blockIdx.x == 1) atomicAdd(x + 40, 1.0f);
}
__global__ void other_reader(float* x) {
    const int t = static_cast<int>(threadIdx.x);
    const int store = t >= 64 ? 1 : 0;
    float a = 0;
    if (t == 37) a = x[40];
    if (t == 71) a = x[40];
    if (store != 0 && t == 71) x[40] = a;
}
// Warps 0, 1 and 2 have read; warp 3 waits for only two of them.
__global__ void third_reader(float* x) {
    const int t = static_cast<int>(threadIdx.x);
    __shared__ int done;
    if (t == 0) done = 0;
    __syncthreads();
    float a = 0;
    if (t == 5) a = x[40];
    if (t == 37) a = x[40];
    if (t == 69) a = x[40];
    if (t == 37 || t == 69) {
        __threadfence();
        atomicAdd(&done, a > 0);
    }
    if (t == 101) {
        while (atomicAdd(&done, 0) < 2) {
        }
        __threadfence();
        x[40] = 2.0f;
    }
}
// Synchronization of another warp's lanes says nothing about these.
__global__ void another_warp_meets(float* x) {
    const int t = static_cast<int>(threadIdx.x);
    __shared__ int flag;
    if (t == 0) flag = 0;
    __syncthreads();
    __syncwarp();
    for (int i = 0; t < 32 && i < 5; ++i) __syncwarp();
    if (t == 3) atomicAdd(&flag, 1);
    if (t == 33) x[40] = 2.0f;
    if (t == 32) {
        while (atomicAdd(&flag, 0) == 0) {
        }
        x[1] = x[40];
    }
}

// --- barriers and warp calls -----------------------------------------------------------------------
__global__ void barrier_left_out(float* x) {
    if (!in_chosen_block()) return;
    const int t = thread_of_block();
    if (!chosen()) {
        __syncthreads();
    } else {
        __syncthreads();
    }
    x[t] = 1;
}
// Only half of the threads reach the loop's second barrier.
__global__ void barrier_in_if_of_loop(float* x) {
    __shared__ float tile[64];
    const int t = static_cast<int>(threadIdx.x);
    float sum = 0;
    for (int first = 0; first < 2; ++first) {
        tile[t] = x[t];
        __syncthreads();
        for (int i = 0; i < 64; ++i) sum += tile[i];
        if (t < 32) __syncthreads();
    }
    x[t] = sum;
}
__global__ void returns_before_barrier(float* x) {
    if (!in_chosen_block()) return;
    if (chosen()) return;
    __syncthreads();
    x[thread_of_block()] = 1;
}
__global__ void three_return_before_barrier(float* x) {
    if (threadIdx.z == 1 && threadIdx.x == 3) return;
    __syncthreads();
    x[thread_of_block()] = 1;
}
__global__ void barrier_of_grid(float* x) {
    if (!in_chosen_block()) return;
    if (chosen()) cg::this_grid().sync();
    x[thread_of_block()] = 1;
}
__global__ void block_that_leaves(float*) {
    if (blockIdx.x != 1) cg::this_grid().sync();
}
__global__ void barrier_of_block_for_grid(float* x) {
    if (threadIdx.x == 0) x[blockIdx.x] = 1.0f;
    __syncthreads();
    if (threadIdx.x == 1) x[8 + blockIdx.x] = x[blockIdx.x ^ 1];
}
__global__ void barrier_beside_grid(float*) {
    if (threadIdx.x == 3) {
        __syncthreads();
    } else {
        cg::this_grid().sync();
    }
}
__global__ void not_in_mask(float* x) {
    const int t = thread_of_block();
    x[t] = __shfl_sync(0x00f3ffffu, x[t], 0);
}
template <int WIDTH>
__global__ void width(float* x) {
    if (gridDim.x > 1 && !in_chosen_block()) return;
    const int t = thread_of_block();
    x[t] = __shfl_sync(0x00ffffffu, x[t], 0, chosen() ? WIDTH : 32);
}
__global__ void other_mask(float* x) {
    const int t = thread_of_block();
    if (t == 5 || t == 9) x[t] = __shfl_sync(t == 5 ? 0x220u : 0x221u, x[t], 0);
}
__global__ void other_call(float* x) {
    const int t = thread_of_block();
    if (t == 2) x[t] = static_cast<float>(__activemask());
    if (t == 3) __syncwarp(0x408u);
    if (t == 5) x[t] = __shfl_sync(0x22cu, x[t], 0);
    if (t == 9) __syncwarp(0x22cu);
}
__global__ void from_outside_mask(float* x) {
    const int t = thread_of_block();
    if (t < 16) x[t] = __shfl_sync(0x0000ffffu, x[t], t == 7 ? 19 : 3);
}
__global__ void from_returned(float* x) {
    const int t = thread_of_block();
    if (t == 11) return;
    x[t] = __shfl_sync(0x00ffffffu, x[t], t == 7 ? 11 : 3);
}
// Lanes beyond the seventh need no value, but they are named in the mask.
__global__ void lane_skips_call(float* x) {
    const int t = thread_of_block();
    float first = 0;
    if (t < 7) first = __shfl_sync(0x00ffffffu, x[t], 0);
    x[t] = first;
}
__global__ void lane_leaves_loop(float* x) {
    const int t = thread_of_block(), rounds = chosen() ? 3 : 2;
    int votes = 0;
    for (int i = 0; i < rounds; ++i) votes += __any_sync(0x00ffffffu, t == i);
    if (!in_chosen_block()) return;
    x[t] = static_cast<float>(votes);
}
#define STOPS_FROM(n) \
    if (thread_of_block() >= (n)) return
// Lanes that have returned early need not come.
template <bool IN_MACRO>
__global__ void vote_without_returned(float* x) {
    if (IN_MACRO) STOPS_FROM(20);
    if (!IN_MACRO && thread_of_block() >= 20) return;
    x[thread_of_block()] = static_cast<float>(__ballot_sync(0xffffffffu, 1));
    __syncwarp();
}
__global__ void from_nobody(float* x) {
    const int t = thread_of_block();
    x[t] = __shfl_sync(0xffffffffu, x[t], t == 7 ? 27 : 3);
}
__global__ void lane_that_waits_elsewhere(float* x) {
    const int t = thread_of_block();
    if (t == 7) {
        __syncthreads();
    } else {
        x[t] = __shfl_sync(0x00ffffffu, x[t], 3);
    }
}
__global__ void half_a_warp_together(float* x) {
    __shared__ alignas(16) float rows[32];
    rows[threadIdx.x] = x[threadIdx.x];
    __syncwarp(__activemask());
    if (threadIdx.x == 20) return;
    unsigned r[1];
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(rows));
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(at));
    x[threadIdx.x] = static_cast<float>(r[0]);
}

// --- asynchronous copies ---------------------------------------------------------------------------
template <int BYTES, int TO, int FROM>
__global__ void copy_async(float* x) {
    extern __shared__ __align__(16) char memory[];
    if (!chosen()) return;
    __pipeline_memcpy_async(memory + TO, reinterpret_cast<char*>(x) + FROM, BYTES);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    x[0] = reinterpret_cast<float*>(memory)[0];
}
__global__ void copy_to_global(float* x) {
    if (chosen()) __pipeline_memcpy_async(x + 8, x, 8);
}
__global__ void copy_past_end(float* x) {
    __shared__ alignas(16) float part[8];
    if (chosen()) __pipeline_memcpy_async(part, x + 62, 8);
    if (chosen()) __pipeline_memcpy_async(part + 2, x + 64, 8);
}
__global__ void copy_past_array(float* x) {
    __shared__ alignas(16) float part[8];
    if (chosen()) __pipeline_memcpy_async(part + 6, x, 8);
    if (chosen()) __pipeline_memcpy_async(part + 8, x, 8);
}
__global__ void source_changes(float* x) {
    __shared__ alignas(16) float part[8];
    if (!chosen()) return;
    __pipeline_memcpy_async(part, x + 4, 16);
    __pipeline_commit();
    x[6] = 3.0f;
    __pipeline_wait_prior(0);
}
__global__ void variable_changes(float* x) {
    __shared__ alignas(16) float part[8];
    if (!chosen()) return;
    __pipeline_memcpy_async(part, variable + 1, 4);
    __pipeline_commit();
    variable[1] = x[6] + 3.0f;
    __pipeline_wait_prior(0);
}

// All threads of the first block pass the barrier that half of the second block skips.
__global__ void skips_in_second_block(float* x) {
    __shared__ float row[32];
    if (blockIdx.x == 0 || threadIdx.x < 16) {
        row[threadIdx.x] = 1.0f;
        __syncthreads();
    }
    x[32 * blockIdx.x + threadIdx.x] = row[threadIdx.x];
}
// Dynamic shared memory starts unwritten in each block, and ends where its launch says.
__global__ void second_reads(float* x) {
    extern __shared__ float row[];
    if (blockIdx.x == 0) row[threadIdx.x] = 1.0f;
    if (blockIdx.x == 1) x[threadIdx.x] = row[threadIdx.x];
}
__global__ void stores_at(float* x, int at) {
    extern __shared__ float row[];
    row[at] = x[0];
}

// Each block uses its time limit up. Not instrumented, since the limit is the emulator's own.
__attribute__((no_sanitize_thread, noinline)) __device__ int use_up_time() {
    const int left = emulator::block.seconds_left;
    emulator::block.seconds_left = 1;
    return left;
}
__global__ void time_of_blocks_kernel(float* x) {
    x[blockIdx.x] = static_cast<float>(use_up_time());
}
__global__ void __cluster_dims__(2, 1, 1) time_of_clusters_kernel(float* x) {
    x[blockIdx.x] = static_cast<float>(use_up_time());
}

// --- mbarriers and tiles -----------------------------------------------------------------------------
template <int AT, int ARRIVALS>
__global__ void mbarrier_at(float*) {
    extern __shared__ __align__(16) char memory[];
    auto* const word = reinterpret_cast<std::uint64_t*>(memory + AT);
    if (chosen()) mbarrier_init(word, ARRIVALS, Site::current());
}
__global__ void mbarrier_in_global(float* x) {
    if (chosen()) reinterpret_cast<gpu::Mbarrier*>(x)->init(1);
}
__global__ void mbarrier_not_set_up(float*) {
    __shared__ gpu::Mbarrier full;
    if (chosen()) full.arrive();
}
__global__ void mbarrier_in_local(float*) {
    gpu::Mbarrier full;
    if (chosen()) full.arrive();
}
__global__ void mbarrier_past_end(float*) {
    __shared__ gpu::Mbarrier full[2];
    if (thread_of_block() < 2) full[thread_of_block()].init(1);
    __syncthreads();
    if (chosen()) full[2].arrive();
}
__global__ void mbarrier_early(float*) {
    __shared__ gpu::Mbarrier full;
    const int t = thread_of_block();
    if (t == 0) full.init(3);
    __syncthreads();
    if (t < 3) full.arrive_and_expect(16);
    __syncthreads();
    if (t == 14) full.arrive();
}
__global__ void mbarrier_early_for_tile(float*, const __grid_constant__ gpu::TileMap map) {
    extern __shared__ __align__(1024) char memory[];
    __shared__ gpu::Mbarrier full;
    if (!chosen()) return;
    full.init(1);
    gpu::mbarriers_are_set_up();
    full.arrive_and_expect(1024);
    gpu::copy_tile_async(memory, map, 0, 0, full);
    full.arrive();
}
__global__ void mbarrier_parity(float*) {
    __shared__ gpu::Mbarrier full;
    const int t = thread_of_block();
    if (t == 0) full.init(1);
    __syncthreads();
    if (t == 1) full.arrive();
    full.wait(chosen() ? 3 : 0);
}
__global__ void mbarrier_again(float*) {
    __shared__ gpu::Mbarrier full;
    const int t = thread_of_block();
    if (t == 0) full.init(1);
    __syncthreads();
    if (t == 1) full.arrive();
    full.wait(0);
    if (chosen()) full.wait(0);
}
__global__ void mbarriers_for_ever(float*) {
    __shared__ gpu::Mbarrier full, empty;
    const int t = thread_of_block();
    if (t == 0) full.init(3);
    if (t == 0) empty.init(2);
    __syncthreads();
    if (t == 1) full.arrive();
    if (t == 6 || t == 7) full.wait(0);
    if (t == 9) empty.wait(0);
}
template <int TO, bool SHARED, bool SEEN>
__global__ void tile_to(float* x, const __grid_constant__ gpu::TileMap map) {
    extern __shared__ __align__(1024) char memory[];
    __shared__ gpu::Mbarrier full;
    if (!chosen()) return;
    full.init(1);
    if (SEEN) gpu::mbarriers_are_set_up();
    full.arrive_and_expect(8 * 128);
    char* const global =
        reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(x + 1024) / 1024 * 1024);
    gpu::copy_tile_async(SHARED ? memory + TO : global, map, 0, 0, full);
}
template <int TOLD>
__global__ void tile_told(float*, const __grid_constant__ gpu::TileMap map) {
    extern __shared__ __align__(1024) char memory[];
    __shared__ gpu::Mbarrier full;
    if (!chosen()) return;
    full.init(1);
    gpu::mbarriers_are_set_up();
    full.arrive_and_expect(TOLD);
    gpu::copy_tile_async(memory, map, 0, 0, full);
    gpu::copy_tile_async(memory + 1024, map, 0, 0, full);
}
// Tiles of 8 rows and 64 columns of two matrices of 2 x 28 numbers, also past their edges.
__global__ void tiles_of_planes(const std::uint16_t* numbers,
                                const __grid_constant__ gpu::TileMap map) {
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ gpu::Mbarrier full;
    constexpr int kTiles[][3] = {{0, 0, 0}, {1, 0, 0},  {1, 1, 0},  {1, -3, 0}, {-1, 0, 0},
                                 {2, 0, 0}, {0, 0, 16}, {1, 0, -8}, {0, 2, 0},  {0, 0, 32}};
    full.init(1);
    gpu::mbarriers_are_set_up();
    full.arrive_and_expect(10 * 1024);
    for (int i = 0; i < 10; ++i) {
        const auto [plane, row, column] = kTiles[i];
        gpu::copy_tile_of_plane_async(memory + 1024 * i, map, plane, row, column, full);
    }
    full.wait(0);
    for (int i = 0; i < 10; ++i) {
        for (int r = 0; r < 8; ++r) {
            for (int c = 0; c < 64; ++c) {
                const auto [plane, row, column] = kTiles[i];
                const int m = row + r, k = column + c;
                const bool inside = plane >= 0 && plane < 2 && m >= 0 && m < 2 && k >= 0 && k < 28;
                const unsigned char* const at =
                    memory + 1024 * i + 128 * r + 16 * (c / 8 ^ r) + 2 * (c % 8);
                if (*reinterpret_cast<const std::uint16_t*>(at) !=
                    (inside ? numbers[64 * plane + 32 * m + k] : 0)) {
                    __trap();
                }
            }
        }
    }
}
enum class Leaves { nothing, fence, commit, wait, changes };
template <int FROM, bool SHARED, Leaves OUT>
__global__ void tile_from(float* x, const __grid_constant__ gpu::TileMap map) {
    extern __shared__ __align__(1024) char memory[];
    if (!chosen()) return;
    float* const tile = reinterpret_cast<float*>(memory + FROM);
    for (int i = 0; i < 8 * 32; ++i) tile[i] = 1.0f;
    if (OUT != Leaves::fence) gpu::fence_proxy_async();
    float* const global =
        reinterpret_cast<float*>(reinterpret_cast<std::uintptr_t>(x + 1024) / 1024 * 1024);
    gpu::store_tile_async(map, 0, 0, SHARED ? tile : global);
    if (OUT != Leaves::commit) gpu::store_tiles_commit();
    if (OUT == Leaves::changes) tile[255] = 2.0f;
    if (OUT != Leaves::wait) gpu::store_tiles_wait_read<0>();
}
// Lane 1 writes, even if the same, while the copy engine may still read.
__global__ void tile_refilled(float*, const __grid_constant__ gpu::TileMap map) {
    extern __shared__ __align__(1024) char memory[];
    float* const tile = reinterpret_cast<float*>(memory);
    const int t = thread_of_block();
    for (int i = t; i < 8 * 32; i += 32) tile[i] = 1.0f;
    gpu::fence_proxy_async();
    __syncwarp();
    if (t == 0) gpu::store_tile_async(map, 0, 0, tile);
    if (t == 0) gpu::store_tiles_commit();
    __syncwarp();
    if (t == 0) gpu::store_tiles_wait_read<0>();
    if (t == 1) tile[0] = 1.0f;
}
// Two boxes in turn, and the tiles of 8 rows and 32 columns around a matrix of 2 x 28 floats, copied
// and stored.
__global__ void tiles_there_and_back(const float* from, float* to,
                                     const __grid_constant__ gpu::TileMap map_from,
                                     const __grid_constant__ gpu::TileMap map_to) {
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ gpu::Mbarrier full;
    constexpr int kTiles[][2] = {{0, 0}, {-7, -16}, {1, 16}, {-8, 0}, {2, 0}, {0, 28}, {0, -32}};
    full.init(1);
    gpu::mbarriers_are_set_up();
    unsigned parity = 0;
    for (int i = 0; i < 7; ++i, parity ^= 1) {
        const auto [row, column] = kTiles[i];
        float* const box = reinterpret_cast<float*>(memory + i % 2 * 1024);
        for (int j = 0; j < 56; ++j) to[j / 28 * 32 + j % 28] = 0;
        gpu::store_tiles_wait_read<1>();
        full.arrive_and_expect(1024);
        gpu::copy_tile_async(box, map_from, row, column, full);
        full.wait(parity);
        for (int j = 0; j < 8 * 32; ++j) box[j] += 1;
        gpu::fence_proxy_async();
        gpu::store_tile_async(map_to, row, column, box);
        gpu::store_tiles_commit();
        gpu::store_tiles_wait_read<0>();
        for (int m = 0; m < 2; ++m) {
            for (int n = 0; n < 28; ++n) {
                const bool inside = m >= row && m < row + 8 && n >= column && n < column + 32;
                if (to[32 * m + n] != (inside ? from[32 * m + n] + 1 : 0)) __trap();
            }
        }
    }
}
template <int TO, int FROM, int BYTES, bool SHARED>
__global__ void bulk(float* x) {
    extern __shared__ __align__(128) char memory[];
    __shared__ gpu::Mbarrier full;
    if (!chosen()) return;
    full.init(1);
    gpu::mbarriers_are_set_up();
    full.arrive_and_expect(BYTES);
    char* const bytes = reinterpret_cast<char*>(x);
    copy_bulk(SHARED ? memory + TO : bytes + 128, bytes + FROM, BYTES, &full.word, Site::current());
    full.wait(0);
}

// The last thread lets the others read, and does not wait for that.
template <bool BY_ENGINE>
__global__ void bulk_refilled(const float* x) {
    __shared__ __align__(16) float tile[8];
    __shared__ gpu::Mbarrier full;
    const bool last = threadIdx.x == 7;
    const auto fill = [&] {
        full.arrive_and_expect(32);
        copy_bulk(tile, x, 32, &full.word, Site::current());
    };
    if (last) full.init(1);
    if (last) gpu::mbarriers_are_set_up();
    __syncthreads();
    if (last) fill();
    full.wait(0);
    if (tile[threadIdx.x] > 0 && last) {
        __nanosleep(1);
        if (BY_ENGINE) fill();
        tile[5] = 0;
    }
}

// --- warpgroups --------------------------------------------------------------------------------------
enum class Differs {
    nothing,
    a,
    b,
    a_panel,
    b_panel,
    a_across,
    b_across,
    pairs,
    add,
    line,
    type,
    unseen,
    unseen_atomic,
    fenced_after,
    fenced_in_ptx
};
// Thread 70 makes a call that differs from the others' in one respect.
__global__ void warpgroup(Differs what) {
    extern __shared__ __align__(1024) unsigned char memory[];
    const int t = static_cast<int>(threadIdx.x);
    for (int i = t; i < 16384 / 4; i += 128) reinterpret_cast<float*>(memory)[i] = 0.0f;
    const bool elsewhere_fenced = what == Differs::fenced_after || what == Differs::fenced_in_ptx;
    const bool forgets = elsewhere_fenced || (what == Differs::unseen && t == 5);
    if (what == Differs::fenced_in_ptx) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (!forgets) gpu::fence_proxy_async();
    if (what == Differs::unseen_atomic && t == 5)
        atomicExch(reinterpret_cast<float*>(memory) + 5, 0);
    __syncthreads();
    if (what == Differs::fenced_after)
        gpu::fence_proxy_async();  // by the threads that have it read
    float sum[16][4] = {};
    WgmmaOperand a{memory, 16, false, nullptr}, b{memory + 8192, 16, false, nullptr};
    const bool me = t == 70;
    if (me && what == Differs::a) a.first += 32;
    if (me && what == Differs::b) b.first += 32;
    if (me && what == Differs::a_panel) a.panel_bytes = 32;
    if (me && what == Differs::b_panel) b.panel_bytes = 32;
    if (me && what == Differs::a_across) a.across = true;
    if (me && what == Differs::b_across) b.across = true;
    wgmma_fence();
    const bool elsewhere = what == Differs::line;
    const Site here = Site::current();
    const Site there = Site::current();
    wgmma(a, b, !(me && what == Differs::type), me && what == Differs::pairs ? 4 : 8, &sum[0][0],
          !(me && (what == Differs::add || elsewhere)), elsewhere && me ? there : here);
    wgmma_commit();
    wgmma_wait(0, &sum[0][0], Site::current());
}
__global__ void warpgroup_leaves(float* x) {
    extern __shared__ __align__(1024) unsigned char memory[];
    float sum[8][4] = {};
    for (int i = static_cast<int>(threadIdx.x); i < 2048; i += 128)
        reinterpret_cast<float*>(memory)[i] = 0.0f;
    gpu::fence_proxy_async();
    __syncthreads();
    wgmma_fence();
    wgmma({memory, 16, false, nullptr}, {reinterpret_cast<unsigned char*>(x), 16, false, nullptr},
          true, 8, &sum[0][0], true, Site::current());
    wgmma_commit();
    wgmma_wait(0, &sum[0][0], Site::current());
}

__global__ void warpgroup_in_part(int fence_from, int call_to, bool waits, float* x) {
    extern __shared__ __align__(1024) unsigned char memory[];
    const int t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    for (int i = t; i < 16384 / 4; i += threads) reinterpret_cast<float*>(memory)[i] = 0.0f;
    gpu::fence_proxy_async();
    __syncthreads();
    float sum[8][4] = {};
    if (t >= fence_from) wgmma_fence();
    if (t < call_to) {
        wgmma({memory, 16, false, nullptr}, {memory + 8192, 16, false, nullptr}, true, 8,
              &sum[0][0], true, Site::current());
    }
    wgmma_commit();
    if (waits) wgmma_wait(0, &sum[0][0], Site::current());
    if (t == 33) x[0] = sum[1][2];
    if (!waits) wgmma_wait(0, &sum[0][0], Site::current());
}

// More tiles than can be placed separately.
__global__ void many_tiles(float* x) {
    extern __shared__ __align__(16) unsigned char memory[];
    const cg::cluster_group cluster = cg::this_cluster();
    gpu::SharedTiles tiles(memory);
    float* last = nullptr;
    int apart = 0;
    for (int i = 0; i < 330; ++i) {
        float* const tile = tiles.next<float>(100);
        if (i < 240) last = tile;
        apart += tile != reinterpret_cast<float*>(memory + 400 * i);
        tile[0] = tile[99] = static_cast<float>(1000 * blockIdx.x + i);
    }
    cluster.sync();
    const float* const theirs = cluster.map_shared_rank(last, static_cast<int>(blockIdx.x) ^ 1);
    if (theirs[99] != static_cast<float>(1000 * (blockIdx.x ^ 1) + 239) || apart != 306) __trap();
    cluster.sync();
    x[blockIdx.x] = last[0];
}

// --- clusters ----------------------------------------------------------------------------------------
__global__ void __cluster_dims__(1, 2, 1) own_memory_by_another(float* x) {
    __shared__ float mine[4];
    __shared__ float* by_other;
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) mine[0] = 1;
    cluster.sync();
    const int other = static_cast<int>(cluster.block_rank()) ^ 1;
    // The other block's pointer to this block's array.
    if (threadIdx.x == 1)
        *cluster.map_shared_rank(&by_other, other) = cluster.map_shared_rank(mine, other);
    cluster.sync();
    if (threadIdx.x == 2) x[2] = *by_other;
    cluster.sync();
}
__global__ void __cluster_dims__(1, 2, 1) rank_too_large(float* x) {
    __shared__ float mine;
    if (threadIdx.x == 3 && blockIdx.y == 1) x[0] = *cg::this_cluster().map_shared_rank(&mine, 5);
}
__global__ void __cluster_dims__(1, 2, 1) not_in_shared_memory(float* x) {
    if (threadIdx.x == 3 && blockIdx.y == 1) x[0] = *cg::this_cluster().map_shared_rank(x, 0);
}
__global__ void __cluster_dims__(1, 2, 1) reaches_ended(float* x) {
    __shared__ float mine;
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) mine = 1;
    cluster.sync();
    if (blockIdx.y == 1 && threadIdx.x == 2) x[1] = *cluster.map_shared_rank(&mine, 0);
}

// --- what C++ leaves undefined -----------------------------------------------------------------------
enum class Cpp {
    add,
    subtract,
    multiply,
    negate,
    divide,
    divide_by_zero,
    shift,
    array,
    object,
    boolean,
    unreachable,
    no_return,
    length,
    null,
    null_result,
    leading
};
__device__ int no_return(int i) {
    if (i < 0) return 1;
}
[[gnu::returns_nonnull, gnu::noinline]] __device__ int* result_of(int* p) {
    return p;
}
__global__ void undefined_in_cpp(Cpp what, int largest, int minus_one, float* x) {
    if (!chosen()) return;
    const int zero = minus_one + 1;
    int small[4] = {1, 2, 3, 4}, got = 0;
    const void* const volatile nowhere = nullptr;
    switch (what) {
        case Cpp::add:
            got = largest + 2;
            break;
        case Cpp::subtract:
            got = minus_one - largest - 2;
            break;
        case Cpp::multiply:
            got = largest * 3;
            break;
        case Cpp::negate:
            got = -(-largest + minus_one);
            break;
        case Cpp::divide:
            got = (-largest + minus_one) / minus_one;
            break;
        case Cpp::divide_by_zero:
            got = 7 / zero;
            break;
        case Cpp::shift:
            got = 5;
            got <<= zero + 37;
            break;
        case Cpp::array:
            got = small[minus_one];
            break;
        case Cpp::object: {
            alignas(8) char few[4] = {1, 2, 3, 4};
            got = static_cast<int>(*reinterpret_cast<volatile long long*>(few));
            break;
        }
        case Cpp::boolean:
            got = *reinterpret_cast<volatile bool*>(x + 8) ? 3 : 4;
            break;
        case Cpp::unreachable:
            __builtin_unreachable();
            break;
        case Cpp::no_return:
            got = no_return(zero);
            break;
        case Cpp::length: {
            volatile int many[minus_one - 1];
            many[0] = 1;
            got = many[0];
            break;
        }
        case Cpp::null:
            got = static_cast<int*>(memcpy(small, nowhere, static_cast<std::size_t>(zero)))[0];
            break;
        case Cpp::null_result:
            got = result_of(minus_one == -1 ? nullptr : small) == small;
            break;
        case Cpp::leading:
            got = __builtin_clz(static_cast<unsigned>(zero));
            break;
    }
    x[0] = static_cast<float>(got);
}
__global__ void assertion(float* x) {
    if (chosen()) assert(x[0] >= 2.0f);
}
__global__ void traps(float*) {
    if (chosen()) __trap();
}
// Faults at its first instruction.
__attribute__((no_sanitize("thread", "undefined"), noinline)) __device__ void store_unseen(
    float* at) {
    *at = 1.0f;
}
__global__ void stray(float*) {
    if (chosen()) store_unseen(reinterpret_cast<float*>(0x123450));
}

// --- launches ----------------------------------------------------------------------------------------
__global__ void nothing(float*) {}
__global__ void large_arrays(float* x) {
    __shared__ float first[8192];
    __shared__ float second[4097];
    first[0] = x[0];
    second[0] = x[1];
}
__global__ void half_of_it(float* x) {
    __shared__ float first[8192];
    first[0] = x[0];
}
__global__ void restricted(const float* __restrict__ in, int n, float* __restrict__ out) {
    const int t = thread_of_block();
    if (t > 0 && t < n && blockIdx.x + blockIdx.y + blockIdx.z == 0) out[t] = in[t];
}
__global__ void reads_texture(cudaTextureObject_t texture, float* x) {
    if (chosen()) x[0] = tex1Dfetch<float>(texture, 3);
}
__global__ void writes_surface(cudaSurfaceObject_t surface, const float* x) {
    if (chosen()) surf2Dwrite(x[0], surface, 12, 3);
}
__global__ void calls_a_kernel(float* x) {
    if (chosen()) nothing(x);
}
gpu::TileMap floats_of(const float* x) {
    return gpu::tile_map(x, 2, 32, 32, 8);
}
gpu::TileMap map_of(const float* x) {
    return gpu::tile_map(reinterpret_cast<const bf16*>(x), 1, 64, 64, 8);
}
void cooperatively(void (*kernel)(float*), dim3 grid, dim3 block, float* x) {
    void* arguments[] = {&x};
    cudaLaunchCooperativeKernel(kernel, grid, block, arguments);
}

__global__ void add_one_kernel(const float* in, float* out) {
    out[0] += in[0];
}
__global__ void add_one_byte_kernel(const unsigned char* in, unsigned char* out) {
    out[0] = static_cast<unsigned char>(out[0] + in[0]);
}

// --- readers and a writer ------------------------------------------------------------------------------
__device__ void tell(int* done) {
    __threadfence();
    atomicAdd(done, 1);
}
__device__ void wait_until(int* done, int count) {
    while (atomicAdd(done, 0) < count) {
    }
    __threadfence();
}
__global__ void blocks_read(int readers, int left_out, float* word, int* done) {
    const int b = static_cast<int>(blockIdx.x);
    if (threadIdx.x != 0) return;
    if (b < readers) {
        if (*word > 9) return;
        if (b != left_out) tell(done);
    } else {
        wait_until(done, left_out < 0 ? readers : readers - 1);
        *word = 2;
    }
}
__device__ void read_by_warps(int readers, int left_out, float* word, int* done) {
    const int w = static_cast<int>(threadIdx.x) / 32;
    if (threadIdx.x % 32 != 5) return;
    if (w < readers) {
        if (*word > 9) return;
        if (w != left_out) tell(done);
    } else {
        wait_until(done, left_out < 0 ? readers : readers - 1);
        *word = 2;
    }
}
__global__ void warps_read(int readers, int left_out, float* word, int* done) {
    read_by_warps(readers, left_out, word, done);
}
__global__ void warps_read_shared(int readers, int left_out, float* word, int* done) {
    __shared__ float mine;
    if (threadIdx.x == 0) mine = *word;
    __syncthreads();
    read_by_warps(readers, left_out, &mine, done);
}
__global__ void lanes_read(int readers, int left_out, float* word) {
    const int t = static_cast<int>(threadIdx.x);
    if (t<readers&& * word> 9) return;
    const unsigned all = (2u << readers) - 1;
    const unsigned mask = left_out < 0 ? all : all & ~(1u << left_out);
    if (t == left_out || t > readers) return;
    __syncwarp(mask);
    if (t == readers) *word = 2;
}

}  // namespace

void time_of_blocks(Together how, float* x) {
    if (how == Together::no) time_of_blocks_kernel<<<4, 1>>>(x);
    if (how == Together::in_grid) cooperatively(time_of_blocks_kernel, 4, 1, x);
    if (how == Together::in_clusters) time_of_clusters_kernel<<<4, 1>>>(x);
}
float* address_of_variable() {
    void* found = nullptr;
    cudaGetSymbolAddress(&found, variable);
    return static_cast<float*>(found);
}
void add_one(const float* in, float* out, cudaStream_t stream) {
    add_one_kernel<<<1, 1, 0, stream>>>(in, out);
}
void add_one_byte(const unsigned char* in, unsigned char* out, cudaStream_t stream) {
    add_one_byte_kernel<<<1, 1, 0, stream>>>(in, out);
}

void readers_and_a_writer(ReadersAre what, int readers, int left_out, float* word, int* done) {
    const auto n = static_cast<unsigned>(readers);
    switch (what) {
        case ReadersAre::blocks:
            blocks_read<<<n + 1, 32>>>(readers, left_out, word, done);
            break;
        case ReadersAre::warps:
            warps_read<<<1, 32 * (n + 1)>>>(readers, left_out, word, done);
            break;
        case ReadersAre::warps_in_shared_memory:
            warps_read_shared<<<1, 32 * (n + 1)>>>(readers, left_out, word, done);
            break;
        case ReadersAre::lanes:
            lanes_read<<<1, 32>>>(readers, left_out, word);
            break;
    }
}

template <Cpp WHAT>
static void undefined(float* x) {
    undefined_in_cpp<<<kGrid, kBlock>>>(WHAT, 0x7fffffff, -1, x);
}
template <int FROM, bool SHARED, Leaves OUT>
static void store_tile_from(float* x) {
    tile_from<FROM, SHARED, OUT><<<kGrid, kBlock, 4096>>>(x, floats_of(x));
}

std::vector<Provoked> provoked_by_kernels() {
    return {
        {"first_of_two_lines", [](float* x) { first_of_two_lines<<<kGrid, kBlock>>>(x); }},
        {"second_of_two_lines", [](float* x) { second_of_two_lines<<<kGrid, kBlock>>>(x); }},
        {"step_is_another_extent", [](float* x) { step_is_another_extent<<<2, dim3(8, 4)>>>(x); }},
        {"step_is_too_small", [](float* x) { step_is_too_small<<<dim3(1, 2), dim3(1, 12)>>>(x); }},
        {"double_past_end", [](float* x) { double_past_end<<<kGrid, kBlock>>>(x); }},
        {"ends_beyond", [](float* x) { ends_beyond<<<kGrid, kBlock>>>(x); }},
        {"atomic_past_end", [](float* x) { atomic_past_end<<<kGrid, kBlock>>>(x); }},
        {"atomic_before_start", [](float* x) { atomic_before_start<<<kGrid, kBlock>>>(x); }},
        {"past_variable", [](float* x) { past_variable<<<kGrid, kBlock>>>(x); }},
        {"bytes_for_elements",
         [](float*) {
             void* few = nullptr;
             cudaMalloc(&few, 64);
             bytes_for_elements<<<kGrid, kBlock>>>(static_cast<float*>(few));
             cudaFree(few);
         }},
        {"number_of_bytes",
         [](float*) {
             float* few = nullptr;
             cudaMalloc(&few, 268);
             pitch_in_elements<<<1, dim3(1, 2)>>>(few, 67);
             cudaFree(few);
         }},
        {"size_of_pointer",
         [](float* x) {
             void* copy = nullptr;
             cudaMalloc(&copy, 256);
             cudaMemcpy(copy, x, sizeof(x), cudaMemcpyDeviceToDevice);
             shifted<<<1, 4>>>(static_cast<float*>(copy), x);
             cudaFree(copy);
         }},
        {"pitch_in_elements",
         [](float*) {
             float* rows = nullptr;
             std::size_t pitch = 0;
             cudaMallocPitch(&rows, &pitch, 40, 3);
             pitch_in_elements<<<1, dim3(10, 3)>>>(rows, pitch);
             cudaFree(rows);
         }},
        {"freed",
         [](float*) {
             void* gone = nullptr;
             cudaMalloc(&gone, 256);
             cudaMemset(gone, 0, 256);
             cudaFree(gone);
             freed<<<kGrid, kBlock>>>(static_cast<float*>(gone));
         }},
        {"reads_null", [](float* x) { reads_null<<<kGrid, kBlock>>>(x); }},
        {"launch_beside_a_recording",
         [](float* x) {
             const Recording launches(
                 [x](cudaStream_t) { first_of_two_lines<<<kGrid, kBlock>>>(x); });
         }},
        {"reads_host",
         [](float* x) {
             static float host[2];
             reads_host<<<kGrid, kBlock>>>(host, x);
         }},
        {"misaligned_by_two", [](float* x) { misaligned_by_two<<<kGrid, kBlock>>>(x); }},
        {"misaligned_by_four", [](float* x) { misaligned_by_four<<<kGrid, kBlock>>>(x); }},
        {"misaligned_by_one", [](float* x) { misaligned_by_one<<<kGrid, kBlock>>>(x); }},
        {"sleeps_for_ever", [](float*) { sleeps_for_ever<<<kGrid, kBlock>>>(); }},
        {"second_load_unwritten",
         [](float* x) {
             void* y = nullptr;
             cudaMalloc(&y, 256);
             second_load_unwritten<<<kGrid, kBlock>>>(static_cast<float*>(y), x);
             cudaFree(y);
         }},
        {"left_by_another_block", [](float* x) { left_by_another_block<<<2, 32, 128>>>(x); }},
        {"unwritten_in_shared_array",
         [](float* x) { unwritten_in_shared_array<<<kGrid, kBlock>>>(x); }},
        {"barrier_before_the_write", [](float* x) { barrier_before_the_write<<<1, kBlock>>>(x); }},
        {"returned_before_the_write",
         [](float* x) { returned_before_the_write<<<1, kBlock>>>(x); }},
        {"writes_what_others_read_in_its_round",
         [](float* x) { writes_what_others_read_in_its_round<<<1, kBlock>>>(x); }},
        {"frees_twice", [](float* x) { frees_twice<<<kGrid, kBlock>>>(x); }},
        {"frees_the_middle", [](float* x) { frees_the_middle<<<kGrid, kBlock>>>(x); }},
        {"deletes_twice", [](float* x) { deletes_twice<<<kGrid, kBlock>>>(x); }},
        {"reads_what_it_freed", [](float* x) { reads_what_it_freed<<<kGrid, kBlock>>>(x); }},
        {"unset_local", [](float* x) { unset_local<<<kGrid, kBlock>>>(x); }},
        {"writes_constant", [](float* x) { writes_constant<<<kGrid, kBlock>>>(x); }},
        {"takes_reference",
         [](float* x) {
             const float one = 1.0f;
             takes_reference<<<kGrid, kBlock>>>(one, x);
         }},
        {"unset_member", [](float* x) { unset_member<<<kGrid, kBlock>>>(x); }},
        {"no_such_number", [](float* x) { no_such_number<<<kGrid, kBlock>>>(x); }},
        {"shifts_by_all_bits", [](float* x) { shifts_by_all_bits<<<kGrid, kBlock>>>(x); }},
        {"unset_operand", [](float* x) { unset_operand<3><<<1, kBlock>>>(x); }},
        {"in_place", [](float* x) { shifted<<<1, kBlock>>>(x, x); }},
        {"counter_without_barrier", [](float* x) { counter_without_barrier<<<1, kBlock>>>(x); }},
        {"unset_local_behind_grid_barrier",
         [](float* x) { cooperatively(unset_local_behind_grid_barrier, 3, 4, x); }},
        {"many_left_waiting",
         [](float* x) {  // more than there are stacks
             for (int i = 0; i < 3; ++i) {
                 cudaGetLastError();
                 clear_report();
                 cooperatively(fails_behind_grid_barrier, 8, 1024, x);
             }
         }},
        {"race_in_shared", [](float* x) { race_in_shared<<<kGrid, kBlock>>>(x); }},
        {"race_of_blocks", [](float* x) { race_of_blocks<<<kGrid, kBlock>>>(x); }},
        {"reads_beside_write", [](float* x) { reads_beside_write<<<1, kBlock>>>(x); }},
        {"writes_beside_read", [](float* x) { writes_beside_read<<<1, kBlock>>>(x); }},
        {"atomic_beside_write", [](float* x) { atomic_beside_write<<<1, kBlock>>>(x); }},
        {"byte_of_a_word", [](float* x) { byte_of_a_word<<<1, kBlock>>>(x); }},
        {"write_beside_atomic", [](float* x) { write_beside_atomic<<<1, kBlock>>>(x); }},
        {"read_beside_atomic", [](float* x) { read_beside_atomic<<<1, kBlock>>>(x); }},
        {"atomic_beside_read", [](float* x) { atomic_beside_read<<<1, kBlock>>>(x); }},
        {"atomic_beside_read_of_block",
         [](float* x) { atomic_beside_read_of_block<<<2, kBlock>>>(x); }},
        {"other_reader", [](float* x) { other_reader<<<1, 96>>>(x); }},
        {"another_warp_meets", [](float* x) { another_warp_meets<<<1, 64>>>(x); }},
        {"third_reader", [](float* x) { third_reader<<<1, 128>>>(x); }},
        {"barrier_left_out", [](float* x) { barrier_left_out<<<kGrid, kBlock>>>(x); }},
        {"barrier_in_if_of_loop", [](float* x) { barrier_in_if_of_loop<<<1, 64>>>(x); }},
        {"returns_before_barrier", [](float* x) { returns_before_barrier<<<kGrid, kBlock>>>(x); }},
        {"three_return_before_barrier",
         [](float* x) { three_return_before_barrier<<<1, kBlock>>>(x); }},
        {"barrier_of_grid", [](float* x) { barrier_of_grid<<<kGrid, kBlock>>>(x); }},
        {"block_that_leaves", [](float* x) { cooperatively(block_that_leaves, 3, kBlock, x); }},
        {"barrier_of_block_for_grid",
         [](float* x) { cooperatively(barrier_of_block_for_grid, 2, 4, x); }},
        {"barrier_beside_grid", [](float* x) { cooperatively(barrier_beside_grid, 2, kBlock, x); }},
        {"not_in_mask", [](float* x) { not_in_mask<<<1, kBlock>>>(x); }},
        {"width_0", [](float* x) { width<0><<<kGrid, kBlock>>>(x); }},
        {"width_3", [](float* x) { width<3><<<kGrid, kBlock>>>(x); }},
        {"width_64", [](float* x) { width<64><<<kGrid, kBlock>>>(x); }},
        {"other_mask", [](float* x) { other_mask<<<1, kBlock>>>(x); }},
        {"other_call", [](float* x) { other_call<<<1, kBlock>>>(x); }},
        {"from_outside_mask", [](float* x) { from_outside_mask<<<1, kBlock>>>(x); }},
        {"from_returned", [](float* x) { from_returned<<<1, kBlock>>>(x); }},
        {"lane_skips_call", [](float* x) { lane_skips_call<<<1, kBlock>>>(x); }},
        {"lane_leaves_loop", [](float* x) { lane_leaves_loop<<<kGrid, kBlock>>>(x); }},
        {"from_nobody", [](float* x) { from_nobody<<<1, kBlock>>>(x); }},
        {"lane_that_waits_elsewhere",
         [](float* x) { lane_that_waits_elsewhere<<<1, kBlock>>>(x); }},
        {"half_a_warp_together", [](float* x) { half_a_warp_together<<<1, 32>>>(x); }},
        {"a_warp_too_small", [](float* x) { half_a_warp_together<<<1, 12>>>(x); }},
        {"no_room_for_tile", [](float* x) { no_room_for_tile<<<kGrid, kBlock, 64>>>(x); }},
        {"copy_of_12_bytes", [](float* x) { copy_async<12, 0, 0><<<kGrid, kBlock, 64>>>(x); }},
        {"copy_of_0_bytes", [](float* x) { copy_async<0, 0, 0><<<kGrid, kBlock, 64>>>(x); }},
        {"copy_of_32_bytes", [](float* x) { copy_async<32, 0, 0><<<kGrid, kBlock, 64>>>(x); }},
        {"copy_to_misaligned", [](float* x) { copy_async<16, 4, 16><<<kGrid, kBlock, 64>>>(x); }},
        {"copy_from_misaligned", [](float* x) { copy_async<8, 8, 12><<<kGrid, kBlock, 64>>>(x); }},
        {"copy_to_global", [](float* x) { copy_to_global<<<kGrid, kBlock>>>(x); }},
        {"copy_past_end", [](float* x) { copy_past_end<<<kGrid, kBlock>>>(x); }},
        {"copy_past_array", [](float* x) { copy_past_array<<<kGrid, kBlock>>>(x); }},
        {"source_changes", [](float* x) { source_changes<<<kGrid, kBlock>>>(x); }},
        {"variable_changes", [](float* x) { variable_changes<<<kGrid, kBlock>>>(x); }},
        {"mbarrier_at_4", [](float* x) { mbarrier_at<4, 1><<<kGrid, kBlock, 64>>>(x); }},
        {"mbarrier_without_arrivals",
         [](float* x) { mbarrier_at<8, 0><<<kGrid, kBlock, 64>>>(x); }},
        {"mbarrier_in_global", [](float* x) { mbarrier_in_global<<<kGrid, kBlock>>>(x); }},
        {"mbarrier_not_set_up", [](float* x) { mbarrier_not_set_up<<<kGrid, kBlock>>>(x); }},
        {"mbarrier_in_local", [](float* x) { mbarrier_in_local<<<kGrid, kBlock>>>(x); }},
        {"mbarrier_past_end", [](float* x) { mbarrier_past_end<<<kGrid, kBlock>>>(x); }},
        {"mbarrier_early", [](float* x) { mbarrier_early<<<1, kBlock>>>(x); }},
        {"mbarrier_early_for_tile",
         [](float* x) { mbarrier_early_for_tile<<<kGrid, kBlock, 1024>>>(x, map_of(x)); }},
        {"mbarrier_parity", [](float* x) { mbarrier_parity<<<kGrid, kBlock>>>(x); }},
        {"mbarrier_again", [](float* x) { mbarrier_again<<<kGrid, kBlock>>>(x); }},
        {"mbarriers_for_ever", [](float* x) { mbarriers_for_ever<<<1, kBlock>>>(x); }},
        {"tile_to_512",
         [](float* x) { tile_to<512, true, true><<<kGrid, kBlock, 4096>>>(x, map_of(x)); }},
        {"tile_to_global",
         [](float* x) { tile_to<0, false, true><<<kGrid, kBlock, 4096>>>(x, map_of(x)); }},
        {"tile_unseen",
         [](float* x) { tile_to<0, true, false><<<kGrid, kBlock, 4096>>>(x, map_of(x)); }},
        {"tile_not_told", [](float* x) { tile_told<1024><<<kGrid, kBlock, 4096>>>(x, map_of(x)); }},
        {"tile_half_told", [](float* x) { tile_told<512><<<kGrid, kBlock, 4096>>>(x, map_of(x)); }},
        {"bulk_to_8", [](float* x) { bulk<8, 0, 32, true><<<kGrid, kBlock, 256>>>(x); }},
        {"bulk_from_8", [](float* x) { bulk<0, 8, 32, true><<<kGrid, kBlock, 256>>>(x); }},
        {"bulk_of_24_bytes", [](float* x) { bulk<0, 0, 24, true><<<kGrid, kBlock, 256>>>(x); }},
        {"bulk_to_global", [](float* x) { bulk<0, 0, 32, false><<<kGrid, kBlock, 256>>>(x); }},
        {"bulk_refilled", [](float* x) { bulk_refilled<true><<<1, 8>>>(x); }},
        {"bulk_overwritten", [](float* x) { bulk_refilled<false><<<1, 8>>>(x); }},
        {"tile_from_512", store_tile_from<512, true, Leaves::nothing>},
        {"tile_from_global", store_tile_from<0, false, Leaves::nothing>},
        {"tile_not_fenced", store_tile_from<0, true, Leaves::fence>},
        {"tile_not_committed", store_tile_from<0, true, Leaves::commit>},
        {"tile_not_waited_for", store_tile_from<0, true, Leaves::wait>},
        {"tile_changes", store_tile_from<0, true, Leaves::changes>},
        {"tile_refilled", [](float* x) { tile_refilled<<<1, 32, 1024>>>(x, floats_of(x)); }},
        {"tile_past_end",
         [](float* x) {
             tile_from<0, true, Leaves::nothing>
                 <<<kGrid, kBlock, 4096>>>(x, gpu::tile_map(x, 3, 32, 32, 8));
         }},
        {"warpgroup_unseen", [](float*) { warpgroup<<<1, 128, 16384>>>(Differs::unseen); }},
        {"warpgroup_unseen_atomic",
         [](float*) { warpgroup<<<1, 128, 16384>>>(Differs::unseen_atomic); }},
        {"warpgroup_a", [](float*) { warpgroup<<<1, 128, 16384>>>(Differs::a); }},
        {"warpgroup_b", [](float*) { warpgroup<<<1, 128, 16384>>>(Differs::b); }},
        {"warpgroup_a_panel", [](float*) { warpgroup<<<1, 128, 16384>>>(Differs::a_panel); }},
        {"warpgroup_b_panel", [](float*) { warpgroup<<<1, 128, 16384>>>(Differs::b_panel); }},
        {"warpgroup_a_across", [](float*) { warpgroup<<<1, 128, 16384>>>(Differs::a_across); }},
        {"warpgroup_b_across", [](float*) { warpgroup<<<1, 128, 16384>>>(Differs::b_across); }},
        {"warpgroup_pairs", [](float*) { warpgroup<<<1, 128, 16384>>>(Differs::pairs); }},
        {"warpgroup_add", [](float*) { warpgroup<<<1, 128, 16384>>>(Differs::add); }},
        {"warpgroup_line", [](float*) { warpgroup<<<1, 128, 16384>>>(Differs::line); }},
        {"warpgroup_type", [](float*) { warpgroup<<<1, 128, 16384>>>(Differs::type); }},
        {"warpgroup_leaves", [](float* x) { warpgroup_leaves<<<1, 128, 8192>>>(x); }},
        {"warpgroup_without_fence",
         [](float* x) { warpgroup_in_part<<<1, 128, 16384>>>(1, 128, true, x); }},
        {"warpgroup_of_96", [](float* x) { warpgroup_in_part<<<1, 128, 16384>>>(0, 96, true, x); }},
        {"second_warpgroup_of_96",
         [](float* x) { warpgroup_in_part<<<1, 256, 16384>>>(0, 224, true, x); }},
        {"warpgroup_not_waited_for",
         [](float* x) { warpgroup_in_part<<<1, 128, 16384>>>(0, 128, false, x); }},
        {"own_memory_by_another", [](float* x) { own_memory_by_another<<<dim3(1, 2), 4>>>(x); }},
        {"rank_too_large", [](float* x) { rank_too_large<<<dim3(2, 2), 4>>>(x); }},
        {"not_in_shared_memory", [](float* x) { not_in_shared_memory<<<dim3(2, 2), 4>>>(x); }},
        {"reaches_ended", [](float* x) { reaches_ended<<<dim3(1, 2), 4>>>(x); }},
        {"cpp_add", undefined<Cpp::add>},
        {"cpp_subtract", undefined<Cpp::subtract>},
        {"cpp_multiply", undefined<Cpp::multiply>},
        {"cpp_negate", undefined<Cpp::negate>},
        {"cpp_divide", undefined<Cpp::divide>},
        {"cpp_divide_by_zero", undefined<Cpp::divide_by_zero>},
        {"cpp_shift", undefined<Cpp::shift>},
        {"cpp_array", undefined<Cpp::array>},
        {"cpp_object", undefined<Cpp::object>},
        {"cpp_null_result", undefined<Cpp::null_result>},
        {"cpp_boolean",
         [](float* x) {
             cudaMemset(x + 8, 2, 4);
             undefined<Cpp::boolean>(x);
         }},
        {"cpp_unreachable", undefined<Cpp::unreachable>},
        {"cpp_no_return", undefined<Cpp::no_return>},
        {"cpp_length", undefined<Cpp::length>},
        {"cpp_null", undefined<Cpp::null>},
        {"cpp_leading", undefined<Cpp::leading>},
        {"assertion", [](float* x) { assertion<<<kGrid, kBlock>>>(x); }},
        {"traps", [](float* x) { traps<<<kGrid, kBlock>>>(x); }},
        {"stray", [](float* x) { stray<<<kGrid, kBlock>>>(x); }},
        {"no_threads", [](float* x) { nothing<<<dim3(2, 3), dim3(4, 0, 2)>>>(x); }},
        {"no_blocks", [](float* x) { nothing<<<dim3(2, 3, 0), dim3(4, 2, 2)>>>(x); }},
        {"too_many_threads", [](float* x) { nothing<<<dim3(2, 3), dim3(32, 33)>>>(x); }},
        {"too_deep", [](float* x) { nothing<<<dim3(2, 3), dim3(1, 1, 65)>>>(x); }},
        {"grid_too_wide", [](float* x) { nothing<<<dim3(0x80000000u), 1>>>(x); }},
        {"grid_too_high", [](float* x) { nothing<<<dim3(1, 65536), 1>>>(x); }},
        {"grid_too_deep", [](float* x) { nothing<<<dim3(1, 1, 65536), 1>>>(x); }},
        {"too_much_dynamic", [](float* x) { nothing<<<2, 32, 48 * 1024 + 1>>>(x); }},
        {"arrays_too_large", [](float* x) { large_arrays<<<kGrid, kBlock>>>(x); }},
        {"arrays_and_dynamic", [](float* x) { half_of_it<<<kGrid, kBlock, 16 * 1024 + 4>>>(x); }},
        {"one_too_many_together", [](float* x) { cooperatively(nothing, 9, 1024, x); }},
        {"one_too_many_small_ones", [](float* x) { cooperatively(nothing, dim3(3, 43), 32, x); }},
        {"one_too_many_planes", [](float* x) { cooperatively(nothing, 33, dim3(2, 4, 32), x); }},
        {"skips_in_second_block", [](float* x) { skips_in_second_block<<<2, 32>>>(x); }},
        {"dynamic_of_earlier_block", [](float* x) { second_reads<<<2, 32, 128>>>(x); }},
        {"dynamic_of_earlier_launch",
         [](float* x) {
             stores_at<<<1, 1, 256>>>(x, 40);
             stores_at<<<1, 1, 128>>>(x, 40);
         }},
        {"too_many_together", [](float* x) { cooperatively(nothing, 100000, 1024, x); }},
        {"restricted", [](float* x) { restricted<<<kGrid, kBlock>>>(x, 5, x); }},
        {"symbol_too_small",
         [](float*) {
             const float five[5] = {};
             cudaMemcpyToSymbol(variable, five, 20);
         }},
        {"symbol_offset_too_large",
         [](float*) {
             const float two[2] = {};
             cudaMemcpyToSymbol(variable, two, 8, 12);
         }},
        {"symbol_offset_beyond",
         [](float*) {
             float two[2] = {};
             cudaMemcpyFromSymbol(two, variable, 4, 20);
         }},
        {"no_symbol",
         [](float*) {
             static float host[4];
             const float two[2] = {};
             cudaMemcpyToSymbol(host, two, 8);
         }},
        {"overflow_on_the_host",
         [](float* x) {
             volatile int many = 0x7fffffff, few = -0x7fffffff;
             int sum = 0;
             for (int i = 0; i < 2; ++i) {
                 sum ^= many + 3;
                 sum ^= few - 4;
             }
             cudaMemset(x, 0, sum == 0 ? 4 : 8);
         }},
        {"destroyed_texture", [](float* x) { reads_texture<<<kGrid, kBlock>>>(12345, x); }},
        {"outside_of_surface",
         [](float* x) {
             cudaResourceDesc resource = {};
             cudaArray_t array = nullptr;
             const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
             cudaMallocArray(&array, &floats, 4, 3, cudaArraySurfaceLoadStore);
             resource.resType = cudaResourceTypeArray;
             resource.res.array.array = array;
             cudaSurfaceObject_t surface = 0;
             cudaCreateSurfaceObject(&surface, &resource);
             writes_surface<<<kGrid, kBlock>>>(surface, x);
             cudaDestroySurfaceObject(surface);
             cudaFreeArray(array);
         }},
        {"calls_like_a_function", [](float* x) { nothing(x); }},
        {"calls_a_kernel", [](float* x) { calls_a_kernel<<<kGrid, kBlock>>>(x); }},
    };
}

std::vector<Provoked> right_kernels() {
    return {
        {"as_many_together", [](float* x) { cooperatively(nothing, 8, 1024, x); }},
        {"as_many_small_ones", [](float* x) { cooperatively(nothing, dim3(2, 64), 32, x); }},
        {"returns_before_grid_barrier",
         [](float* x) { cooperatively(returns_before_grid_barrier, 2, 4, x); }},
        {"tiles_of_an_array", [](float*) { tiles_of_an_array<<<1, 8>>>(); }},
        {"as_many_planes", [](float* x) { cooperatively(nothing, 32, dim3(2, 4, 32), x); }},
        {"tiles_of_planes",
         [](float* x) {
             std::uint16_t numbers[128];
             for (int i = 0; i < 128; ++i) numbers[i] = static_cast<std::uint16_t>(1000 + i);
             cudaMemcpy(x, numbers, sizeof(numbers), cudaMemcpyHostToDevice);
             tiles_of_planes<<<1, 1, 10 * 1024>>>(
                 reinterpret_cast<const std::uint16_t*>(x),
                 gpu::tile_map_of_planes(reinterpret_cast<const bf16*>(x), 2, 64, 2, 28, 32, 8));
         }},
        {"tiles_there_and_back",
         [](float* x) {
             float numbers[64];
             for (int i = 0; i < 64; ++i) numbers[i] = static_cast<float>(1000 + i);
             float* from = nullptr;
             cudaMalloc(&from, sizeof(numbers));
             cudaMemcpy(from, numbers, sizeof(numbers), cudaMemcpyHostToDevice);
             tiles_there_and_back<<<1, 1, 2048>>>(from, x, gpu::tile_map(from, 2, 28, 32, 8),
                                                  gpu::tile_map(x, 2, 28, 32, 8));
             cudaFree(from);
         }},
        {"many_tiles",
         [](float* x) {
             constexpr int kBytes = 330 * 400;
             cudaFuncSetAttribute(many_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
             cudaLaunchConfig_t config = {};
             cudaLaunchAttribute of_two[1] = {};
             config.gridDim = 2;
             config.blockDim = 1;
             config.dynamicSmemBytes = kBytes;
             of_two[0].id = cudaLaunchAttributeClusterDimension;
             of_two[0].val.clusterDim.x = 2;
             of_two[0].val.clusterDim.y = of_two[0].val.clusterDim.z = 1;
             config.attrs = of_two;
             config.numAttrs = 1;
             cudaLaunchKernelEx(&config, many_tiles, x);
             cudaFuncSetAttribute(many_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, 0);
         }},
        {"vote_without_returned", [](float* x) { vote_without_returned<false><<<1, kBlock>>>(x); }},
        {"vote_without_returned_by_macro",
         [](float* x) { vote_without_returned<true><<<1, kBlock>>>(x); }},
        {"unset_but_not_read", [](float* x) { unset_operand<2><<<1, kBlock>>>(x); }},
        {"unset_but_right", [](float* x) { unset_but_right<<<1, 16>>>(x); }},
        {"most_threads", [](float* x) { nothing<<<1, 1024>>>(x); }},
        {"most_threads_along_y", [](float* x) { nothing<<<1, dim3(1, 1024)>>>(x); }},
        {"most_threads_along_z", [](float* x) { nothing<<<1, dim3(16, 1, 64)>>>(x); }},
        {"largest_grids",
         [](float* x) {
             only_blocks(0, 1);
             nothing<<<0x7fffffffu, 1>>>(x);
             nothing<<<dim3(1, 65535), 1>>>(x);
             nothing<<<dim3(1, 1, 65535), 1>>>(x);
             only_blocks();
         }},
        {"most_dynamic", [](float* x) { nothing<<<2, 32, 48 * 1024>>>(x); }},
        {"arrays_and_dynamic", [](float* x) { half_of_it<<<1, 1, 16 * 1024>>>(x); }},
        {"restricted_apart", [](float* x) { restricted<<<kGrid, kBlock>>>(x, 5, x + 5); }},
        {"restricted_unwritten", [](float* x) { restricted<<<kGrid, kBlock>>>(x, 0, x); }},
        {"width_16", [](float* x) { width<16><<<1, kBlock>>>(x); }},
        {"width_1", [](float* x) { width<1><<<1, kBlock>>>(x); }},
        {"copy_of_4_bytes", [](float* x) { copy_async<4, 0, 0><<<kGrid, kBlock, 64>>>(x); }},
        {"copy_of_8_bytes", [](float* x) { copy_async<8, 0, 0><<<kGrid, kBlock, 64>>>(x); }},
        {"copy_of_16_bytes", [](float* x) { copy_async<16, 0, 16><<<kGrid, kBlock, 64>>>(x); }},
        {"mbarrier_at_8", [](float* x) { mbarrier_at<8, 1><<<kGrid, kBlock, 64>>>(x); }},
        {"tile_to_1024",
         [](float* x) { tile_to<1024, true, true><<<kGrid, kBlock, 4096>>>(x, map_of(x)); }},
        {"tiles_told", [](float* x) { tile_told<2048><<<kGrid, kBlock, 4096>>>(x, map_of(x)); }},
        {"bulk", [](float* x) { bulk<16, 32, 48, true><<<kGrid, kBlock, 256>>>(x); }},
        {"tile_from_1024", store_tile_from<1024, true, Leaves::nothing>},
        {"warpgroup_fenced_after",
         [](float*) { warpgroup<<<1, 128, 16384>>>(Differs::fenced_after); }},
        {"warpgroup_fenced_in_ptx",
         [](float*) { warpgroup<<<1, 128, 16384>>>(Differs::fenced_in_ptx); }},
        {"warpgroup_nothing", [](float*) { warpgroup<<<1, 128, 16384>>>(Differs::nothing); }},
    };
}

}  // namespace sixdays::emulator::tests
