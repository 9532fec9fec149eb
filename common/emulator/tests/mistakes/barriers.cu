// Barriers and warp calls that some threads miss.
#include "common/emulator/tests/mistakes.hpp"
#include "common/gpu/reduce.hpp"

namespace sixdays::emulator::tests {

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
__global__ void shuffle_in_helper(const float* in, int, float* out) {
    const float sum =
        threadIdx.x < 16 ? gpu::warp_reduce(in[threadIdx.x], gpu::Plus{})  // MARK shuffle_in_helper
                         : 0.0f;
    out[threadIdx.x] = sum;
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

std::vector<Mistake> barriers_mistakes() {
    return {
        {"barrier_in_branch", barrier_in_branch, 1, 64, 64},
        {"barriers_in_both_branches", barriers_in_both_branches, 1, 64, 64},
        {"barriers_in_one_line", barriers_in_one_line, 1, 64, 64},
        {"barrier_count_differs", barrier_count_differs, 1, 64, 64},
        {"shuffle_in_branch", shuffle_in_branch, 1, 32, 32},
        {"shuffle_from_returned", shuffle_from_returned, 1, 32, 32},
        {"calls_in_a_ring", calls_in_a_ring, 1, 32, 32},
        {"shuffle_in_helper", shuffle_in_helper, 1, 32, 32},
        {"not_in_own_mask", not_in_own_mask, 1, 32, 32},
        {"different_calls", different_calls, 1, 32, 32},
    };
}

}  // namespace sixdays::emulator::tests
