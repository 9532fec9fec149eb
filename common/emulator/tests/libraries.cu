#include "common/emulator/tests/libraries.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_fp16.h>
#include <cuda_profiler_api.h>
#include <curand_kernel.h>
#include <mma.h>
#include <nvtx3/nvToolsExt.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/array>
#include <cuda/std/cmath>
#include <cuda/std/cstdint>
#include <cuda/std/limits>
#include <cuda/std/tuple>
#include <cuda/std/utility>

#include <utility>
#include <vector>

namespace sixdays::emulator::tests {

namespace cg = cooperative_groups;
namespace wmma = nvcuda::wmma;

namespace {

constexpr int kOut = 256;  // values that a kernel can store

__global__ void tiles(int* out) {
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int value = static_cast<int>(threadIdx.x * threadIdx.x % 13);
    const int sum = cg::reduce(tile, value, cg::plus<int>());
    const int most = cg::reduce(tile, value, cg::greater<int>());
    const int running = cg::inclusive_scan(tile, value);
    out[threadIdx.x] = sum * 10000 + most * 100 + running;
}
__global__ void coalesced(int* out) {
    out[threadIdx.x] = 0;
    if (threadIdx.x % 3 == 1) {
        const auto group = cg::coalesced_threads();
        out[threadIdx.x] = static_cast<int>(group.size() * 100 + group.thread_rank());
        out[threadIdx.x] += 10000 * group.shfl(static_cast<int>(threadIdx.x), 2);
    }
}
__global__ void partitions(int* out) {
    const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    const auto part = cg::labeled_partition(tile, static_cast<int>(threadIdx.x % 5));
    out[threadIdx.x] = static_cast<int>(part.size() * 100 + part.thread_rank());
}
// Each block stores and, after a grid barrier, reads what the opposite block has stored.
__global__ void whole_grid(int* out) {
    const auto grid = cg::this_grid();
    out[grid.thread_rank()] = static_cast<int>(grid.thread_rank() * 3);
    grid.sync();
    const int other = out[grid.size() - 1 - grid.thread_rank()];
    grid.sync();
    out[grid.thread_rank()] = other;
}

__device__ float small(int i, int modulus) {
    return static_cast<float>(i % modulus - modulus / 2);
}
__global__ void wmma_half(int* out) {
    __shared__ __half a[256], b[256];
    __shared__ float c[256];
    for (int i = static_cast<int>(threadIdx.x); i < 256; i += 32) {
        a[i] = __float2half(small(i, 7));
        b[i] = __float2half(small(i, 5));
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 1.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = static_cast<int>(threadIdx.x); i < 256; i += 32) out[i] = static_cast<int>(c[i]);
}
// The same 16 x 16 by 16 x 8 product, with the instructions themselves.
__global__ void mma_ptx(int* out) {
    __shared__ alignas(16) __half a[256], b[128];
    const unsigned lane = threadIdx.x;
    for (int i = static_cast<int>(lane); i < 256; i += 32) a[i] = __float2half(small(i, 7));
    for (int i = static_cast<int>(lane); i < 128; i += 32) b[i] = __float2half(small(i, 5));
    __syncwarp();
    unsigned ra[4], rb[2];
    float d[4] = {1, 1, 1, 1};
    const auto at =
        static_cast<unsigned>(__cvta_generic_to_shared(a + lane % 16 * 16 + lane / 16 * 8));
    asm volatile("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
                 : "r"(at));
    const auto bt =
        static_cast<unsigned>(__cvta_generic_to_shared(b + lane % 8 * 16 + lane / 8 % 2 * 8));
    asm volatile("ldmatrix.sync.aligned.x2.m8n8.shared.b16 {%0, %1}, [%2];"
                 : "=r"(rb[0]), "=r"(rb[1])
                 : "r"(bt));
    __shared__ alignas(16) __half across[128];  // b transposed, to be transposed back
    for (unsigned i = lane; i < 128; i += 32) across[i % 16 * 8 + i / 16] = b[i];
    __syncwarp();
    const auto ct = static_cast<unsigned>(__cvta_generic_to_shared(across + lane % 16 * 8));
    unsigned rc[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(rc[0]), "=r"(rc[1])
                 : "r"(ct));
    if (rc[0] != rb[0] || rc[1] != rb[1]) d[0] = 1000;
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    // The same with half sums; each half of each register starts with a different value.
    __half2 halves[2] = {__floats2half2_rn(1, 2), __floats2half2_rn(3, 4)};
    auto* const sums = reinterpret_cast<unsigned*>(halves);
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
        "{%0, %1};"
        : "+r"(sums[0]), "+r"(sums[1])
        : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned place = (lane / 4 + 8 * (i / 2)) * 8 + lane % 4 * 2 + i % 2;
        const __half2 pair = halves[i / 2];
        out[place] = static_cast<int>(d[i]);
        out[128 + place] = static_cast<int>(__half2float(i % 2 == 0 ? pair.x : pair.y));
    }
}
__global__ void intrinsics(int* out) {
    const float third = 1.0f / 3.0f;
    int i = 0;
    out[i++] = __float_as_int(__fmaf_rz(third, third, 1.0f));
    out[i++] = __float_as_int(__fmaf_ru(third, third, 1.0f));
    out[i++] = __float_as_int(__fadd_rd(1.0f, 1e-9f));
    out[i++] = __float_as_int(__fadd_ru(1.0f, 1e-9f));
    out[i++] = __float_as_int(__fdiv_rz(2.0f, 3.0f));
    out[i++] = __float_as_int(__fsqrt_ru(2.0f));
    out[i++] = __float_as_int(__frsqrt_rn(3.0f));
    out[i++] = __dp4a(0x01ff7f80, 0x02030405, 10);
    out[i++] = static_cast<int>(__dp4a(0x01ff7f80u, 0x02030405u, 10u));
    out[i++] = static_cast<int>(__vadd4(0x01ff7f80u, 0x02030405u));
    out[i++] = static_cast<int>(__vabsdiffu4(0x01ff7f80u, 0x02030405u));
    out[i++] = static_cast<int>(__vmaxs2(0x8000ffffu, 0x00010001u));
    out[i++] = __mul24(0x00800001, 3);
    out[i++] = static_cast<int>(__float2uint_rn(2.5f));
    out[i++] = __double2int_rd(-2.5);
    out[i++] = __hadd(2147483647, 1);
    out[i++] = static_cast<int>(__umul64hi(~0ull, 3ull));
    unsigned lane, place, bits;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("bfind.u32 %0, %1;" : "=r"(place) : "r"(0x00012345u));
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(bits) : "r"(12u), "r"(10u), "r"(6u));
    out[i++] = static_cast<int>(lane);
    out[i++] = static_cast<int>(place);
    out[i++] = static_cast<int>(bits);
}

// Values outside the integer type's range, and inexact results. Each takes two words.
__global__ void casts(const double* numbers, int* out) {
    const auto put = [&out](long long value) {
        *out++ = static_cast<int>(value);
        *out++ = static_cast<int>(value >> 32);
    };
    const double big = numbers[0], minus = numbers[1], nan = numbers[2], infinity = numbers[3];
    const auto f = [](double x) { return static_cast<float>(x); };
    put(__float2int_rz(f(big)));
    put(__float2int_rn(f(-infinity)));
    put(__float2int_rd(f(nan)));
    put(__float2uint_rz(f(minus)));
    put(__float2uint_ru(f(2 * big)));
    put(__float2ll_rz(f(1e10 * big)));
    put(__float2ll_rn(f(nan)));
    put(static_cast<long long>(__float2ull_rd(f(minus))));
    put(static_cast<long long>(__float2ull_rz(f(5e9 * big))));
    put(__double2int_rn(nan));
    put(__double2uint_rz(nan));
    put(__double2uint_rz(big));
    put(__double2ll_ru(minus / 2));
    put(static_cast<long long>(__double2ull_rn(infinity)));
    put(__half2int_rz(__float2half(f(infinity))));
    put(__half2short_rn(__float2half(f(-1e5 * big))));
    put(__half2ushort_rz(__float2half(f(minus))));
    put(__half2ushort_rn(__float2half(f(big / 6e8))));
    const auto whole = static_cast<long long>(big);  // 3,000,000,000
    put(__float_as_int(__int2float_rz(static_cast<int>(whole / 2) + 67)));
    put(__float_as_int(__int2float_ru(static_cast<int>(whole / 2) + 1)));
    put(__float_as_int(__uint2float_rd(static_cast<unsigned>(whole) + 255)));
    put(__float_as_int(__ll2float_ru(whole * whole + 1)));
    put(__float_as_int(__ull2float_rz(~0ull - static_cast<unsigned>(whole))));
    put(__float_as_int(__double2float_rd(big / 7)));
    put(__float_as_int(__double2float_ru(big / 7)));
    put(__double_as_longlong(__ll2double_rd(whole * whole - 1)));
    put(__double_as_longlong(__ull2double_ru(~0ull - static_cast<unsigned>(whole))));
}

// Ties, values out of range, the upper half of a pair, registers that hold fewer than 32 bits.
__global__ void conversions(int* out) {
    const float third = 1.0f / 3.0f;
    const float wholes[] = {2.5f, -2.5f, 2.1f, -1.0f, 3e9f};
    const unsigned most = 0xffffffffu;
    const unsigned long long wide = 0x123456789abcdef0ull;
    unsigned short half, brain;
    float back, back_too, whole, sum;
    unsigned pair, pair_too, tf32, none, low;
    int near, down, up, beyond, byte, loaded;
    long long minus;
    double twice;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(third));
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(brain) : "f"(third));
    asm("cvt.f32.f16 %0, %1;" : "=f"(back) : "h"(half));
    asm("cvt.f32.bf16 %0, %1;" : "=f"(back_too) : "h"(brain));
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(1.5f), "f"(-third));
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair_too) : "f"(1.5f), "f"(-third));
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(tf32) : "f"(1.00048828125f));  // a tie: 1 + 2^-11
    asm("cvt.rni.s32.f32 %0, %1;" : "=r"(near) : "f"(wholes[0]));
    asm("cvt.rmi.ftz.s32.f32 %0, %1;" : "=r"(down) : "f"(wholes[1]));
    asm("cvt.rpi.s32.f32 %0, %1;" : "=r"(up) : "f"(wholes[2]));
    asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(none) : "f"(wholes[3]));
    asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(beyond) : "f"(wholes[4]));
    asm("cvt.rn.f32.u32 %0, %1;" : "=f"(whole) : "r"(most));
    asm("cvt.f64.f32 %0, %1;" : "=d"(twice) : "f"(third));
    asm("cvt.s32.s8 %0, %1;" : "=r"(byte) : "r"(0x12345680));
    asm("cvt.u32.u64 %0, %1;" : "=r"(low) : "l"(wide));
    asm("cvt.s64.s32 %0, %1;" : "=l"(minus) : "r"(down));
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(sum) : "f"(third), "f"(3.0f), "f"(-1.0f));
    asm volatile("st.global.cs.b32 [%0], %1;" ::"l"(out + 40), "r"(77));
    asm volatile("ld.global.cg.b32 %0, [%1+4];" : "=r"(loaded) : "l"(out + 39));
    const int all[] = {half,
                       brain,
                       __float_as_int(back),
                       __float_as_int(back_too),
                       static_cast<int>(pair),
                       static_cast<int>(pair_too),
                       static_cast<int>(tf32),
                       near,
                       down,
                       up,
                       static_cast<int>(none),
                       beyond,
                       __float_as_int(whole),
                       __double2hiint(twice),
                       byte,
                       static_cast<int>(low),
                       static_cast<int>(minus),
                       __float_as_int(sum),
                       loaded};
    for (int i = 0; i < 19; ++i) out[i] = all[i];
}
__global__ void scopes(int* out) {
    __shared__ int sum, last;
    __builtin_assume(blockDim.x == 32);
    unsigned long long before, after;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before));
    if (threadIdx.x == 0) sum = out[0] = 0, last = 40;
    __syncthreads();
    const int t = static_cast<int>(threadIdx.x);
    atomicAdd_block(&sum, t);
    atomicMax_system(&out[0], t * t);
    atomicCAS_block(&last, 40, 41);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(after));
    __syncthreads();
    if (threadIdx.x != 0) return;
    const cuda::std::array<int, 3> three{sum, last, after >= before};
    const cuda::std::tuple<int, cuda::std::int32_t> two{__isShared(&sum) != 0,
                                                        __isGlobal(out) != 0};
    for (int i = 0; i < 3; ++i) out[1 + i] = three[static_cast<cuda::std::size_t>(i)];
    out[4] = cuda::std::get<0>(two) * 10 + cuda::std::get<1>(two);
    out[5] = static_cast<int>(__isShared(out)) + static_cast<int>(__isGlobal(&sum));
    out[6] = cuda::std::numeric_limits<int>::max();
    out[7] = static_cast<int>(cuda::std::sqrt(144.0f));
}

// nvcc warns about the constructor of a barrier in shared memory; init() replaces it.
#pragma nv_diag_suppress static_var_with_dynamic_init
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void barriers(int* out) {
    __shared__ Barrier here;
    __shared__ int sums[64];
    if (threadIdx.x == 0) init(&here, blockDim.x);
    __syncthreads();
    int value = static_cast<int>(threadIdx.x);
    for (unsigned distance = 32; distance > 0; distance /= 2) {
        sums[threadIdx.x] = value;
        auto token = here.arrive();
        here.wait(std::move(token));
        value += sums[(threadIdx.x + distance) % 64];
        here.arrive_and_wait();
    }
    out[threadIdx.x] = value + static_cast<int>(threadIdx.x);
}
// Each thread copies its own values, one stage ahead.
__global__ void stages_of_a_thread(int* out) {
    __shared__ int tiles[2][32];
    const int t = static_cast<int>(threadIdx.x);
    for (int k = 0; k < 4; ++k) out[32 * k + t] = k * 100 + t;
    auto pipe = cuda::make_pipeline();
    int sum = 0;
    for (int k = 0; k < 5; ++k) {
        if (k < 4) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tiles[k % 2][t], &out[32 * k + t], sizeof(int), pipe);
            pipe.producer_commit();
        }
        if (k > 0) {
            pipe.consumer_wait();
            sum = sum * 3 + tiles[(k - 1) % 2][t];
            pipe.consumer_release();
        }
    }
    out[t] = sum;
}
// The first warp copies, the second one sums.
__global__ void stages_of_a_block(int* out) {
    __shared__ int tiles[2][32];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    const auto block = cg::this_thread_block();
    const int t = static_cast<int>(threadIdx.x) % 32;
    const bool brings = threadIdx.x < 32;
    for (int k = 0; k < 4 && brings; ++k) out[32 * k + t] = k * 100 + t;
    block.sync();
    auto pipe = cuda::make_pipeline(
        block, &state, brings ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    int sum = 0;
    for (int k = 0; k < 4; ++k) {
        if (brings) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tiles[k % 2][t], &out[32 * k + t],
                               cuda::aligned_size_t<4>(sizeof(int)), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum = sum * 3 + tiles[k % 2][31 - t];
            pipe.consumer_release();
        }
    }
    if (!brings) out[t] = sum;
}
__global__ void heap(int* out) {
    const int n = static_cast<int>(threadIdx.x) + 1;
    int* counted = static_cast<int*>(malloc(sizeof(int) * n));
    int* squares = new int[n];
    for (int i = 0; i < n; ++i) counted[i] = i;
    for (int i = 0; i < n; ++i) squares[i] = counted[i] * counted[i];
    out[threadIdx.x] = squares[n - 1] + counted[n / 2];
    delete[] squares;
    free(counted);
}

// Skips far ahead in the sequences, crosses blocks of four, and converts the bits.
__global__ void random_xorwow(int* out) {
    curandState state;
    curand_init(1234ull << 20, 3, 1000005, &state);
    for (int i = 0; i < 4; ++i) out[i] = static_cast<int>(curand(&state));
    out[4] = static_cast<int>(curand_uniform(&state) * 16777216);
    out[5] = static_cast<int>(curand_uniform_double(&state) * 1e9);
}
__global__ void random_philox(int* out) {
    curandStatePhilox4_32_10_t state;
    curand_init(77, (1ull << 32) + 5, 6, &state);
    for (int i = 0; i < 6; ++i) out[i] = static_cast<int>(curand(&state));
    skipahead(9ull, &state);
    out[6] = static_cast<int>(curand(&state));
    const uint4 four = curand4(&state);
    out[7] = static_cast<int>(four.x);
    out[8] = static_cast<int>(four.y);
    out[9] = static_cast<int>(four.z);
    out[10] = static_cast<int>(four.w);
    out[11] = static_cast<int>(curand_uniform(&state) * 16777216);
}

std::string line(const char* name, const int* device, int n) {
    std::vector<int> host(static_cast<std::size_t>(n));
    const auto error = cudaMemcpy(host.data(), device, host.size() * 4, cudaMemcpyDeviceToHost);
    std::string text = name;
    if (error != cudaSuccess) return text + " " + cudaGetErrorString(error) + "\n";
    for (const int value : host) text += " " + std::to_string(value);
    return text + "\n";
}

}  // namespace

std::string groups_and_units_table() {
    int* out = nullptr;
    if (cudaMalloc(reinterpret_cast<void**>(&out), kOut * sizeof(int)) != cudaSuccess) return "";
    std::string table;
    const auto row_of = [&](const char* name, void (*kernel)(int*), int threads, int values) {
        kernel<<<1, threads>>>(out);
        table += line(name, out, values);
    };
    row_of("tiles", tiles, 64, 64);
    row_of("coalesced", coalesced, 32, 32);
    row_of("partitions", partitions, 32, 32);
    void* arguments[] = {&out};
    cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(whole_grid), dim3(3), dim3(8),
                                arguments, 0, nullptr);
    table += line("whole_grid", out, 24);
    row_of("wmma_half", wmma_half, 32, 256);
    row_of("mma_ptx", mma_ptx, 32, 128);
    table += line("mma_ptx_halves", out + 128, 128);
    row_of("intrinsics", intrinsics, 1, 20);
    row_of("conversions", conversions, 1, 19);
    const double numbers[] = {3e9, -5, NAN, INFINITY};
    double* there = nullptr;
    cudaMalloc(reinterpret_cast<void**>(&there), sizeof(numbers));
    cudaMemcpy(there, numbers, sizeof(numbers), cudaMemcpyHostToDevice);
    casts<<<1, 1>>>(there, out);
    table += line("casts", out, 54);
    cudaFree(there);
    cudaProfilerStart();
    nvtxRangePushA("scopes");
    row_of("scopes", scopes, 32, 8);
    nvtxRangePop();
    cudaProfilerStop();
    row_of("barriers", barriers, 64, 64);
    row_of("stages_of_a_thread", stages_of_a_thread, 32, 32);
    row_of("stages_of_a_block", stages_of_a_block, 64, 32);
    row_of("heap", heap, 40, 40);
    row_of("random_xorwow", random_xorwow, 1, 6);
    row_of("random_philox", random_philox, 1, 12);
    cudaFree(out);
    return table;
}

}  // namespace sixdays::emulator::tests
