// Kernels whose memory traffic trace.cpp derives by hand.
#include "common/emulator/tests/trace.hpp"

namespace sixdays::emulator::tests {

__global__ void copy_kernel(const float* in, float* out, int stride, int shift) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * static_cast<unsigned>(stride) + static_cast<unsigned>(shift)];
}
void trace_copy(const float* in, float* out, int blocks, int threads, int stride, int shift) {
    copy_kernel<<<blocks, threads>>>(in, out, stride, shift);
}

__global__ void copy4_kernel(const float4* in, float4* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}
void trace_copy4(const float* in, float* out, int blocks, int threads) {
    copy4_kernel<<<blocks, threads>>>(reinterpret_cast<const float4*>(in),
                                      reinterpret_cast<float4*>(out));
}

template <int T>
__global__ void trace_matmul_kernel(const float* a, const float* b, int n, float* c) {
    __shared__ float tile_a[T][T];
    __shared__ float tile_b[T][T];
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    const int row = static_cast<int>(blockIdx.y) * T + y,
              col = static_cast<int>(blockIdx.x) * T + x;
    float sum = 0.0f;
    for (int start = 0; start < n; start += T) {
        tile_a[y][x] = a[row * n + start + x];    // LINE load a
        tile_b[y][x] = b[(start + y) * n + col];  // LINE load b
        __syncthreads();
        for (int i = 0; i < T; ++i) {
            sum += tile_a[y][i]     // LINE use a
                   * tile_b[i][x];  // LINE use b
        }
        __syncthreads();
    }
    c[row * n + col] = sum;  // LINE store c
}
void trace_matmul(const float* a, const float* b, int n, float* c) {
    const auto tiles = static_cast<unsigned>(n / 16);
    trace_matmul_kernel<16><<<dim3(tiles, tiles), dim3(16, 16)>>>(a, b, n, c);
}

// One 32 x 32 tile in shared memory, with PAD extra columns.
template <int PAD>
__global__ void transpose_kernel(const float* in, float* out) {
    __shared__ float tile[32][32 + PAD];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[y * 32 + x];
    __syncthreads();
    out[y * 32 + x] = tile[x][y];
}
void trace_transpose(const float* in, float* out, bool padded) {
    if (padded) {
        transpose_kernel<1><<<1, dim3(32, 32)>>>(in, out);
    } else {
        transpose_kernel<0><<<1, dim3(32, 32)>>>(in, out);
    }
}
__global__ void naive_transpose_kernel(const float* in, float* out) {
    out[threadIdx.x * 32 + threadIdx.y] = in[threadIdx.y * 32 + threadIdx.x];
}
void trace_naive_transpose(const float* in, float* out) {
    naive_transpose_kernel<<<1, dim3(32, 32)>>>(in, out);
}

__global__ void reduce_kernel(const float* in, float* out) {
    __shared__ float s[256];
    const unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];  // LINE tree
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
void trace_reduce(const float* in, float* out, int blocks) {
    reduce_kernel<<<blocks, 256>>>(in, out);
}

__global__ void atomics_traced_kernel(int* counts, int bins) {
    __shared__ int mine[32];
    if (threadIdx.x < 32) mine[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&mine[threadIdx.x % 4], 1);                              // LINE shared atomic
    atomicAdd(&counts[threadIdx.x % static_cast<unsigned>(bins)], 1);  // LINE global atomic
}
void trace_atomics(int* counts, int bins) {
    atomics_traced_kernel<<<1, 64>>>(counts, bins);
}

// The same, but nvcc cannot know the amount, and the old values are used.
__global__ void atomics_used_kernel(int* counts, int bins, int amount) {
    __shared__ int mine[32];
    if (threadIdx.x < 32) mine[threadIdx.x] = 0;
    __syncthreads();
    const int here = atomicAdd(&mine[threadIdx.x % 4], amount);
    const int there = atomicAdd(&counts[threadIdx.x % static_cast<unsigned>(bins)], amount);
    counts[64 + threadIdx.x] = here + there;
}
void trace_atomics_used(int* counts, int bins, int amount) {
    atomics_used_kernel<<<1, 64>>>(counts, bins, amount);
}

__global__ void two_of_each_kernel(const float* in, float* out) {
    __shared__ float2 pairs[32];
    const float* const s = &pairs[0].x;
    const unsigned t = threadIdx.x;
    pairs[t] = make_float2(1, 2);  // LINE pair store
    __syncthreads();
    out[t] = in[t] + in[8 * t] + s[t] + s[2 * t];  // LINE two of each
}
__global__ void two_alike_kernel(const float* in, float* out) {
    const unsigned t = threadIdx.x;
    out[t] = in[t] + in[t + 32];  // LINE two alike
}
void trace_two_alike(const float* in, float* out) {
    two_alike_kernel<<<1, 32>>>(in, out);
}
void trace_two_of_each(const float* in, float* out) {
    two_of_each_kernel<<<1, 32>>>(in, out);
}

__global__ void broadcast_kernel(const float* in, float* out) {
    __shared__ float4 wide[64];
    const unsigned t = threadIdx.x;
    wide[t] = make_float4(1, 2, 3, 4);   // LINE wide store
    const float first = in[blockIdx.x];  // LINE broadcast
    __syncthreads();
    const float4 v = wide[(t + 1) % 64];   // LINE wide load
    if (t % 2 == 0) out[t] = first + v.x;  // LINE every other
}
void trace_broadcast(const float* in, float* out) {
    broadcast_kernel<<<1, 64>>>(in, out);
}

}  // namespace sixdays::emulator::tests
