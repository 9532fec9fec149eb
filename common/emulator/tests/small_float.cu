// __half and __nv_bfloat16: the same kernels for the emulator and for a GPU. Results are stored as
// bit patterns.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "common/emulator/tests/small_float.hpp"

namespace sixdays::emulator::tests {

namespace {

using Bits = std::uint32_t;

// --- the two types under one name ----------------------------------------------------------------
__device__ unsigned short bits(__half x) {
    return __half_as_ushort(x);
}
__device__ unsigned short bits(__nv_bfloat16 x) {
    return __bfloat16_as_ushort(x);
}
template <class T>
__device__ T number(Bits b);
template <>
__device__ __half number<__half>(Bits b) {
    return __ushort_as_half(static_cast<unsigned short>(b));
}
template <>
__device__ __nv_bfloat16 number<__nv_bfloat16>(Bits b) {
    return __ushort_as_bfloat16(static_cast<unsigned short>(b));
}
__device__ __half rounded(float x, int how, __half) {
    return how == 0   ? __float2half_rn(x)
           : how == 1 ? __float2half_rz(x)
           : how == 2 ? __float2half_ru(x)
                      : __float2half_rd(x);
}
__device__ __nv_bfloat16 rounded(float x, int how, __nv_bfloat16) {
    return how == 0   ? __float2bfloat16_rn(x)
           : how == 1 ? __float2bfloat16_rz(x)
           : how == 2 ? __float2bfloat16_ru(x)
                      : __float2bfloat16_rd(x);
}
__device__ __half2 pair(__half a, __half b) {
    return __halves2half2(a, b);
}
__device__ __nv_bfloat162 pair(__nv_bfloat16 a, __nv_bfloat16 b) {
    return __halves2bfloat162(a, b);
}

// --- operations ----------------------------------------------------------------------------------
enum Operation { rn, rz, ru, rd, widen, neg, abs, sqrt, add, sub, mul, div, max, min, fma, pairs };
constexpr const char* kNames[] = {
    "from_float_rn", "from_float_rz", "from_float_ru", "from_float_rd", "to_float", "neg",
    "abs",           "sqrt",          "add",           "sub",           "mul",      "div",
    "max",           "min",           "fma",           "fma_of_pairs"};

template <class T>
__device__ Bits result_of(int operation, Bits a_bits, Bits b_bits, Bits c_bits) {
    const T a = number<T>(a_bits), b = number<T>(b_bits), c = number<T>(c_bits);
    switch (operation) {
        case rn:
        case rz:
        case ru:
        case rd:
            return bits(rounded(__uint_as_float(a_bits), operation - rn, a));
        case widen:
            return __float_as_uint(static_cast<float>(a));
        case neg:
            return bits(__hneg(a));
        case abs:
            return bits(__habs(a));
        case sqrt:
            return bits(hsqrt(a));
        case add:
            return bits(__hadd_rn(a, b));
        case sub:
            return bits(__hsub_rn(a, b));
        case mul:
            return bits(__hmul_rn(a, b));
        case div:
            return bits(__hdiv(a, b));
        case max:
            return bits(__hmax(a, b));
        case min:
            return bits(__hmin(a, b));
        case fma:
            return bits(__hfma(a, b, c));
        default: {
            const auto both = __hfma2(pair(a, b), pair(b, c), pair(c, a));
            return bits(both.x) | static_cast<Bits>(bits(both.y)) << 16;
        }
    }
}

template <class T>
__global__ void compute(int operation, const Bits* a, const Bits* b, const Bits* c, int n,
                        Bits* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) out[i] = result_of<T>(operation, a[i], b[i], c[i]);
}

// --- the table -----------------------------------------------------------------------------------
template <class T>
std::vector<Bits> run(int operation, const std::vector<Bits>& a, const std::vector<Bits>& b,
                      const std::vector<Bits>& c) {
    const std::size_t n = a.size(), bytes = n * sizeof(Bits);
    Bits* device = nullptr;
    cudaMalloc(&device, 4 * bytes);
    cudaMemcpy(device, a.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(device + n, b.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(device + 2 * n, c.data(), bytes, cudaMemcpyHostToDevice);
    const auto count = static_cast<int>(n);
    compute<T><<<static_cast<unsigned>((count + 127) / 128), 128>>>(
        operation, device, device + n, device + 2 * n, count, device + 3 * n);
    std::vector<Bits> out(n);
    cudaMemcpy(out.data(), device + 3 * n, bytes, cudaMemcpyDeviceToHost);
    cudaFree(device);
    return out;
}

std::string hexadecimal(Bits x) {
    char text[16];
    std::snprintf(text, sizeof text, "%x", x);
    return text;
}

bool takes_float(int operation) {
    return operation <= rd;
}
int arguments(int operation) {
    return operation < add ? 1 : operation < fma ? 2 : 3;
}

// Zero, the smallest and the largest subnormal, the smallest normal, 1 and its neighbours, 3, the
// largest, infinity and NaN, of both signs.
std::vector<Bits> special(Bits one, Bits infinity) {
    std::vector<Bits> values;
    const Bits smallest_normal = infinity & (~infinity + 1);
    for (const Bits x :
         {Bits{0}, Bits{1}, smallest_normal - 1, smallest_normal, one - 1, one, one + 1,
          one + smallest_normal * 3 / 2, infinity - 1, infinity, infinity + 1}) {
        values.push_back(x);
        values.push_back(x | 0x8000);
    }
    return values;
}
// For each of these values: itself, the midpoint to its neighbour, and the floats on both sides of
// that midpoint.
std::vector<Bits> floats_around(const std::vector<Bits>& values, bool is_half) {
    std::vector<Bits> floats{0x7f7fffff, 0xff7fffff, 0x00000001,
                             0x80000001, 0x7fc01234, 0xffffffff};
    const std::vector<Bits> none(values.size());
    const std::vector<Bits> wide = is_half ? run<__half>(widen, values, none, none)
                                           : run<__nv_bfloat16>(widen, values, none, none);
    const Bits halfway = is_half ? 0x1000 : 0x8000;
    for (const Bits x : wide) {
        for (const Bits more : {Bits{0}, halfway - 1, halfway, halfway + 1})
            floats.push_back(x + more);
    }
    return floats;
}

// One row for all values of the last argument, given the others.
template <class T>
std::string rows(const char* type, int operation, const std::vector<Bits>& values) {
    std::string text;
    const int count = arguments(operation);
    std::vector<Bits> few = values;
    if (count == 3) few = {values.begin() + 6, values.begin() + 14};
    const std::vector<Bits> none{0};
    for (const Bits a : count > 1 ? few : none) {
        for (const Bits b : count > 2 ? few : none) {
            const std::vector<Bits> as(few.size(), a), bs(few.size(), b);
            const auto& last = few;
            const auto out =
                run<T>(operation, count == 1 ? last : as, count == 2 ? last : bs, last);
            text += std::string(type) + ',' + kNames[operation];
            if (count > 1) text += ',' + hexadecimal(a);
            if (count > 2) text += ',' + hexadecimal(b);
            text += ':';
            for (const Bits x : out) text += ',' + hexadecimal(x);
            text += '\n';
        }
    }
    return text;
}

// For many arguments, only a hash of all results.
template <class T>
std::string sum_row(const char* type, int operation) {
    constexpr std::size_t kMany = 1 << 16;
    std::vector<Bits> a(kMany), b(kMany), c(kMany);
    std::uint64_t state = 1;
    const auto next = [&state] {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<Bits>(state >> 32);
    };
    for (std::size_t i = 0; i < kMany; ++i) {
        a[i] = takes_float(operation) ? next() : static_cast<Bits>(i);
        b[i] = next() & 0xffff;
        c[i] = next() & 0xffff;
    }
    std::uint64_t sum = 14695981039346656037u;
    for (const Bits x : run<T>(operation, a, b, c)) sum = (sum ^ x) * 1099511628211u;
    char text[32];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(sum));
    return std::string(type) + ',' + kNames[operation] + ",65536 arguments:," + text + '\n';
}

template <class T>
std::string table_of(const char* type, Bits one, Bits infinity) {
    const std::vector<Bits> values = special(one, infinity);
    std::string text;
    for (int operation = rn; operation <= pairs; ++operation) {
        text += rows<T>(type, operation,
                        takes_float(operation) ? floats_around(values, one == 0x3c00) : values);
        text += sum_row<T>(type, operation);
    }
    return text;
}

// --- shuffles and atomics ------------------------------------------------------------------------
template <class T, class T2>
__device__ void add_up(T one, T2 two, float* sums, T* sum, T2* sum2) {
    if (threadIdx.x == 0) {
        *sum = T(0.0f);
        *sum2 = T2(T(0.0f), T(0.0f));
    }
    __syncthreads();
    atomicAdd(sum, one);
    atomicAdd(sum2, two);
    T warp = one;
    T2 warp2 = two;
    for (int distance = 16; distance > 0; distance /= 2) {
        warp += __shfl_xor_sync(0xffffffffu, warp, distance);
        warp2 += __shfl_down_sync(0xffffffffu, warp2, static_cast<unsigned>(distance));
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    sums[0] = static_cast<float>(*sum);
    sums[1] = static_cast<float>(sum2->x);
    sums[2] = static_cast<float>(warp) * static_cast<float>(blockDim.x) / 32;
    sums[3] = __high2float(warp2) * static_cast<float>(blockDim.x) / 32;
}

__global__ void add_up_both(float* sums) {
    __shared__ __half half_sum;
    __shared__ __half2 half_sums;
    __shared__ __nv_bfloat16 bf16_sum;
    __shared__ __nv_bfloat162 bf16_sums;
    add_up(__float2half(1.0f), __float2half2_rn(1.0f), sums, &half_sum, &half_sums);
    add_up(__float2bfloat16(1.0f), __float2bfloat162_rn(1.0f), sums + 4, &bf16_sum, &bf16_sums);
}

}  // namespace

std::string small_float_table() {
    return table_of<__half>("half", 0x3c00, 0x7c00) +
           table_of<__nv_bfloat16>("bfloat16", 0x3f80, 0x7f80);
}

void small_float_sums(int n, float* eight_sums) {
    add_up_both<<<1, static_cast<unsigned>(n)>>>(eight_sums);
}

}  // namespace sixdays::emulator::tests
