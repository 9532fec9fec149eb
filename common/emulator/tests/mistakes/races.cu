// Two threads access a word in no defined order, or no thread has written it.
#include "common/emulator/tests/mistakes.hpp"

namespace sixdays::emulator::tests {

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
__global__ void lanes_agree_too_late(const float*, int, float* out) {
    volatile float* word = out + 1;
    out[0] = static_cast<float>(threadIdx.x);  // MARK lanes_agree_too_late
    if (*word == 0.0f) out[0] = 7.0f;
}
__global__ void lanes_disagree(const float*, int, float* out) {
    out[0] = static_cast<float>(threadIdx.x / 3);  // MARK lanes_disagree
}
__global__ void lanes_disagree_about_vectors(const float* in, int, float* out) {
    const float4* vectors = reinterpret_cast<const float4*>(in);
    if (threadIdx.x < 4)
        reinterpret_cast<float4*>(out)[threadIdx.x / 2] =  // MARK lanes_disagree_about_vectors
            threadIdx.x == 3 ? make_float4(1, 1, 1, 2) : vectors[threadIdx.x];
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

__global__ void barrier_for_others(const float* in, int, float* out) {
    __shared__ float part[64];
    const unsigned t = threadIdx.x;
    if (t < 32) {
        part[t] = in[t];
        __syncthreads();
    }
    out[t] = part[63 - t];  // MARK barrier_for_others
}

std::vector<Mistake> races_mistakes() {
    return {
        {"unwritten_global", unwritten_global, 1, 32, 32, 0, false},
        {"unwritten_shared", unwritten_shared, 1, 32, 32},
        {"stale_shared", stale_shared, 2, 32, 64},
        {"no_first_barrier", no_first_barrier, 1, 128, 256},
        {"no_second_barrier", no_second_barrier, 1, 128, 256},
        {"barrier_for_others", barrier_for_others, 1, 64, 64},
        {"no_syncwarp", no_syncwarp, 1, 32, 32},
        {"volatile_is_no_syncwarp", volatile_is_no_syncwarp, 1, 32, 32},
        {"a_plus_transpose", a_plus_transpose, 8, 8, 64},
        {"two_blocks_one_word", two_blocks_one_word, 4, 32, 32},
        {"plain_counter", plain_counter, 1, 64, 32},
        {"another_reads", another_reads, 1, 64, 32},
        {"reads_again_after_barrier", reads_again_after_barrier, 1, 64, 32},
        {"last_reader_writes", last_reader_writes, 1, 64, 32},
        {"lanes_agree_too_late", lanes_agree_too_late, 1, 32, 32},
        {"lanes_disagree", lanes_disagree, 1, 32, 32},
        {"lanes_disagree_about_vectors", lanes_disagree_about_vectors, 1, 32, 32},
        {"warps_agree", warps_agree, 1, 64, 32},
        {"lanes_of_two_lines", lanes_of_two_lines, 1, 32, 32},
        {"neighbour_bytes", neighbour_bytes, 1, 32, 64},
        {"across_two_words", across_two_words, 1, 32, 32},
    };
}

}  // namespace sixdays::emulator::tests
