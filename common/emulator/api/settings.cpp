/// @file
/// Calls that have little or no effect here: further devices, caches, limits, priorities, pools,
/// stream callbacks. Unsupported requests return the error that CUDA returns on a device without
/// the feature.
#include "common/emulator/api/api.hpp"
#include "common/emulator/machine/turn.hpp"
#include "common/emulator/memory/in_flight.hpp"

using namespace sixdays::emulator;  // this file implements the runtime's API

struct CUmemPoolHandle_st {};

namespace {

CUmemPoolHandle_st the_pool;
cudaFuncCache caches = cudaFuncCachePreferNone;
std::size_t limits[] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};  // by cudaLimit

template <class T>
cudaError_t give(T* to, const T& value) {
    if (to == nullptr) return result(cudaErrorInvalidValue);
    *to = value;
    return cudaSuccess;
}

cudaError_t only_device(int device) {
    return result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    if (device != 0 || peer != 0) return result(cudaErrorInvalidDevice);
    return give(can, 0);
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
    return result(cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceDisablePeerAccess(int) {
    return result(cudaErrorInvalidDevice);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
    if (kernel == nullptr) return result(cudaErrorInvalidDeviceFunction);
    return give(attributes,
                {0, 0, 0, 1024, 0, 80, 80, 0, static_cast<int>(shared_limit(kernel)), -1});
}
cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache) {
    return result(kernel == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess);
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
    return give(&caches, config);
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
    return give(config, caches);
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
    return cudaSuccess;  // banks are four bytes wide since compute capability 5.0
}
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
    return give(config, cudaSharedMemBankSizeFourByte);
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
    if (limit < 0 || limit > cudaLimitPersistingL2CacheSize) return result(cudaErrorInvalidValue);
    return give(&limits[limit], value);
}
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
    if (limit < 0 || limit > cudaLimitPersistingL2CacheSize) return result(cudaErrorInvalidValue);
    return give(value, limits[limit]);
}
cudaError_t cudaSetDeviceFlags(unsigned) {
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
    return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority) {
    return give(priority, 0);
}
// All earlier work of the stream is done, so the callback runs now.
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned) {
    const Turn turn;
    if (callback == nullptr) return result(cudaErrorInvalidValue);
    wait_for_stream(stream);
    callback(stream, cudaSuccess, data);
    return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
    const Turn turn;
    if (function == nullptr) return result(cudaErrorInvalidValue);
    return in_order(stream, [=](cudaStream_t s) {
        wait_for_stream(s);
        function(data);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
    if (device != 0) return only_device(device);
    return give(pool, &the_pool);
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
    return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) {
    return cudaSuccess;
}
cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t,
                                    cudaStream_t stream) {
    return cudaMallocAsync(pointer, bytes, stream);
}

cudaError_t cudaMemPrefetchAsync(const void*, std::size_t, cudaMemLocation, unsigned,
                                 cudaStream_t) {
    return cudaSuccess;
}
cudaError_t cudaMemAdvise(const void*, std::size_t, cudaMemoryAdvise, cudaMemLocation) {
    return cudaSuccess;
}

}  // extern "C"
