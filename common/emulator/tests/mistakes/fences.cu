// Atomics and fences that should order plain accesses but do not.
#include "common/emulator/tests/mistakes.hpp"

namespace sixdays::emulator::tests {

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
// Like last_block_resets of correct.cu, except for one detail each.
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
// Like last_block_all_fence, without the fence, the barrier, or the barrier after the atomic.
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
    // The value written by lane 0 of the next block's second warp.
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
// Each block has its own flag, so it learns nothing about the other block.
__global__ void flag_of_each_block(const float*, int, float* out) {
    __shared__ unsigned flag;
    if (threadIdx.x != 0) return;
    flag = 0;
    if (blockIdx.x == 0) out[0] = 1.0f;
    __threadfence();
    atomicAdd(&flag, 1u);
    __threadfence();
    if (blockIdx.x == 1) out[0] = 2.0f;  // MARK flag_of_each_block
}

std::vector<Mistake> fences_mistakes() {
    return {
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
        {"flag_of_each_block", flag_of_each_block, 2, 32, 32},
    };
}

}  // namespace sixdays::emulator::tests
