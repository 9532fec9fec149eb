// One planted mistake a kernel. mistakes.cpp looks for the line that bears the mark.
//
// The emulator runs them all (emulator_tests), and so does a GPU, one a process
// (emulator_mistakes_cuda).
#undef NDEBUG  // assert() is under test, in release builds too
#include <cuda_pipeline_primitives.h>

#include <cassert>
#include <cstdint>

#include "common/emulator/tests/mistakes.hpp"
#include "common/gpu/shared_tiles.hpp"

namespace sixdays::emulator::tests {

// --- bounds --------------------------------------------------------------------------------------
__global__ void no_guard(const float* in, int, float* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    out[i] = in[i];  // MARK no_guard one_block_too_many
}
__global__ void one_before(const float* in, int n, float* out) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) out[i] = in[i - 1];  // MARK one_before
}
__global__ void first_past_end(const float* in, int n, float* out) {
    out[threadIdx.x] = (in + n)[threadIdx.x];  // MARK first_past_end
}
__global__ void flip_from_the_start(const float* in, int n, float* out) {
    const int i = static_cast<int>(threadIdx.x);
    const float* row = in;                       // of the last: in + n - 8
    if (i < n) out[i] = row[i % 8 - i / 8 * 8];  // MARK flip_from_the_start
}
__global__ void write_past_end(const float*, int n, float* out) {
    if (threadIdx.x == 5) out[n] = 1.0f;  // MARK write_past_end
}
__global__ void byte_past_end(const float*, int n, float* out) {
    unsigned char* bytes = reinterpret_cast<unsigned char*>(out);
    if (threadIdx.x == 5) bytes[4 * n] = 1;  // MARK byte_past_end
}
__device__ float sum_of(float4 quad) {
    return quad.x + quad.y + quad.z + quad.w;
}
__global__ void quad_as_argument(const float* in, int, float* out) {
    const float4* quads = reinterpret_cast<const float4*>(in);
    out[threadIdx.x] = sum_of(quads[threadIdx.x]);  // MARK quad_as_argument
}
__global__ void far_away(const float*, int, float* out) {
    if (threadIdx.x == 1) out[1ll << 40] = 1.0f;  // MARK far_away
}
__global__ void null_pointer(const float*, int, float*) {
    float* volatile nothing = nullptr;  // volatile: nvcc removes a store that it sees is undefined
    if (threadIdx.x == 2) nothing[gridDim.x] = 1.0f;  // MARK null_pointer
}
__global__ void past_shared_array(const float* in, int, float* out) {
    __shared__ float tile[32];
    const int t = static_cast<int>(threadIdx.x);
    tile[t] = in[t];
    __syncthreads();
    out[t] = tile[t + 1];  // MARK past_shared_array
}
__device__ __forceinline__ float read(const float* p) {
    return *p;  // MARK past_shared_pointer
}
__global__ void past_shared_pointer(const float* in, int, float* out) {
    __shared__ float tile[32];
    __shared__ float next[32];
    const int t = static_cast<int>(threadIdx.x);
    float* p = tile;
    p[t] = in[t];
    next[t] = 0.0f;
    __syncthreads();
    out[t] = read(p + t + 1) + next[t];
}
__global__ void before_shared_array(const float* in, int, float* out) {
    __shared__ float tile[32];
    float* p = tile;
    const int t = static_cast<int>(threadIdx.x);
    p[t] = in[t];
    __syncthreads();
    out[t] = p[t - 1];  // MARK before_shared_array
}
__global__ void past_dynamic(const float* in, int, float* out) {
    extern __shared__ float tile[];
    const int t = static_cast<int>(threadIdx.x);
    tile[t + 1] = in[t];  // MARK past_dynamic
    __syncthreads();
    out[t] = tile[t];
}
__device__ __forceinline__ float read_far(const float* p) {
    return *p;  // MARK next_shared_array
}
__global__ void next_shared_array(const float* in, int, float* out) {
    __shared__ float tile[32];
    __shared__ float other[32];
    const int t = static_cast<int>(threadIdx.x);
    tile[t] = in[t];
    other[t] = 0.0f;
    __syncthreads();
    const float *a = tile, *b = other;
    const float* first = a < b ? a : b;  // the compiler chooses
    out[t] = read_far(first + t + 64);
}
__global__ void next_tile(const float* in, int, float* out) {
    extern __shared__ __align__(16) unsigned char memory[];
    gpu::SharedTiles tiles(memory);
    float* a = tiles.next<float>(32);
    float* b = tiles.next<float>(32);
    const int t = static_cast<int>(threadIdx.x);
    a[t] = in[t];
    b[t] = 0.0f;
    __syncthreads();
    out[t] = a[t + 1] + b[t];  // MARK next_tile
}
__global__ void no_room_for_tile(const float* in, int, float* out) {
    extern __shared__ __align__(16) unsigned char memory[];
    gpu::SharedTiles tiles(memory);
    float* a = tiles.next<float>(32);
    float* b = tiles.next<float>(32);  // MARK no_room_for_tile
    a[threadIdx.x] = in[threadIdx.x];
    b[threadIdx.x] = 1.0f;
    out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}
__global__ void others_local(const float* in, int, float* out) {
    __shared__ const float* where[32];
    const int t = static_cast<int>(threadIdx.x);
    float mine[2] = {in[t], 1.0f};
    where[t] = mine;
    __syncthreads();
    out[t] = *where[(t + 1) % 32];  // MARK others_local
    mine[1] = out[t];
}
__global__ void misaligned(const float* in, int, float* out) {
    const float4 v = *reinterpret_cast<const float4*>(in + 1 + threadIdx.x);  // MARK misaligned
    out[threadIdx.x] = v.x;
}
__global__ void offset_32(const float* in, int, float* out) {
    const int big = 50257 * static_cast<int>(blockDim.x) * 2000;  // MARK offset_32
    out[threadIdx.x] = big > 0 ? in[0] : 0.0f;
}
__global__ void memcpy_past_end(const float* in, int n, float* out) {
    if (threadIdx.x == 0)
        memcpy(out, in, static_cast<std::size_t>(n + 1) * 4);  // MARK memcpy_past_end
}

// --- never written -------------------------------------------------------------------------------
__global__ void unwritten_global(const float* in, int, float* out) {
    out[threadIdx.x] += in[threadIdx.x];  // MARK unwritten_global
}
__global__ void unwritten_shared(const float* in, int, float* out) {
    __shared__ float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x + 32];  // MARK unwritten_shared
}
__global__ void stale_shared(const float* in, int, float* out) {
    __shared__ float tile[32];
    if (blockIdx.x == 0) tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = tile[threadIdx.x];  // MARK stale_shared
}

// --- races ---------------------------------------------------------------------------------------
template <bool FIRST, bool SECOND>
__device__ __forceinline__ void sweep(const float* in, int n, float* out) {
    __shared__ float tile[128];
    const int t = static_cast<int>(threadIdx.x);
    float sum = 0.0f;
    for (int start = 0; start < n; start += 128) {
        tile[t] = in[start + t];
        if (FIRST) __syncthreads();
        sum += tile[(t + 64) % 128];  // MARK no_first_barrier no_second_barrier
        if (SECOND) __syncthreads();
    }
    out[t] = sum;
}
__global__ void no_first_barrier(const float* in, int n, float* out) {
    sweep<false, true>(in, n, out);
}
__global__ void no_second_barrier(const float* in, int n, float* out) {
    sweep<true, false>(in, n, out);
}
__global__ void no_syncwarp(const float* in, int, float* out) {
    __shared__ float s[32];
    const int t = static_cast<int>(threadIdx.x);
    s[t] = in[t];
    __syncwarp();
    for (int half = 16; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];  // MARK no_syncwarp
    }
    if (t == 0) out[0] = s[0];
}
__global__ void volatile_is_no_syncwarp(const float* in, int, float* out) {
    __shared__ volatile float s[32];
    const int t = static_cast<int>(threadIdx.x);
    s[t] = in[t];
    __syncwarp();
    for (int half = 16; half > 0; half /= 2) {
        if (t < half) s[t] = s[t] + s[t + half];  // MARK volatile_is_no_syncwarp
    }
    if (t == 0) out[0] = s[0];
}
__global__ void a_plus_transpose(const float*, int, float* out) {
    const unsigned n = blockDim.x, row = blockIdx.x, col = threadIdx.x;
    out[row * n + col] += out[col * n + row];  // MARK a_plus_transpose
}
__global__ void two_blocks_one_word(const float*, int, float* out) {
    if (threadIdx.x == 0) out[blockIdx.x / 2] = 1.0f;  // MARK two_blocks_one_word
}
__global__ void plain_counter(const float*, int, float* out) {
    *out += 1.0f;  // MARK plain_counter
}
__global__ void another_reads(const float*, int, float* out) {
    if (threadIdx.x == 0) out[1] = out[0];
    if (threadIdx.x == 40) out[0] = 1.0f;  // MARK another_reads
}
__global__ void reads_again_after_barrier(const float*, int, float* out) {
    float x = 0.0f;
    if (threadIdx.x == 0) x = out[0];
    __syncthreads();
    if (threadIdx.x == 0) out[1] = x + out[0];
    if (threadIdx.x == 40) out[0] = 1.0f;  // MARK reads_again_after_barrier
}
__global__ void last_reader_writes(const float*, int, float* out) {
    const float x = out[0];
    if (threadIdx.x == 63) out[0] = x + 1.0f;  // MARK last_reader_writes
}
__global__ void reads_counter_early(const float*, int, float* out) {
    atomicAdd(out, 1.0f);
    if (threadIdx.x == 40) out[1] = *out;  // MARK reads_counter_early
}
__global__ void resets_counter(const float*, int, float* out) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    atomicAdd(&count, 1);  // MARK resets_counter
    __syncthreads();
    out[threadIdx.x] = static_cast<float>(count);
}
__global__ void last_block_without_fence(const float* in, int, float* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        out[1 + blockIdx.x] = in[blockIdx.x];
        unsigned* counter = reinterpret_cast<unsigned*>(out);
        last = atomicAdd(counter, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0.0f;
        for (unsigned b = 0; b < gridDim.x; ++b)
            sum += out[1 + b];  // MARK last_block_without_fence
        out[1] = sum;
    }
}
// As last_block_resets of correct.cu, but for one thing each.
template <bool FENCE, bool LAST_RESETS>
__device__ __forceinline__ void last_block(unsigned& counter, const float* in, float* out) {
    if (threadIdx.x != 0) return;
    out[1 + blockIdx.x] = in[blockIdx.x];
    if (FENCE) __threadfence();
    const bool last = atomicAdd(&counter, 1u) == gridDim.x - 1;  // MARK resets_too_early
    if (FENCE) __threadfence();
    if (last || !LAST_RESETS) counter = 0;
    if (!last) return;
    for (unsigned b = 0; b < gridDim.x; ++b) out[0] += out[1 + b];  // MARK variable_without_fence
}
__device__ unsigned variable_counter = 0;
__global__ void variable_without_fence(const float* in, int, float* out) {
    last_block<false, true>(variable_counter, in, out);
}
__device__ unsigned early_counter = 0;
__global__ void resets_too_early(const float* in, int, float* out) {
    last_block<true, false>(early_counter, in, out);
}
__device__ int variable_last;
__global__ void plain_variable(const float*, int, float* out) {
    if (threadIdx.x == 0) variable_last = static_cast<int>(blockIdx.x);  // MARK plain_variable
    if (threadIdx.x == 0) out[blockIdx.x] = 1.0f;
}
// As last_block_all_fence: the fence, the barrier, and learning from the atomic.
template <bool FENCE, bool BARRIER, bool LEARN>
__device__ __forceinline__ void all_fence(const float* in, float* out) {
    __shared__ bool last;
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[1 + i] = in[i];
    if (FENCE) __threadfence();
    if (BARRIER) __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(reinterpret_cast<unsigned*>(out), 1u) == gridDim.x - 1;
    if (LEARN) __syncthreads();
    if (!LEARN && threadIdx.x != 0) return;
    if (!last) return;
    // What lane 0 of the next block's second warp wrote.
    const unsigned other = (blockIdx.x + 1) % gridDim.x * blockDim.x + 32;
    float x = out[1 + other];  // MARK barrier_without_fence fence_without_barrier atomic_no_fence
    out[200 + threadIdx.x] = x;
}
__global__ void barrier_without_fence(const float* in, int, float* out) {
    all_fence<false, true, true>(in, out);
}
__global__ void fence_without_barrier(const float* in, int, float* out) {
    all_fence<true, false, true>(in, out);
}
__global__ void atomic_no_fence(const float* in, int, float* out) {
    all_fence<true, true, false>(in, out);
}
__global__ void semaphore_without_fence(const float* in, int, float* out) {
    unsigned* turn = reinterpret_cast<unsigned*>(out);
    unsigned ticket = 0;
    if (threadIdx.x == 0) {
        ticket = atomicAdd(turn + 1, 1u);
        while (atomicAdd(turn, 0u) != ticket) {
        }
        __threadfence();
    }
    __syncthreads();
    out[2 + threadIdx.x] += in[threadIdx.x];  // MARK semaphore_without_fence
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(turn, ticket + 1);
}
template <bool FENCE_FIRST, bool SYNC>
__device__ __forceinline__ void pass_on(const float* in, float* out) {
    unsigned* turn = reinterpret_cast<unsigned*>(out);
    unsigned ticket = 0;
    if (threadIdx.x == 0) {
        ticket = atomicAdd(turn + 1, 1u);
        while (atomicAdd(turn, 0u) != ticket) {
        }
    }
    __syncwarp();
    float* mine = out + 2 + threadIdx.x;
    const float old = *mine;  // MARK store_after_fence lanes_not_met
    if (FENCE_FIRST) __threadfence();
    *mine = old + in[threadIdx.x];
    if (!FENCE_FIRST) __threadfence();
    if (SYNC) __syncwarp();
    if (threadIdx.x == 0) atomicExch(turn, ticket + 1);
}
__global__ void store_after_fence(const float* in, int, float* out) {
    pass_on<true, true>(in, out);
}
__global__ void lanes_not_met(const float* in, int, float* out) {
    pass_on<false, false>(in, out);
}
__global__ void cas_of_another_value(const float*, int, float* out) {
    int* word = reinterpret_cast<int*>(out);
    const int seen = *word;  // MARK cas_of_another_value
    if (seen >= 0) atomicCAS(word, 0, static_cast<int>(threadIdx.x) + 1);
}
__global__ void reads_then_adds(const float*, int, float* out) {
    int* word = reinterpret_cast<int*>(out);
    if (*word < 40) atomicAdd(word, 1);  // MARK reads_then_adds
}
__global__ void stores_beside_atomics(const float*, int, float* out) {
    if (threadIdx.x < 63) atomicAdd(out, 1.0f);
    if (threadIdx.x == 63) out[0] = 5.0f;  // MARK stores_beside_atomics
}
__global__ void reads_counter_of_others(const float*, int, float* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) out[1] = out[0];
    if (blockIdx.x == 1) atomicAdd(out, 1.0f);  // MARK reads_counter_of_others
}
__global__ void lanes_agree_too_late(const float*, int, float* out) {
    volatile float* word = out + 1;
    out[0] = static_cast<float>(threadIdx.x);  // MARK lanes_agree_too_late
    if (*word == 0.0f) out[0] = 7.0f;
}
__global__ void lanes_disagree(const float*, int, float* out) {
    out[0] = static_cast<float>(threadIdx.x / 3);  // MARK lanes_disagree
}
__global__ void lanes_disagree_about_quads(const float* in, int, float* out) {
    const float4* quads = reinterpret_cast<const float4*>(in);
    if (threadIdx.x < 4)
        reinterpret_cast<float4*>(out)[threadIdx.x / 2] =  // MARK lanes_disagree_about_quads
            threadIdx.x == 3 ? make_float4(1, 1, 1, 2) : quads[threadIdx.x];
}
__global__ void warps_agree(const float*, int, float* out) {
    out[0] = 1.0f;  // MARK warps_agree
}
__global__ void lanes_of_two_lines(const float*, int, float* out) {
    if (threadIdx.x == 0) out[0] = 1.0f;
    if (threadIdx.x == 1) out[0] = 1.0f;  // MARK lanes_of_two_lines
}
__global__ void neighbour_bytes(const float*, int, float* out) {
    // Thread t writes bytes t and t + 1: every byte but the first is written twice.
    unsigned char* bytes = reinterpret_cast<unsigned char*>(out);
    bytes[threadIdx.x] = 1;  // MARK neighbour_bytes
    bytes[threadIdx.x + 1] = 1;
}
__global__ void across_two_words(const float* in, int, float* out) {
    // Thread 0 writes bytes 1 to 4, thread 1 bytes 4 to 7.
    unsigned char* bytes = reinterpret_cast<unsigned char*>(out);
    if (threadIdx.x == 0) memcpy(bytes + 1, in, 4);
    if (threadIdx.x == 1) out[1] = 2.0f;  // MARK across_two_words
}

// --- barriers and warp calls ---------------------------------------------------------------------
__global__ void barrier_in_branch(const float* in, int, float* out) {
    __shared__ float s[64];
    const int t = static_cast<int>(threadIdx.x);
    s[t] = in[t];
    if (t < 32) __syncthreads();
    out[t] = s[t];
    __syncthreads();  // MARK barrier_in_branch
}
__global__ void barriers_in_both_branches(const float*, int, float* out) {
    if (threadIdx.x % 2 == 0) {
        __syncthreads();
    } else {
        __syncthreads();  // MARK barriers_in_both_branches
    }
    out[threadIdx.x] = 1.0f;
}
__global__ void barriers_in_one_line(const float*, int, float* out) {
    // clang-format off
    if (threadIdx.x % 2 == 0) __syncthreads(); else __syncthreads();  // MARK barriers_in_one_line
    // clang-format on
    out[threadIdx.x] = 1.0f;
}
__global__ void barrier_count_differs(const float*, int, float* out) {
    for (unsigned i = 0; i < threadIdx.x / 32 + 1; ++i)
        __syncthreads();  // MARK barrier_count_differs
    out[threadIdx.x] = 1.0f;
    __syncthreads();
}
__global__ void shuffle_in_branch(const float* in, int, float* out) {
    const int t = static_cast<int>(threadIdx.x);
    float v = in[t];
    if (t < 16) v += __shfl_down_sync(0xffffffffu, v, 8);  // MARK shuffle_in_branch
    __syncthreads();
    out[t] = v;
}
__global__ void shuffle_from_returned(const float* in, int n, float* out) {
    const int t = static_cast<int>(threadIdx.x);
    if (t >= n - 4) return;
    out[t] = __shfl_down_sync(0xffffffffu, in[t], 8);  // MARK shuffle_from_returned
}
__global__ void calls_in_a_ring(const float* in, int, float* out) {
    const unsigned t = threadIdx.x;
    __syncthreads();
    if (t >= 3) return;
    const unsigned mask = 1u << t | 1u << (t + 1) % 3;       // each waits for the next one
    out[t] = __shfl_sync(mask, in[t], static_cast<int>(t));  // MARK calls_in_a_ring
}
__global__ void not_in_own_mask(const float* in, int, float* out) {
    out[threadIdx.x] = __shfl_sync(0x0000ffffu, in[threadIdx.x], 0);  // MARK not_in_own_mask
}
__global__ void different_calls(const float* in, int, float* out) {
    float v = in[threadIdx.x];
    if (threadIdx.x < 16) {
        v = __shfl_xor_sync(0xffffffffu, v, 1);
    } else {
        __syncwarp();  // MARK different_calls
    }
    out[threadIdx.x] = v;
}

// --- the rest ------------------------------------------------------------------------------------
__global__ void missing_wait(const float* in, int, float* out) {
    __shared__ float tile[32];
    __pipeline_memcpy_async(&tile[threadIdx.x], in + threadIdx.x, 4);
    __pipeline_commit();
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];  // MARK missing_wait
}
__global__ void neighbours_missing_wait(const float* in, int, float* out) {
    __shared__ float tile[32];
    __pipeline_memcpy_async(&tile[threadIdx.x], in + threadIdx.x, 4);
    __pipeline_commit();
    __syncthreads();
    out[threadIdx.x] = tile[31 - threadIdx.x];  // MARK neighbours_missing_wait
}
__global__ void wait_too_little(const float* in, int, float* out) {
    __shared__ float tile[2][32];
    const unsigned t = threadIdx.x;
    __pipeline_memcpy_async(&tile[0][t], in + t, 4);
    __pipeline_commit();
    __pipeline_memcpy_async(&tile[1][t], in + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[t] = tile[0][t] + tile[1][t];  // MARK wait_too_little
}
__global__ void refilled_too_early(const float* in, int, float* out) {
    __shared__ float tile[32];
    const unsigned t = threadIdx.x;
    tile[t] = in[t];
    __syncthreads();
    out[t] = tile[31 - t];  // MARK refilled_too_early
    __pipeline_memcpy_async(&tile[t], in + 32 + t, 4);
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    out[32 + t] = tile[t];
}
__global__ void copy_without_barrier(const float* in, int, float* out) {
    __shared__ float tile[64];
    const unsigned t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], in + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    if (t >= 32) out[t] = tile[t - 32];  // MARK copy_without_barrier
}
__global__ void fails_assert(const float*, int n, float*) {
    assert(static_cast<int>(threadIdx.x) + 1 < n);  // MARK fails_assert
}
__global__ void spins(const float*, int, float* out) {
    if (threadIdx.x == 0) {
        const volatile float* flag = out;
        while (*flag == 0.0f) {  // MARK spins
        }
    }
}

__device__ float deeper(const float* in, int n) {  // MARK recursion
    volatile float here[64];
    here[n % 64] = in[0];
    return n == -1 ? here[1] : deeper(in, n + 1) + here[n % 64];
}
__global__ void recursion(const float* in, int, float* out) {
    out[threadIdx.x] = deeper(in, 0);
}
__global__ void endless_loop(const float*, int n, float* out) {
    unsigned i = 1;
    while (i != 0) i = i * 2 + static_cast<unsigned>(n) % 2 + 1;  // MARK endless_loop
    out[threadIdx.x] = 1.0f;
}
__global__ void endless_barriers(const float* in, int, float* out) {
    __shared__ float s[64];
    for (unsigned half = blockDim.x / 2; half > 0; half /= 1) {
        s[threadIdx.x] = in[threadIdx.x];
        __syncthreads();  // MARK endless_barriers
    }
    out[threadIdx.x] = s[threadIdx.x];
}

// Name, kernel, blocks, threads a block, elements of in and of out; bytes of dynamic shared memory;
// whether somebody wrote out before.
const std::vector<Mistake>& mistakes() {
    static const std::vector<Mistake> all = {
        {"no_guard", no_guard, 2, 128, 250},
        {"one_block_too_many", no_guard, 2, 32, 32},
        {"one_before", one_before, 1, 32, 32},
        {"first_past_end", first_past_end, 1, 32, 32},
        {"flip_from_the_start", flip_from_the_start, 1, 32, 32},
        {"write_past_end", write_past_end, 1, 32, 100},
        {"byte_past_end", byte_past_end, 1, 32, 100},
        {"quad_as_argument", quad_as_argument, 1, 32, 32},
        {"far_away", far_away, 1, 32, 32},
        {"null_pointer", null_pointer, 1, 32, 32},
        {"past_shared_array", past_shared_array, 1, 32, 32},
        {"past_shared_pointer", past_shared_pointer, 1, 32, 32},
        {"before_shared_array", before_shared_array, 1, 32, 32},
        {"past_dynamic", past_dynamic, 1, 32, 32, 128},
        {"next_shared_array", next_shared_array, 1, 32, 32},
        {"next_tile", next_tile, 1, 32, 32, 256},
        {"no_room_for_tile", no_room_for_tile, 1, 32, 32, 252},
        {"others_local", others_local, 1, 32, 32},
        {"misaligned", misaligned, 1, 32, 64},
        {"offset_32", offset_32, 1, 32, 32},
        {"memcpy_past_end", memcpy_past_end, 1, 32, 32},
        {"unwritten_global", unwritten_global, 1, 32, 32, 0, false},
        {"unwritten_shared", unwritten_shared, 1, 32, 32},
        {"stale_shared", stale_shared, 2, 32, 64},
        {"no_first_barrier", no_first_barrier, 1, 128, 256},
        {"no_second_barrier", no_second_barrier, 1, 128, 256},
        {"no_syncwarp", no_syncwarp, 1, 32, 32},
        {"volatile_is_no_syncwarp", volatile_is_no_syncwarp, 1, 32, 32},
        {"a_plus_transpose", a_plus_transpose, 8, 8, 64},
        {"two_blocks_one_word", two_blocks_one_word, 4, 32, 32},
        {"plain_counter", plain_counter, 1, 64, 32},
        {"another_reads", another_reads, 1, 64, 32},
        {"reads_again_after_barrier", reads_again_after_barrier, 1, 64, 32},
        {"last_reader_writes", last_reader_writes, 1, 64, 32},
        {"reads_counter_early", reads_counter_early, 1, 64, 32},
        {"resets_counter", resets_counter, 1, 64, 64},
        {"last_block_without_fence", last_block_without_fence, 4, 32, 32},
        {"variable_without_fence", variable_without_fence, 4, 32, 32},
        {"resets_too_early", resets_too_early, 4, 32, 32},
        {"plain_variable", plain_variable, 4, 32, 32},
        {"barrier_without_fence", barrier_without_fence, 4, 40, 256},
        {"fence_without_barrier", fence_without_barrier, 4, 40, 256},
        {"atomic_no_fence", atomic_no_fence, 4, 40, 256},
        {"semaphore_without_fence", semaphore_without_fence, 3, 32, 64},
        {"store_after_fence", store_after_fence, 3, 32, 64},
        {"lanes_not_met", lanes_not_met, 3, 32, 64},
        {"cas_of_another_value", cas_of_another_value, 1, 64, 32},
        {"reads_then_adds", reads_then_adds, 1, 64, 32},
        {"stores_beside_atomics", stores_beside_atomics, 1, 64, 32},
        {"reads_counter_of_others", reads_counter_of_others, 2, 32, 32},
        {"lanes_agree_too_late", lanes_agree_too_late, 1, 32, 32},
        {"lanes_disagree", lanes_disagree, 1, 32, 32},
        {"lanes_disagree_about_quads", lanes_disagree_about_quads, 1, 32, 32},
        {"warps_agree", warps_agree, 1, 64, 32},
        {"lanes_of_two_lines", lanes_of_two_lines, 1, 32, 32},
        {"neighbour_bytes", neighbour_bytes, 1, 32, 64},
        {"across_two_words", across_two_words, 1, 32, 32},
        {"barrier_in_branch", barrier_in_branch, 1, 64, 64},
        {"barriers_in_both_branches", barriers_in_both_branches, 1, 64, 64},
        {"barriers_in_one_line", barriers_in_one_line, 1, 64, 64},
        {"barrier_count_differs", barrier_count_differs, 1, 64, 64},
        {"shuffle_in_branch", shuffle_in_branch, 1, 32, 32},
        {"shuffle_from_returned", shuffle_from_returned, 1, 32, 32},
        {"calls_in_a_ring", calls_in_a_ring, 1, 32, 32},
        {"not_in_own_mask", not_in_own_mask, 1, 32, 32},
        {"different_calls", different_calls, 1, 32, 32},
        {"missing_wait", missing_wait, 1, 32, 32},
        {"neighbours_missing_wait", neighbours_missing_wait, 1, 32, 32},
        {"wait_too_little", wait_too_little, 1, 32, 32},
        {"refilled_too_early", refilled_too_early, 1, 32, 64},
        {"copy_without_barrier", copy_without_barrier, 1, 64, 64},
        {"fails_assert", fails_assert, 1, 32, 20},
        {"spins", spins, 1, 32, 32},
        {"recursion", recursion, 1, 64, 64},
        {"endless_loop", endless_loop, 1, 64, 64},
        {"endless_barriers", endless_barriers, 1, 64, 64},
    };
    return all;
}

void launch(const Mistake& mistake, const float* in, float* out) {
    const auto grid = static_cast<unsigned>(mistake.grid);
    const auto block = static_cast<unsigned>(mistake.block);
    const auto shared_bytes = static_cast<std::size_t>(mistake.shared_bytes);
    const auto kernel = mistake.kernel;
#ifdef SIXDAYS_EMULATED
    // As translate/ would write the launch below, but with the mistake's name for the reports.
    const auto pointer = [kernel](auto) { return kernel; };
    const auto call = [kernel](auto... args) { kernel(args...); };
    configure(mistake.name, pointer, call, grid, block, shared_bytes)(in, mistake.n, out);
#else
    kernel<<<grid, block, shared_bytes>>>(in, mistake.n, out);
#endif
}

}  // namespace sixdays::emulator::tests
