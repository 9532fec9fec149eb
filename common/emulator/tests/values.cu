// Kernels with known results: the emulator must compute what a GPU would.
#include <cstdint>
#include <cstdio>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "common/emulator/tests/values.hpp"

namespace sixdays::emulator::tests {

// --- one thread per element, an early return -----------------------------------------------------
__global__ void saxpy_kernel(float a, const float* __restrict__ x, const float* __restrict__ y,
                             std::int64_t n, float* out) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = a * x[i] + y[i];
}

void saxpy(float a, const float* x, const float* y, std::int64_t n, float* out) {
    const int block = 256;
    const auto grid = static_cast<unsigned>((n + block - 1) / block);
    saxpy_kernel<<<grid, block>>>(a, x, y, n, out);
}

// --- tiles in shared memory, a template, a 2-D block ---------------------------------------------
template <int TILE>
__global__ void __launch_bounds__(TILE* TILE)
    matmul_kernel(const float* a, const float* b, int m, int n, int k, float* c) {
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    const int row = static_cast<int>(blockIdx.y) * TILE + y;
    const int col = static_cast<int>(blockIdx.x) * TILE + x;
    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        tile_a[y][x] = row < m && start + x < k ? a[row * k + start + x] : 0.0f;
        tile_b[y][x] = col < n && start + y < k ? b[(start + y) * n + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; ++i) sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = sum;
}

void matmul_16(const float* a, const float* b, int m, int n, int k, float* c) {
    constexpr int TILE = 16;
    const dim3 block(TILE, TILE);
    const dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    matmul_kernel<TILE><<<grid, block>>>(a, b, m, n, k, c);
}

// --- shuffles ------------------------------------------------------------------------------------
template <class T>
__device__ __forceinline__ T warp_sum(T value) {
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    }
    return value;
}

__global__ void warp_sums_kernel(const float* in, int n, float* sums) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const float sum = warp_sum(i < n ? in[i] : 0.0f);
    if (threadIdx.x % warpSize == 0) sums[i / warpSize] = sum;
}

void warp_sums(const float* in, int n, float* sums) {
    warp_sums_kernel<<<(n + 63) / 64, 64>>>(in, n, sums);
}

// --- block sums ----------------------------------------------------------------------------------
// A grid-stride loop, then a tree in shared memory; the block size is a template argument.
template <class T, int THREADS>
__global__ void block_sums_kernel(const T* in, int n, T* sums) {
    __shared__ T partial[THREADS];
    const int t = static_cast<int>(threadIdx.x);
    T sum = 0;
    const int stride = static_cast<int>(gridDim.x * blockDim.x);
    for (int i = static_cast<int>(blockIdx.x * blockDim.x) + t; i < n; i += stride) sum += in[i];
    partial[t] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) partial[t] += partial[t + half];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = partial[0];
}

void block_sums(const float* in, int n, int blocks, float* sums) {
    block_sums_kernel<float, 128><<<blocks, 128, 0, nullptr>>>(in, n, sums);
}

// --- inclusive scan of one block of up to 1024 ---------------------------------------------------
__global__ void scan_kernel(const int* in, int n, int* out) {
    extern __shared__ int values[];
    const int t = static_cast<int>(threadIdx.x);
    values[t] = t < n ? in[t] : 0;
    __syncthreads();
    for (int reach = 1; reach < static_cast<int>(blockDim.x); reach *= 2) {
        const int other = t >= reach ? values[t - reach] : 0;
        __syncthreads();
        values[t] += other;
        __syncthreads();
    }
    if (t < n) out[t] = values[t];
}

void block_scan(const int* in, int n, int* out) {
    scan_kernel<<<1, 1024, 1024 * sizeof(int)>>>(in, n, out);
}

// --- atomics in shared, then in global memory ----------------------------------------------------
__global__ void histogram_kernel(const unsigned char* in, int n, int* counts) {
    __shared__ int mine[256];
    for (int i = static_cast<int>(threadIdx.x); i < 256; i += static_cast<int>(blockDim.x))
        mine[i] = 0;
    __syncthreads();
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) atomicAdd(&mine[in[i]], 1);
    __syncthreads();
    for (int b = static_cast<int>(threadIdx.x); b < 256; b += static_cast<int>(blockDim.x)) {
        if (mine[b] > 0) atomicAdd(&counts[b], mine[b]);
    }
}

void histogram(const unsigned char* in, int n, int* counts) {
    histogram_kernel<<<(n + 95) / 96, 96>>>(in, n, counts);
}

// --- 3-D grids and blocks ------------------------------------------------------------------------
// Each thread writes x + 100 y + 10000 z
// at its position in a row-major (z, y, x) array.
__global__ void coordinates_kernel(int3 extents, int* out) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    const int z = static_cast<int>(blockIdx.z * blockDim.z + threadIdx.z);
    if (x >= extents.x || y >= extents.y || z >= extents.z) return;
    out[(z * extents.y + y) * extents.x + x] = x + 100 * y + 10000 * z;
}

void coordinates(int x, int y, int z, int* out) {
    const dim3 block(4, 3, 2);
    const dim3 grid((x + 3) / 4, (y + 2) / 3, (z + 1) / 2);
    coordinates_kernel<<<grid, block>>>(make_int3(x, y, z), out);
}

// --- dynamic shared memory of a template's type --------------------------------------------------
template <class T>
__global__ void reverse_kernel(const T* in, T* out) {
    extern __shared__ __align__(16) unsigned char raw[];
    T* values = reinterpret_cast<T*>(raw);
    values[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}

void reverse_dynamic(const double* in, int n, double* out) {
    // The element type is deduced, so the launch cannot take the kernel's address.
    reverse_kernel<<<1, n, n * sizeof(double)>>>(in, out);
}

// --- votes, matches, reductions, shuffles of parts of a warp -------------------------------------
__global__ void votes_kernel(unsigned* out) {
    const unsigned lane = threadIdx.x;
    unsigned* mine = out + lane * 12;
    mine[0] = __ballot_sync(0xffffffffu, lane % 3 == 0);
    mine[1] = static_cast<unsigned>(__any_sync(0xffffffffu, lane == 31));
    mine[2] = static_cast<unsigned>(__all_sync(0xffffffffu, lane < 31));
    mine[3] = __match_any_sync(0xffffffffu, lane / 8);
    int all_equal = -1;
    mine[4] = __match_all_sync(0xffffffffu, 7, &all_equal) + static_cast<unsigned>(all_equal);
    mine[5] = __reduce_add_sync(0xffffffffu, lane);
    mine[6] = static_cast<unsigned>(__reduce_min_sync(0xffffffffu, -static_cast<int>(lane)));
    mine[7] = __shfl_up_sync(0xffffffffu, lane, 1);
    mine[8] = __shfl_down_sync(0xffffffffu, lane, 3, 8);
    mine[9] = __shfl_sync(0xffffffffu, lane, 5, 16);
    mine[10] = __reduce_xor_sync(0xffffffffu, 1u << lane);
    // Each half of the warp makes its own call.
    const unsigned half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
    mine[11] = __reduce_max_sync(half, lane);
}

void votes(unsigned* out) {
    votes_kernel<<<1, 32>>>(out);
}

// Of 64 threads, the first `yes` pass a true predicate, which is any nonzero number.
__global__ void barrier_votes_kernel(int* out) {
    int* mine = out + (blockIdx.x * 64 + threadIdx.x) * 12;
    for (const int yes : {64, 0, 1, 63}) {
        const int predicate = static_cast<int>(threadIdx.x) < yes ? -2 : 0;
        *mine++ = __syncthreads_count(predicate);
        *mine++ = __syncthreads_or(predicate);
        *mine++ = __syncthreads_and(predicate);
    }
}

void barrier_votes(int* out) {
    barrier_votes_kernel<<<2, 64>>>(out);
}

// --- every atomic --------------------------------------------------------------------------------
__global__ void atomics_kernel(unsigned* out) {
    const unsigned t = threadIdx.x;
    atomicAdd(&out[0], t);
    atomicSub(&out[1], 1u);
    atomicMin(&out[2], t + 5);
    atomicMax(&out[3], t);
    atomicOr(&out[4], 1u << t % 32);
    atomicAnd(&out[5], ~(1u << t % 32));
    atomicXor(&out[6], t);
    atomicInc(&out[7], 9);
    atomicDec(&out[8], 9);
    atomicAdd(reinterpret_cast<float*>(&out[9]), 0.5f);
    // A lock-free maximum, built from compare-and-swap.
    unsigned seen = out[10 + 1];  // always 0
    while (seen < t) {
        const unsigned before = atomicCAS(&out[10], seen, t);
        if (before == seen) break;
        seen = before;
    }
    atomicAdd(reinterpret_cast<unsigned long long*>(&out[12]), 1ull << 31);
    atomicAdd(reinterpret_cast<double*>(&out[14]), 0.25);
}

void atomics(int threads, unsigned* out) {
    atomics_kernel<<<1, threads>>>(out);
}

// --- __constant__ and __device__ variables, literals, printf -------------------------------------
__constant__ int primes[5] = {2, 3, 5, 7, 11};
__device__ int calls = 0;
static const int squares[4] = {0, 1, 4, 9};

__global__ void variables_kernel(int* out) {
    const int t = static_cast<int>(threadIdx.x);
    out[t] = primes[t] + squares[t % 4];
    atomicAdd(&calls, 1);
    __syncthreads();
    if (t == 0) out[5] = calls;
}

void variables(int* out) {
    variables_kernel<<<1, 5>>>(out);
}

// --- 16-byte loads -------------------------------------------------------------------------------
__global__ void vector_sum_kernel(const float4* in, int n, float* out) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= n) return;
    const float4 v = __ldg(in + i);
    out[i] = fmaxf(v.x, v.y) + rsqrtf(v.z) + static_cast<float>(__float_as_int(v.w) & 1) +
             static_cast<float>(min(i, 3) + __popc(7u) + __clz(1));
}

void vector_sum(const void* float4s, int n, float* out) {
    vector_sum_kernel<<<1, 64>>>(static_cast<const float4*>(float4s), n, out);
}

// --- limits --------------------------------------------------------------------------------------
__global__ void empty_kernel() {}
void launch_empty(int grid, int block) {
    empty_kernel<<<grid, block>>>();
}

__global__ void early_kernel(float* out) {
    __shared__ float part[64];
    if (threadIdx.x >= 60) return;
    part[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = part[59 - threadIdx.x];
}
void return_before_barrier(float* out) {
    early_kernel<<<1, 64>>>(out);
}

__global__ void ahead_kernel(int barriers, float* out) {
    __shared__ float a[64], b[64];
    const unsigned t = threadIdx.x;
    float sum = 0;
    if (barriers == 0) {
        a[t] = b[t] = 1;
        __syncthreads();
        a[t] = 2;
        out[t] = a[63 - t];
        return;
    }
    for (int i = 0; i < 3; ++i) {
        a[t] = static_cast<float>(i);
        if (barriers == 2) __syncthreads();
        b[t] = a[t];
        __syncthreads();
        sum += a[63 - t] * b[63 - t];
    }
    out[t] = sum;
}
void run_a_round_ahead(int barriers, float* out) {
    ahead_kernel<<<1, 64>>>(barriers, out);
}

__global__ void past_if_kernel(float* out) {
    float x = 1.0f;
    if (threadIdx.x < 20) {
        x += __shfl_xor_sync(0xffffffffu, x, 16);
        out[threadIdx.x] = x;
    }
}
void shuffle_past_if(int lanes, float* out) {
    past_if_kernel<<<1, lanes>>>(out);
}

__global__ void exchanged_kernel(const float* in, float* out) {
    float sum = 0;
    for (int k = 0; k < 5; ++k) sum += in[k * 5 + threadIdx.x];  // should be k + 5 * threadIdx.x
    out[threadIdx.x] = sum;
}
void exchange_indices(const float* in, float* out) {
    exchanged_kernel<<<1, 3>>>(in, out);
}

__global__ void dynamic_kernel() {
    extern __shared__ float words[];
    if (threadIdx.x == 0) words[0] = 1.0f;
}
void dynamic_bytes(int bytes, bool ask_first) {
    if (ask_first) {
        cudaFuncSetAttribute(dynamic_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    }
    dynamic_kernel<<<1, 32, bytes>>>();
}

// --- 8- and 16-bit values in inline PTX ----------------------------------------------------------
__global__ void narrow_kernel(unsigned char* bytes, int at, unsigned* out) {
    int sixteen, eight;
    short parts[2];
    asm volatile("ld.global.u8 %0, [%1];" : "=r"(out[0]) : "l"(bytes + at));
    asm volatile("ld.global.s16 %0, [%1];" : "=r"(sixteen) : "l"(bytes));
    asm volatile("ld.global.s8 %0, [%1+1];" : "=r"(eight) : "l"(bytes));
    asm volatile("ld.global.v4.u8 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[3]), "=r"(out[4]), "=r"(out[5]), "=r"(out[6])
                 : "l"(bytes));
    asm volatile("ld.global.v2.s16 {%0, %1}, [%2];" : "=h"(parts[0]), "=h"(parts[1]) : "l"(bytes));
    out[1] = static_cast<unsigned>(sixteen);
    out[2] = static_cast<unsigned>(eight);
    out[7] = static_cast<unsigned>(parts[0] + 10 * parts[1]);
    asm volatile("st.global.u8 [%0], %1;" ::"l"(bytes + 5), "r"(0x12345678));
    asm volatile("st.global.v2.u8 [%0], {%1, %2};" ::"l"(bytes + 2), "r"(0x101), "r"(0x202));
}
void narrow(unsigned char* bytes, int at, unsigned* out) {
    narrow_kernel<<<1, 1>>>(bytes, at, out);
}

// --- __activemask in two branches ----------------------------------------------------------------
__global__ void groups_kernel(int* out) {
    const int lane = static_cast<int>(threadIdx.x);
    if (lane < 10) {
        out[lane] = __popc(__activemask());
    } else {
        out[lane] = __popc(__activemask());
    }
}
void divergent_groups(int* out) {
    groups_kernel<<<1, 32>>>(out);
}

// --- arithmetic and conversions with the rounding mode in the name -----------------------------
#define SIXDAYS_MODES(name, ...) \
    name##_rn(__VA_ARGS__), name##_rz(__VA_ARGS__), name##_rd(__VA_ARGS__), name##_ru(__VA_ARGS__)
__device__ void store_all(const float (&all)[28], float* out) {
    for (int i = 0; i < 28; ++i) out[i] = all[i];
}
__device__ void store_all(const double (&all)[28], double* out) {
    for (int i = 0; i < 28; ++i) out[i] = all[i];
}
__global__ void rounded_floats_kernel(float a, float b, float c, float* out) {
    const float all[] = {SIXDAYS_MODES(__fadd, a, b),   SIXDAYS_MODES(__fsub, a, b),
                         SIXDAYS_MODES(__fmul, a, b),   SIXDAYS_MODES(__fdiv, a, b),
                         SIXDAYS_MODES(__frcp, b),      SIXDAYS_MODES(__fsqrt, c),
                         SIXDAYS_MODES(__fmaf, a, b, c)};
    store_all(all, out);
}
__global__ void rounded_doubles_kernel(double a, double b, double c, double* out) {
    const double all[] = {SIXDAYS_MODES(__dadd, a, b),  SIXDAYS_MODES(__dsub, a, b),
                          SIXDAYS_MODES(__dmul, a, b),  SIXDAYS_MODES(__ddiv, a, b),
                          SIXDAYS_MODES(__drcp, b),     SIXDAYS_MODES(__dsqrt, c),
                          SIXDAYS_MODES(__fma, a, b, c)};
    store_all(all, out);
}
__global__ void rounded_conversions_kernel(long long whole, double x, double* out) {
    const auto positive = static_cast<unsigned long long>(-whole);
    const auto part = static_cast<int>(whole % 2000000000);
    const double all[] = {SIXDAYS_MODES(__ll2float, whole),
                          SIXDAYS_MODES(__ull2float, positive),
                          SIXDAYS_MODES(__int2float, part),
                          SIXDAYS_MODES(__uint2float, static_cast<unsigned>(-part)),
                          SIXDAYS_MODES(__double2float, x),
                          SIXDAYS_MODES(__ll2double, whole),
                          SIXDAYS_MODES(__ull2double, positive)};
    store_all(all, out);
}
void rounded_floats(float a, float b, float c, float* out) {
    rounded_floats_kernel<<<1, 1>>>(a, b, c, out);
}
void rounded_doubles(double a, double b, double c, double* out) {
    rounded_doubles_kernel<<<1, 1>>>(a, b, c, out);
}
void rounded_conversions(long long whole, double x, double* out) {
    rounded_conversions_kernel<<<1, 1>>>(whole, x, out);
}

// --- tensor cores --------------------------------------------------------------------------------
// PTX manual, "Matrix Fragments for mma": lane 4 g + t has rows g and g + 8 of a and column g of b,
// there two adjacent k from 2 t on, or one k of 32 bits, t; then those 8 (or 4) further.
__global__ void mma_kernel(ptx::Factor type, int k, const float* a, const float* b, float* out) {
    const int g = static_cast<int>(threadIdx.x) / 4, t = static_cast<int>(threadIdx.x) % 4;
    const bool wide = type == ptx::Factor::tf32;
    const auto packed = [&](int first, const float* x, int step) {
        if (first >= k) return 0u;
        if (wide) return __float_as_uint(x[first * step]);
        const float one = x[first * step], next = x[first * step + step];
        return type == ptx::Factor::bf16
                   ? __nv_bfloat16(one).bits | unsigned{__nv_bfloat16(next).bits} << 16
                   : __half(one).bits | unsigned{__half(next).bits} << 16;
    };
    std::uint32_t of_a[4], of_b[2];
    for (int i = 0; i < 4; ++i) {
        const int first = wide ? t + i / 2 * 4 : 2 * t + i / 2 * 8;
        of_a[i] = packed(first, a + (g + i % 2 * 8) * k, 1);
        of_b[i / 2] = packed(first, b + g, 8);
    }
    float c[4], d[4], *const mine = out + g * 8 + 2 * t;
    for (int i = 0; i < 4; ++i) c[i] = mine[i / 2 * 64 + i % 2];
    ptx::mma_float(type, k, of_a, of_b, c, d, Site::current());
    for (int i = 0; i < 4; ++i) mine[i / 2 * 64 + i % 2] = d[i];
}
void mma(ptx::Factor type, int k, const float* a, const float* b, float* out) {
    mma_kernel<<<1, 32>>>(type, k, a, b, out);
}

}  // namespace sixdays::emulator::tests
