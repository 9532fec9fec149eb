// Correct kernels, each of which an imprecise checker might report.
#include <cstdint>
#include <iterator>

#include "common/emulator/async_copy.hpp"
#include "common/emulator/tests/correct.hpp"

namespace sixdays::emulator::tests {

// The classic: the last block to finish sums the partial results of all.
__global__ void last_block_sums(const float* in, int, float* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        out[1 + blockIdx.x] = in[blockIdx.x];
        __threadfence();
        last = atomicAdd(reinterpret_cast<unsigned*>(out), 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 3) {
        float sum = 0.0f;
        for (unsigned b = 0; b < gridDim.x; ++b) sum += out[1 + b];
        out[1] = sum;
    }
}
// The same, but thread 0 publishes every thread's part after a barrier.
__global__ void last_block_of_many(const float* in, int, float* out) {
    __shared__ bool last;
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[1 + i] = in[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(reinterpret_cast<unsigned*>(out), 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    for (unsigned j = threadIdx.x + blockDim.x; j < gridDim.x * blockDim.x; j += blockDim.x) {
        out[1 + threadIdx.x] += out[1 + j];
    }
}
// With a counter in a variable, which the last block resets by a plain store.
__device__ unsigned blocks_done = 0;
__global__ void last_block_resets(const float* in, int, float* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        out[1 + blockIdx.x] = in[blockIdx.x];
        __threadfence();
        last = atomicInc(&blocks_done, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || threadIdx.x != 0) return;
    for (unsigned b = 0; b < gridDim.x; ++b) out[0] += out[1 + b];
    blocks_done = 0;
}
// Every thread fences its own part, and one thread publishes all of them after a barrier.
__global__ void last_block_all_fence(const float* in, int, float* out) {
    __shared__ bool last;
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[1 + i] = in[i];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(reinterpret_cast<unsigned*>(out), 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    for (unsigned j = threadIdx.x + blockDim.x; j < gridDim.x * blockDim.x; j += blockDim.x) {
        out[1 + threadIdx.x] += out[1 + j];
    }
}
// Each block, in the order of the tickets, adds to the previous block's result.
__global__ void semaphore_chain(const float* in, int, float* out) {
    __shared__ unsigned ticket;
    unsigned* next_ticket = reinterpret_cast<unsigned*>(out);
    unsigned* now_served = next_ticket + 1;
    const unsigned t = threadIdx.x;
    if (t == 0) {
        ticket = atomicAdd(next_ticket, 1u);
        while (atomicAdd(now_served, 0u) != ticket) {
        }
        __threadfence();
    }
    __syncthreads();
    out[2 + t] += in[t];
    __syncthreads();
    if (t == 0) {
        __threadfence();
        atomicExch(now_served, ticket + 1);
    }
}
// Each block waits only for the flag of its predecessor, and so knows of all blocks before. The
// last fence is before or after the last barrier.
template <bool EVERY_THREAD_FENCES>
__device__ __forceinline__ void in_a_row(const float* in, float* out) {
    __shared__ unsigned ticket;
    unsigned* flags = reinterpret_cast<unsigned*>(out);  // flags[0] counts started blocks
    const unsigned t = threadIdx.x;
    if (t == 0) {
        ticket = atomicAdd(flags, 1u);
        while (ticket > 0 && atomicAdd(&flags[ticket], 0u) == 0) {
        }
    }
    __syncthreads();
    float sum = in[t];
    for (unsigned b = 0; b < ticket; ++b) sum += out[32 + b * 32 + t];
    out[32 + ticket * 32 + t] = sum;
    if (EVERY_THREAD_FENCES) __threadfence();
    __syncthreads();
    if (t != 5) return;
    if (!EVERY_THREAD_FENCES) __threadfence();
    atomicExch(&flags[ticket + 1], 1u);
}
__global__ void flags_in_a_row(const float* in, int, float* out) {
    in_a_row<false>(in, out);
}
__global__ void flags_in_a_row_all_fence(const float* in, int, float* out) {
    in_a_row<true>(in, out);
}
// The same with single warps: a warp call passes knowledge on like a barrier.
__global__ void warps_in_a_row(const float* in, int, float* out) {
    unsigned* served = reinterpret_cast<unsigned*>(out);
    const unsigned t = threadIdx.x;
    unsigned ticket = 0;
    if (t == 0) {
        ticket = atomicAdd(served + 1, 1u);
        while (atomicAdd(served, 0u) != ticket) {
        }
    }
    __syncwarp();
    const float neighbour = out[2 + (t + 1) % 32];
    __syncwarp();
    out[2 + t] = neighbour + in[t];
    __threadfence();
    __syncwarp();
    if (t == 0) atomicExch(served, ticket + 1);
}
// An atomic built as CUDA's manual shows: its first read is a plain one.
__device__ void atomic_max(float* address, float value) {
    int* bits = reinterpret_cast<int*>(address);
    int old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
    } while (assumed != old);
}
__device__ void atomic_add(double* address, double value) {
    auto* bits = reinterpret_cast<unsigned long long*>(address);
    unsigned long long old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed,
                        static_cast<unsigned long long>(__double_as_longlong(
                            value + __longlong_as_double(static_cast<long long>(assumed)))));
    } while (assumed != old);
}
__global__ void atomics_by_cas(const float* in, int, float* out) {
    __shared__ float most;
    if (threadIdx.x == 0) most = 0.0f;
    __syncthreads();
    atomic_max(&most, in[threadIdx.x]);
    atomic_max(out, in[threadIdx.x]);
    atomic_add(reinterpret_cast<double*>(out) + 1, in[threadIdx.x]);
    __syncthreads();
    if (blockIdx.x == 0) out[8 + threadIdx.x] = most;
}
// The other warp runs between the plain read and the compare-and-swap. After a fence, all readers
// are kept, and not only two.
template <bool FENCE>
__global__ void cas_after_a_turn(const float* in, int, float* out) {
    if (FENCE) __threadfence();
    int* bits = reinterpret_cast<int*>(out);
    int old = *bits, assumed;
    __syncwarp();
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, assumed + static_cast<int>(in[threadIdx.x]));
    } while (assumed != old);
}
__global__ void lanes_agree(const float* in, int, float* out) {
    __shared__ int any;
    __shared__ float4 found;
    const float4 mark = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
    if (threadIdx.x == 0) any = 0;
    __syncwarp();
    if (in[threadIdx.x] > 3.0f) {
        any = 1;
        found = mark;
    }
    __syncwarp();
    out[threadIdx.x] = static_cast<float>(any) + found.y;
}
template <unsigned WARP>
__global__ void warp_tail(const float* in, int, float* out) {
    __shared__ float s[64];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x / 32 != WARP) return;
    const unsigned t = threadIdx.x % 32;
    s[t] += s[t + 32];
    __syncwarp();
    for (unsigned half = 16; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncwarp();
    }
    if (t == 0) out[0] = s[0];
}
__global__ void half_warps(const float* in, int, float* out) {
    __shared__ float s[32];
    const unsigned t = threadIdx.x, half = t / 16;
    const unsigned mask = half == 0 ? 0x0000ffffu : 0xffff0000u;
    s[t] = in[t];
    for (unsigned i = 0; i <= half; ++i) {  // one more iteration for the second half
        __syncwarp(mask);
        const float next = s[half * 16 + (t + 1) % 16];
        __syncwarp(mask);
        s[t] = next;
    }
    out[t] = s[t];
}
__global__ void shuffle_orders(const float* in, int, float* out) {
    __shared__ float s[32];
    s[threadIdx.x] = in[threadIdx.x];
    const float v = __shfl_xor_sync(0xffffffffu, in[threadIdx.x], 1);
    out[threadIdx.x] = s[threadIdx.x ^ 1] - v;
}
__global__ void grid_stride(const float* in, int n, float* out) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < static_cast<unsigned>(n);
         i += gridDim.x * blockDim.x) {
        out[i] = in[i] + in[(i + 1) % static_cast<unsigned>(n)];
    }
}
__global__ void early_return_before_barrier(const float* in, int n, float* out) {
    __shared__ float s[64];
    const unsigned t = threadIdx.x;
    if (t >= static_cast<unsigned>(n) - 10) return;
    s[t] = in[t];
    __syncthreads();
    out[t] = s[t == 0 ? 0 : t - 1];
}
__global__ void in_place(const float*, int, float* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = out[i] * 2.0f + 1.0f;
}
__global__ void bytes_of_one_word(const float*, int n, float* out) {
    unsigned char* bytes = reinterpret_cast<unsigned char*>(out);
    for (unsigned i = threadIdx.x; i < static_cast<unsigned>(n) * 4; i += blockDim.x) {
        bytes[i] = static_cast<unsigned char>(i);
    }
    __syncthreads();
    const auto* words = reinterpret_cast<const unsigned*>(out);
    if (words[threadIdx.x] == 0) out[0] = 1.0f;
}
__global__ void halves_of_one_word(const float*, int, float* out) {
    reinterpret_cast<unsigned short*>(out)[threadIdx.x] = 1;
    __syncthreads();
    atomicAdd(reinterpret_cast<unsigned*>(out) + threadIdx.x / 2, 1u);
}
struct Padded {
    char small;
    double big;
    int tail;
};
__global__ void padded_structs(const float*, int, float* out) {
    Padded* array = reinterpret_cast<Padded*>(out);
    if (threadIdx.x == 0) {
        array[0].small = 1;
        array[0].big = 2.0;
        array[0].tail = 3;
        array[1] = array[0];
        const Padded copy = array[1];
        array[2] = copy;
    }
}
__global__ void same_word_read_by_all(const float* in, int, float* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = in[0] + in[blockIdx.x];
}
__global__ void two_barriers_reuse(const float* in, int n, float* out) {
    __shared__ float tile[128];
    const unsigned t = threadIdx.x;
    float sum = 0.0f;
    for (unsigned start = 0; start < static_cast<unsigned>(n); start += 128) {
        tile[t] = in[start + t];
        __syncthreads();
        sum += tile[(t + 64) % 128];
        __syncthreads();
    }
    out[t] = sum;
}
__global__ void double_buffer(const float* in, int n, float* out) {
    __shared__ float tile[2][128];
    const unsigned t = threadIdx.x;
    float sum = 0.0f;
    for (unsigned start = 0, b = 0; start < static_cast<unsigned>(n); start += 128, b ^= 1) {
        tile[b][t] = in[start + t];  // the buffer that all left a barrier ago
        __syncthreads();
        sum += tile[b][(t + 64) % 128];
    }
    out[t] = sum;
}
__global__ void pipeline(const float* in, int n, float* out) {
    __shared__ float tile[2][32];
    const unsigned t = threadIdx.x, steps = static_cast<unsigned>(n) / 32;
    float sum = 0.0f;
    async_copy(&tile[0][t], in + t, 4);
    async_commit();
    for (unsigned s = 0; s < steps; ++s) {
        if (s + 1 < steps) async_copy(&tile[(s + 1) % 2][t], in + (s + 1) * 32 + t, 4);
        async_commit();
        async_wait(1);
        __syncthreads();
        sum += tile[s % 2][31 - t];
        __syncthreads();
    }
    out[t] = sum;
}
__global__ void zero_filled_copy(const float* in, int, float* out) {
    __shared__ alignas(16) float tile[4];
    if (threadIdx.x == 0) {
        async_copy(tile, in, 16, 8);
        async_wait_all();
    }
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x % 4];
}
// Eventually the plain read is enough, and no compare-and-swap follows it.
__global__ void maximum_by_cas(const float* in, int n, float* out) {
    int* most = reinterpret_cast<int*>(out);
    const int value =
        static_cast<int>(in[(threadIdx.x * 37 + blockIdx.x * 11) % static_cast<unsigned>(n)]);
    for (int round = 0; round < 3; ++round) {
        int old = *most;
        while (old < value) {
            const int seen = old;
            old = atomicCAS(most, seen, value);
            if (old == seen) break;
        }
    }
}
// A GPU gives 0 for a shift by all 32 bits.
__global__ void shift_by_all_bits(const float*, int n, float* out) {
    const unsigned all = (1u << (static_cast<unsigned>(n) / 8)) - 1;
    out[threadIdx.x] = all == ~0u ? 1.0f : 0.0f;
}
// n: 0 starts no copy, 1 leaves one in flight, 2 or more waits for it.
__global__ void copy_left_behind(const float* in, int n, float* out) {
    __shared__ float tile[256];
    const unsigned t = threadIdx.x, place = (t + static_cast<unsigned>(n)) % 256;
    tile[place] = 0.0f;
    if (n > 0) async_copy(&tile[place], in + t, 4);
    if (n > 0) async_commit();
    if (n > 1) async_wait(0);
    if (n != 1) out[t] = tile[place];
}
__global__ void spin_lock(const float*, int, float* out) {
    unsigned* lock = reinterpret_cast<unsigned*>(out);
    if (threadIdx.x != 0) return;
    while (atomicCAS(lock, 0u, 1u) != 0u) {
    }
    __threadfence();
    out[1] += 1.0f;
    __threadfence();
    atomicExch(lock, 0u);
}
__global__ void threads_wait_for_each_other(const float*, int, float* out) {
    volatile float* flag = out;
    if (threadIdx.x == 0) {
        while (*flag == 0.0f) {
        }
        __threadfence();
        out[2] = out[1];
    } else if (threadIdx.x == 63) {
        out[1] = 5.0f;
        __threadfence();
        *flag = 1.0f;
    }
}
// A thread yields after a number of accesses, even if the last one is to its own array.
__global__ void waits_with_own_array(const float*, int, float* out) {
    const volatile float* flag = out;
    volatile float own[4] = {1.0f, 1.0f, 1.0f, 1.0f};
    if (threadIdx.x < 4) {
        for (unsigned i = 0; i < threadIdx.x; ++i) own[i] = 1.0f;
        while (*flag == 0.0f) {
            for (int i = 0; i < 3; ++i) own[i] = 1.0f;
        }
        out[1 + threadIdx.x] = own[2];
    } else if (threadIdx.x == 63) {
        *const_cast<volatile float*>(flag) = 1.0f;
    }
}
__global__ void warp_aggregated(const float* in, int, float* out) {
    const bool yes = in[threadIdx.x] > 0.0f;
    const unsigned active = __ballot_sync(0xffffffffu, yes);
    if (!yes) return;
    const int leader = __ffs(static_cast<int>(active)) - 1;
    unsigned base = 0;
    if (static_cast<int>(threadIdx.x % 32) == leader) {
        base = atomicAdd(reinterpret_cast<unsigned*>(out), static_cast<unsigned>(__popc(active)));
    }
    base = __shfl_sync(active, base, leader);
    out[1 + base + static_cast<unsigned>(__popc(active & ((1u << threadIdx.x % 32) - 1)))] =
        in[threadIdx.x];
}
__global__ void uniform_condition(const float* in, int, float* out) {
    __shared__ float s[64];
    s[threadIdx.x] = in[threadIdx.x];
    if (__syncthreads_or(in[threadIdx.x] > 1e30f) == 0) {
        const float v = s[63 - threadIdx.x];
        if (blockIdx.x == 1) return;
        __syncthreads();
        s[threadIdx.x] = v;
    }
    out[threadIdx.x] = s[threadIdx.x];
}
__global__ void two_arrays_in_dynamic(const float* in, int, float* out) {
    extern __shared__ float4 raw[];
    float* first = reinterpret_cast<float*>(raw);
    int* second = reinterpret_cast<int*>(first + blockDim.x);
    first[threadIdx.x] = in[threadIdx.x];
    second[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = first[second[blockDim.x - 1 - threadIdx.x]];
}
__global__ void local_arrays(const float* in, int n, float* out) {
    float mine[8];
    for (int i = 0; i < 8; ++i) mine[i] = in[(static_cast<int>(threadIdx.x) + i) % n];
    float* p = mine;
    out[threadIdx.x] = p[static_cast<int>(in[threadIdx.x]) % 8];
}
__global__ void partial_vector(const float*, int, float* out) {
    if (threadIdx.x == 0) {
        float4* v = reinterpret_cast<float4*>(out);
        v[1] = make_float4(1, 2, 3, 4);
        out[8] = 1.0f;  // the rest of v[2] remains unwritten
        v[3] = v[2];
    }
}
__global__ void hashes(const float*, int, float* out) {
    unsigned h = 2166136261u + threadIdx.x;
    for (int i = 0; i < 10; ++i) h = (h ^ 17u) * 16777619u;  // unsigned arithmetic may wrap
    out[threadIdx.x] = static_cast<float>(h >> 8) * (1.0f / 16777216.0f);
}
// A store per four loads, for a long time. n % 5 determines which of the five is each 20,000th
// access, which the emulator treats differently.
__global__ void adds_for_long(const float* in, int n, float* out) {
    float sum = 0.0f;
    for (int i = 0; i < n % 5; ++i) sum += in[0];
    for (int i = 0; i < n; ++i) {
        sum += in[0] + in[1] + in[2] + in[3];
        out[threadIdx.x] = sum;
    }
}
// More fences than a thread's clock can count, and then the first block signals the second one.
__global__ void fences_for_long(const float* in, int n, float* out) {
    unsigned* flag = reinterpret_cast<unsigned*>(out);
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        for (int i = 0; i < n; ++i) __threadfence();
        out[1] = in[0];
        __threadfence();
        atomicExch(flag, 1u);
    } else if (atomicAdd(flag, 0u) == 1) {
        __threadfence();
        out[2] = out[1];
    }
}

namespace {

struct Right {
    const char* name;
    void (*kernel)(const float*, int, float*);
};

constexpr Right kRight[] = {
    {"last_block_sums", last_block_sums},
    {"last_block_of_many", last_block_of_many},
    {"last_block_resets", last_block_resets},
    {"last_block_all_fence", last_block_all_fence},
    {"semaphore_chain", semaphore_chain},
    {"flags_in_a_row", flags_in_a_row},
    {"flags_in_a_row_all_fence", flags_in_a_row_all_fence},
    {"warps_in_a_row", warps_in_a_row},
    {"atomics_by_cas", atomics_by_cas},
    {"cas_after_a_turn", cas_after_a_turn<false>},
    {"cas_after_a_fence", cas_after_a_turn<true>},
    {"lanes_agree", lanes_agree},
    {"warp_tail", warp_tail<0>},
    {"tail_of_second_warp", warp_tail<1>},
    {"half_warps", half_warps},
    {"shuffle_orders", shuffle_orders},
    {"grid_stride", grid_stride},
    {"early_return_before_barrier", early_return_before_barrier},
    {"in_place", in_place},
    {"bytes_of_one_word", bytes_of_one_word},
    {"halves_of_one_word", halves_of_one_word},
    {"padded_structs", padded_structs},
    {"same_word_read_by_all", same_word_read_by_all},
    {"two_barriers_reuse", two_barriers_reuse},
    {"double_buffer", double_buffer},
    {"pipeline", pipeline},
    {"zero_filled_copy", zero_filled_copy},
    {"maximum_by_cas", maximum_by_cas},
    {"shift_by_all_bits", shift_by_all_bits},
    {"copy_left_behind", copy_left_behind},
    {"spin_lock", spin_lock},
    {"threads_wait_for_each_other", threads_wait_for_each_other},
    {"waits_with_own_array", waits_with_own_array},
    {"warp_aggregated", warp_aggregated},
    {"uniform_condition", uniform_condition},
    {"two_arrays_in_dynamic", two_arrays_in_dynamic},
    {"local_arrays", local_arrays},
    {"partial_vector", partial_vector},
    {"hashes", hashes},
    {"adds_for_long", adds_for_long},
    {"fences_for_long", fences_for_long},
};

}  // namespace

// The launch as translate/ would write it, so that the kernel's name comes from the table.
bool run_right(const std::string& name, int grid, int block, int shared_bytes, const float* in,
               int n, float* out) {
    for (const Right& r : kRight) {
        if (name != r.name) continue;
        const auto pointer = [&r](auto) { return r.kernel; };
        const auto call = [kernel = r.kernel](auto... args) { kernel(args...); };
        configure(r.name, pointer, call, static_cast<unsigned>(grid), static_cast<unsigned>(block),
                  static_cast<std::size_t>(shared_bytes))(in, n, out);
        return true;
    }
    return false;
}

int count_of_right() {
    return static_cast<int>(std::size(kRight));
}

}  // namespace sixdays::emulator::tests
