#include "common/gpu/different.hpp"

#include "common/gpu/launch.hpp"
#include "common/tensor/sentence.hpp"

namespace sixdays::gpu {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kMostBlocks = 4096;  // grid-stride loop, so that few threads add to the counter

__device__ unsigned different_bytes(unsigned a, unsigned b) {
    const unsigned bits = a ^ b;
    return (bits & 0xffu ? 1 : 0) + (bits & 0xff00u ? 1 : 0) + (bits & 0xff0000u ? 1 : 0) +
           (bits & 0xff000000u ? 1 : 0);
}
__device__ unsigned different_bytes(uint4 a, uint4 b) {
    return different_bytes(a.x, b.x) + different_bytes(a.y, b.y) + different_bytes(a.z, b.z) +
           different_bytes(a.w, b.w);
}

// T is unsigned char or, for 16 bytes at once, uint4.
template <class T>
__global__ void count_kernel(const T* a, const T* b, std::int64_t n, unsigned long long* count) {
    unsigned long long mine = 0;
    const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
    std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (; i < n; i += threads) {
        mine += different_bytes(a[i], b[i]);
    }
    if (mine > 0) atomicAdd(count, mine);
}

template <class T>
void count(const void* a, const void* b, std::int64_t n, unsigned long long* count) {
    if (n == 0) return;
    const unsigned grid = blocks_at_most(n, kThreads, kMostBlocks);
    count_kernel<<<grid, kThreads>>>(static_cast<const T*>(a), static_cast<const T*>(b), n, count);
    check_launch("count_kernel", grid, kThreads);
}

bool is_multiple_of_16(const void* p) {
    return reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
}

}  // namespace

std::int64_t count_different(const void* a, const void* b, std::int64_t bytes) {
    if (bytes < 0) {
        reject("count_different: ", bytes, " bytes");
    }
    if (bytes > 0 && (a == nullptr || b == nullptr)) {
        reject("count_different: a null pointer, but ", bytes, " bytes");
    }
    if (bytes == 0) return 0;
    Buffer<unsigned long long> counter(1);
    counter.fill_bytes(0);
    const bool aligned = is_multiple_of_16(a) && is_multiple_of_16(b);
    const std::int64_t pieces = aligned ? bytes / 16 : 0, done = 16 * pieces;
    count<uint4>(a, b, pieces, counter.data());
    count<unsigned char>(static_cast<const char*>(a) + done, static_cast<const char*>(b) + done,
                         bytes - done, counter.data());
    return static_cast<std::int64_t>(counter.download()[0]);
}

}  // namespace sixdays::gpu
