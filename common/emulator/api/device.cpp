/// @file
/// The only device: it has the limits of compute capability 8.0 and few SMs, so that grid-stride
/// loops iterate.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "common/emulator/api/api.hpp"
#include "common/emulator/machine/block.hpp"
#include "common/emulator/machine/turn.hpp"
#include "common/emulator/memory/cluster.hpp"
#include "common/emulator/memory/memory.hpp"

namespace {

using sixdays::emulator::result;

constexpr int kMultiprocessors = 4;
constexpr int kThreadsPerMultiprocessor = 2048;
constexpr int kBlocksPerMultiprocessor = 32;
constexpr int kSharedPerMultiprocessor = 164 * 1024;
constexpr int kRegisters = 65536;
constexpr int kReservedShared = 1024;  // CUDA reserves this much of each block's shared memory
constexpr int kVersion = 13000;

// The results of cudaDeviceGetAttribute.
constexpr std::pair<cudaDeviceAttr, int> kAttributes[] = {
    {cudaDevAttrMaxThreadsPerBlock, 1024},
    {cudaDevAttrMaxBlockDimX, 1024},
    {cudaDevAttrMaxBlockDimY, 1024},
    {cudaDevAttrMaxBlockDimZ, 64},
    {cudaDevAttrMaxGridDimX, 2147483647},
    {cudaDevAttrMaxGridDimY, 65535},
    {cudaDevAttrMaxGridDimZ, 65535},
    {cudaDevAttrMaxSharedMemoryPerBlock, sixdays::emulator::kStaticSharedLimit},
    {cudaDevAttrMaxSharedMemoryPerBlockOptin, sixdays::emulator::kDynamicSharedLimit},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, kSharedPerMultiprocessor},
    {cudaDevAttrTotalConstantMemory, 65536},
    {cudaDevAttrWarpSize, 32},
    {cudaDevAttrMaxRegistersPerBlock, kRegisters},
    {cudaDevAttrMaxRegistersPerMultiprocessor, kRegisters},
    {cudaDevAttrMultiProcessorCount, kMultiprocessors},
    {cudaDevAttrMaxThreadsPerMultiProcessor, kThreadsPerMultiprocessor},
    {cudaDevAttrMaxBlocksPerMultiprocessor, kBlocksPerMultiprocessor},
    {cudaDevAttrComputeCapabilityMajor, 8},
    {cudaDevAttrCanMapHostMemory, 1},
    {cudaDevAttrCooperativeLaunch, 1},
    {cudaDevAttrClusterLaunch, 1},
    {cudaDevAttrGpuOverlap, 1},
    {cudaDevAttrConcurrentKernels, 1},
    {cudaDevAttrAsyncEngineCount, 1},
    {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrManagedMemory, 1},
    {cudaDevAttrConcurrentManagedAccess, 1},
    {cudaDevAttrMemoryPoolsSupported, 1},
    // There is no clock, bus or cache here: 0 means "unknown".
    {cudaDevAttrComputeCapabilityMinor, 0},
    {cudaDevAttrClockRate, 0},
    {cudaDevAttrMemoryClockRate, 0},
    {cudaDevAttrGlobalMemoryBusWidth, 0},
    {cudaDevAttrL2CacheSize, 0},
    {cudaDevAttrIntegrated, 0},
    {cudaDevAttrComputeMode, 0},
    {cudaDevAttrStreamPrioritiesSupported, 0},
    {cudaDevAttrPageableMemoryAccess, 0},
    {cudaDevAttrHostNativeAtomicSupported, 0},
};

std::set<const void*>& in_large_clusters() {
    static auto& kernels = *new std::set<const void*>;  // used until the program ends
    return kernels;
}

std::map<const void*, std::size_t>& shared_limits() {
    static auto& limits = *new std::map<const void*, std::size_t>;
    return limits;
}

bool is_device(int device) {
    return device == 0;
}

}  // namespace

namespace sixdays::emulator {

unsigned most_of_cluster(const void* kernel) {
    // As below: a launch that cannot name its kernel may be of any of them.
    const auto& large = in_large_clusters();
    const bool allowed = kernel == nullptr ? !large.empty() : large.count(kernel) > 0;
    return allowed ? kMostOfCluster : 8;
}

std::size_t shared_limit(const void* kernel) {
    std::size_t limit = kStaticSharedLimit;
    for (const auto& [address, bytes] : shared_limits()) {
        // A launch that cannot name its kernel's address gets the largest limit of any kernel.
        if (kernel == nullptr || address == kernel) limit = std::max(limit, bytes);
    }
    return limit;
}

// Not a real time, but it advances: a kernel that waits for the clock terminates.
long long ticks() noexcept {
    static long long asked = 0;
    return ++asked;
}

}  // namespace sixdays::emulator

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
    if (count == nullptr) return result(cudaErrorInvalidValue);
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    return result(is_device(device) ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDevice(int* device) {
    if (device == nullptr) return result(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
    if (version == nullptr) return result(cudaErrorInvalidValue);
    *version = kVersion;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
    return cudaDriverGetVersion(version);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    if (properties == nullptr) return result(cudaErrorInvalidValue);
    if (!is_device(device)) return result(cudaErrorInvalidDevice);
    cudaDeviceProp p{};
    std::strncpy(p.name, "sixdays CPU emulator", sizeof(p.name) - 1);
    p.totalGlobalMem = sixdays::emulator::kHeapBytes;
    p.sharedMemPerBlock = sixdays::emulator::kStaticSharedLimit;
    p.regsPerBlock = kRegisters;
    p.warpSize = 32;
    p.maxThreadsPerBlock = 1024;
    p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
    p.maxThreadsDim[2] = 64;
    p.maxGridSize[0] = 2147483647;
    p.maxGridSize[1] = p.maxGridSize[2] = 65535;
    p.totalConstMem = 65536;
    p.major = 8;
    p.multiProcessorCount = kMultiprocessors;
    p.unifiedAddressing = 1;
    p.maxThreadsPerMultiProcessor = kThreadsPerMultiprocessor;
    p.sharedMemPerMultiprocessor = kSharedPerMultiprocessor;
    p.regsPerMultiprocessor = kRegisters;
    p.sharedMemPerBlockOptin = sixdays::emulator::kDynamicSharedLimit;
    p.maxBlocksPerMultiProcessor = kBlocksPerMultiprocessor;
    p.cooperativeLaunch = p.clusterLaunch = p.canMapHostMemory = 1;
    p.managedMemory = p.concurrentManagedAccess = 1;
    p.deviceOverlap = p.asyncEngineCount = p.concurrentKernels = 1;
    p.memoryPoolsSupported = p.globalL1CacheSupported = p.localL1CacheSupported = 1;
    p.memPitch = 2147483647;
    p.textureAlignment = p.surfaceAlignment = 512;
    p.texturePitchAlignment = 32;
    p.reservedSharedMemPerBlock = kReservedShared;
    *properties = p;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    if (value == nullptr) return result(cudaErrorInvalidValue);
    if (!is_device(device)) return result(cudaErrorInvalidDevice);
    for (const auto& [known, what] : kAttributes) {
        if (known != attribute) continue;
        *value = what;
        return cudaSuccess;
    }
    return result(cudaErrorInvalidValue);
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
    const sixdays::emulator::Turn turn;
    if (kernel == nullptr) return result(cudaErrorInvalidDeviceFunction);
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;
    if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) {
        in_large_clusters().erase(kernel);
        if (value != 0) in_large_clusters().insert(kernel);
        return cudaSuccess;
    }
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        static_cast<std::size_t>(value) > sixdays::emulator::kDynamicSharedLimit) {
        return result(cudaErrorInvalidValue);
    }
    shared_limits()[kernel] = static_cast<std::size_t>(value);
    return cudaSuccess;
}

// Registers are unknown here, so only threads and shared memory count.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                          int threads, std::size_t shared_bytes) {
    if (blocks == nullptr || kernel == nullptr || threads <= 0 || threads > 1024) {
        return result(cudaErrorInvalidValue);
    }
    const int warps = (threads + 31) / 32;
    const auto by_shared =
        kSharedPerMultiprocessor / (shared_bytes + static_cast<std::size_t>(kReservedShared));
    *blocks = std::min({kBlocksPerMultiprocessor, kThreadsPerMultiprocessor / 32 / warps,
                        static_cast<int>(by_shared)});
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxPotentialBlockSize(int* blocks, int* threads, const void* kernel,
                                               std::size_t shared_bytes, int most_threads) {
    if (blocks == nullptr || threads == nullptr) return result(cudaErrorInvalidValue);
    const int most = most_threads > 0 && most_threads < 1024 ? most_threads : 1024;
    int best = 0;
    for (int candidate = most; candidate > 0; candidate = (candidate - 1) / 32 * 32) {
        int resident = 0;
        const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &resident, kernel, candidate, shared_bytes);
        if (error != cudaSuccess) return error;
        if (resident * candidate <= best) continue;
        best = resident * candidate;
        *threads = candidate;
        *blocks = resident * kMultiprocessors;
    }
    return best > 0 ? cudaSuccess : result(cudaErrorInvalidValue);
}

}  // extern "C"
