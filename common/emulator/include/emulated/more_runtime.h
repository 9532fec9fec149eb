/// @file
/// Runtime calls that only other programs use: managed and mapped memory, further devices (none),
/// settings (most have no effect here), stream callbacks, memory pools.
#pragma once

#include "emulated/vector_types.h"

#define CUDART_CB
#define CUDART_VERSION 13000

constexpr unsigned cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaMemAttachSingle = 4;
constexpr unsigned cudaHostAllocPortable = 1, cudaHostAllocMapped = 2,
                   cudaHostAllocWriteCombined = 4;
constexpr unsigned cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1,
                   cudaHostRegisterMapped = 2;
constexpr unsigned cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1,
                   cudaDeviceScheduleYield = 2, cudaDeviceScheduleBlockingSync = 4,
                   cudaDeviceBlockingSync = 4, cudaDeviceMapHost = 8;
constexpr unsigned cudaEventInterprocess = 4, cudaEventRecordDefault = 0;
constexpr int cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2;

enum cudaComputeMode {
    cudaComputeModeDefault = 0,
    cudaComputeModeExclusive = 1,
    cudaComputeModeProhibited = 2,
    cudaComputeModeExclusiveProcess = 3
};
enum cudaFuncCache {
    cudaFuncCachePreferNone = 0,
    cudaFuncCachePreferShared = 1,
    cudaFuncCachePreferL1 = 2,
    cudaFuncCachePreferEqual = 3
};
enum cudaSharedMemConfig {
    cudaSharedMemBankSizeDefault = 0,
    cudaSharedMemBankSizeFourByte = 1,
    cudaSharedMemBankSizeEightByte = 2
};
enum cudaSharedCarveout {
    cudaSharedmemCarveoutDefault = -1,
    cudaSharedmemCarveoutMaxShared = 100,
    cudaSharedmemCarveoutMaxL1 = 0
};
enum cudaLimit {
    cudaLimitStackSize = 0,
    cudaLimitPrintfFifoSize = 1,
    cudaLimitMallocHeapSize = 2,
    cudaLimitDevRuntimeSyncDepth = 3,
    cudaLimitDevRuntimePendingLaunchCount = 4,
    cudaLimitMaxL2FetchGranularity = 5,
    cudaLimitPersistingL2CacheSize = 6
};
enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1,
    cudaMemAdviseUnsetReadMostly = 2,
    cudaMemAdviseSetPreferredLocation = 3,
    cudaMemAdviseUnsetPreferredLocation = 4,
    cudaMemAdviseSetAccessedBy = 5,
    cudaMemAdviseUnsetAccessedBy = 6
};
enum cudaMemLocationType {
    cudaMemLocationTypeInvalid = 0,
    cudaMemLocationTypeDevice = 1,
    cudaMemLocationTypeHost = 2
};
struct cudaMemLocation {
    cudaMemLocationType type;
    int id;
};
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold = 4 };
typedef struct CUmemPoolHandle_st* cudaMemPool_t;

struct cudaFuncAttributes {
    std::size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
    int maxDynamicSharedSizeBytes, preferredShmemCarveout;
};

// Settings of caches and peer devices: accepted, without effect.
enum cudaAccessProperty {
    cudaAccessPropertyNormal = 0,
    cudaAccessPropertyStreaming = 1,
    cudaAccessPropertyPersisting = 2
};
struct cudaAccessPolicyWindow {
    void* base_ptr;
    std::size_t num_bytes;
    float hitRatio;
    cudaAccessProperty hitProp, missProp;
};
union cudaLaunchAttributeValue {
    cudaAccessPolicyWindow accessPolicyWindow;
    int cooperative, priority, programmaticStreamSerializationAllowed;
    struct {
        unsigned x, y, z;
    } clusterDim;
};
enum cudaLaunchAttributeID {
    cudaLaunchAttributeAccessPolicyWindow = 1,
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeClusterDimension = 4,
    cudaLaunchAttributeProgrammaticStreamSerialization = 6,
    cudaLaunchAttributePriority = 8
};
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    std::size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute* attrs;
    unsigned numAttrs;
};
typedef cudaLaunchAttributeValue cudaStreamAttrValue;
typedef cudaLaunchAttributeID cudaStreamAttrID;
constexpr cudaLaunchAttributeID cudaStreamAttributeAccessPolicyWindow =
    cudaLaunchAttributeAccessPolicyWindow;
enum cudaDeviceP2PAttr {
    cudaDevP2PAttrPerformanceRank = 1,
    cudaDevP2PAttrAccessSupported = 2,
    cudaDevP2PAttrNativeAtomicSupported = 3
};

typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void* data);
typedef void (*cudaHostFn_t)(void* data);

extern "C" {
cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes,
                              unsigned flags = cudaMemAttachGlobal);
cudaError_t cudaMemPrefetchAsync(const void* p, std::size_t bytes, cudaMemLocation to,
                                 unsigned flags, cudaStream_t stream = nullptr);
cudaError_t cudaMemAdvise(const void* p, std::size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation where);
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
cudaError_t cudaHostRegister(void* host, std::size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* host);
cudaError_t cudaMemset2D(void* to, std::size_t pitch, int byte, std::size_t width,
                         std::size_t height);

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           std::size_t bytes);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes, cudaStream_t stream = nullptr);

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel);
cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache config);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config);
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value);
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes_to_keep);
cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream);
}

// --- C++ overloads -------------------------------------------------------------------------------
template <class T>
cudaError_t cudaMallocManaged(T** pointer, std::size_t bytes,
                              unsigned flags = cudaMemAttachGlobal) {
    return cudaMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <class T>
cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaStream_t stream) {
    return cudaMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream);
}
template <class T>
cudaError_t cudaMallocFromPoolAsync(T** pointer, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
    return cudaMallocFromPoolAsync(reinterpret_cast<void**>(pointer), bytes, pool, stream);
}
template <class T>
cudaError_t cudaMallocHost(T** pointer, std::size_t bytes, unsigned flags) {
    return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <class T>
cudaError_t cudaHostAlloc(T** pointer, std::size_t bytes, unsigned flags) {
    return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned flags) {
    return cudaHostGetDevicePointer(reinterpret_cast<void**>(device), host, flags);
}
inline cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID,
                                          const cudaStreamAttrValue*) {
    return cudaSuccess;
}
inline cudaError_t cudaCtxResetPersistingL2Cache() {
    return cudaSuccess;
}
inline cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int, int) {
    *value = 0;
    return cudaErrorInvalidDevice;  // there is only one device
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
    return cudaEventCreateWithFlags(event, flags);
}
// Before CUDA 13, programs passed the device number.
inline cudaError_t cudaMemPrefetchAsync(const void* p, std::size_t bytes, int device,
                                        cudaStream_t stream = nullptr) {
    return cudaMemPrefetchAsync(p, bytes, cudaMemLocation{cudaMemLocationTypeDevice, device}, 0,
                                stream);
}
inline cudaError_t cudaMemAdvise(const void* p, std::size_t bytes, cudaMemoryAdvise advice,
                                 int device) {
    return cudaMemAdvise(p, bytes, advice, cudaMemLocation{cudaMemLocationTypeDevice, device});
}
template <class T>
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, T*, std::size_t = 0,
                                     unsigned = cudaMemAttachSingle) {
    return cudaSuccess;
}
template <class... Args>
cudaError_t cudaFuncSetCacheConfig(void (*kernel)(Args...), cudaFuncCache config) {
    return cudaFuncSetCacheConfig(reinterpret_cast<const void*>(kernel), config);
}
template <class... Args>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void (*kernel)(Args...)) {
    return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}
template <class T>
cudaError_t cudaGetSymbolAddress(void** address, const T& symbol) {
    if (address == nullptr) return cudaErrorInvalidValue;
    *address = const_cast<void*>(static_cast<const volatile void*>(&symbol));
    return cudaSuccess;
}
template <class T>
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const T& symbol) {
    if (bytes == nullptr) return cudaErrorInvalidValue;
    *bytes = sizeof(symbol);
    return cudaSuccess;
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaMemcpyToSymbolAsync(
    const T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
    cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t = nullptr) {
    return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaMemcpyFromSymbolAsync(
    void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
    cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t = nullptr) {
    return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel* kernel, int threads,
                                                          std::size_t shared_bytes, unsigned) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks, reinterpret_cast<const void*>(kernel), threads, shared_bytes);
}
