/// @file
/// The part of the CUDA runtime API that these lessons call, for the emulated device. Names,
/// numbers and meanings are CUDA's; common/emulator/README.md lists the differences.
#pragma once

#include <cstddef>

#include "emulated/vector_types.h"

#define __DRIVER_TYPES_H__  // include guard of CUDA's header, which programs test

typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;

enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidPitchValue = 12,
    cudaErrorInvalidSymbol = 13,
    cudaErrorInvalidDevicePointer = 17,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorInsufficientDriver = 35,
    cudaErrorInvalidDeviceFunction = 98,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorPeerAccessUnsupported = 217,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchOutOfResources = 701,
    cudaErrorLaunchTimeout = 702,
    cudaErrorAssert = 710,
    cudaErrorIllegalInstruction = 715,
    cudaErrorMisalignedAddress = 716,
    cudaErrorLaunchFailure = 719,
    cudaErrorCooperativeLaunchTooLarge = 720,
    cudaErrorNotSupported = 801,
    cudaErrorInvalidClusterSize = 912,
    cudaErrorUnknown = 999
};
typedef enum cudaError cudaError_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};

enum cudaMemoryType {
    cudaMemoryTypeUnregistered = 0,
    cudaMemoryTypeHost = 1,
    cudaMemoryTypeDevice = 2,
    cudaMemoryTypeManaged = 3
};

struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void* devicePointer;
    void* hostPointer;
};

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9,
    cudaFuncAttributeNonPortableClusterSizeAllowed = 14
};

enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxBlockDimX = 2,
    cudaDevAttrMaxBlockDimY = 3,
    cudaDevAttrMaxBlockDimZ = 4,
    cudaDevAttrMaxGridDimX = 5,
    cudaDevAttrMaxGridDimY = 6,
    cudaDevAttrMaxGridDimZ = 7,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrTotalConstantMemory = 9,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMaxRegistersPerBlock = 12,
    cudaDevAttrClockRate = 13,
    cudaDevAttrGpuOverlap = 15,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrIntegrated = 18,
    cudaDevAttrCanMapHostMemory = 19,
    cudaDevAttrComputeMode = 20,
    cudaDevAttrConcurrentKernels = 31,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrAsyncEngineCount = 40,
    cudaDevAttrUnifiedAddressing = 41,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrStreamPrioritiesSupported = 78,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxRegistersPerMultiprocessor = 82,
    cudaDevAttrManagedMemory = 83,
    cudaDevAttrHostNativeAtomicSupported = 86,
    cudaDevAttrPageableMemoryAccess = 88,
    cudaDevAttrConcurrentManagedAccess = 89,
    cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrMaxBlocksPerMultiprocessor = 106,
    cudaDevAttrMemoryPoolsSupported = 115,
    cudaDevAttrClusterLaunch = 120
};

struct cudaDeviceProp {
    char name[256];
    std::size_t totalGlobalMem;
    std::size_t sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    std::size_t totalConstMem;
    int major;
    int minor;
    int multiProcessorCount;
    int integrated;
    int concurrentKernels;
    int ECCEnabled;
    int pciBusID;
    int pciDeviceID;
    int pciDomainID;
    int unifiedAddressing;
    int memoryBusWidth;
    int l2CacheSize;
    int maxThreadsPerMultiProcessor;
    std::size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor;
    int managedMemory;
    int cooperativeLaunch;
    std::size_t sharedMemPerBlockOptin;
    int maxBlocksPerMultiProcessor;
    // The rest has no effect here and holds the usual values.
    int canMapHostMemory, deviceOverlap, asyncEngineCount, computeMode, kernelExecTimeoutEnabled;
    int concurrentManagedAccess, pageableMemoryAccess, hostNativeAtomicSupported;
    int streamPrioritiesSupported, memoryPoolsSupported, globalL1CacheSupported;
    int localL1CacheSupported, isMultiGpuBoard, multiGpuBoardGroupID, tccDriver;
    int clockRate, memoryClockRate, cooperativeMultiDeviceLaunch, computePreemptionSupported;
    int persistingL2CacheMaxSize, accessPolicyMaxWindowSize, clusterLaunch;
    int maxTexture1D, maxTexture2D[2], maxTexture3D[3], maxTexture1DLayered[2];
    int maxTexture2DLayered[3], maxTextureCubemap;
    std::size_t memPitch, textureAlignment, texturePitchAlignment, surfaceAlignment;
    std::size_t reservedSharedMemPerBlock;
};

constexpr unsigned cudaStreamDefault = 0;
constexpr unsigned cudaStreamNonBlocking = 1;
constexpr unsigned cudaEventDefault = 0;
constexpr unsigned cudaEventBlockingSync = 1;
constexpr unsigned cudaEventDisableTiming = 2;
constexpr unsigned cudaHostAllocDefault = 0;

extern "C" {
cudaError_t cudaMalloc(void** pointer, std::size_t bytes);
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t row_bytes,
                            std::size_t rows);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes);
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t row_bytes, std::size_t rows, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t row_bytes, std::size_t rows,
                              cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* to, int byte, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop);

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();

cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                          int threads, std::size_t shared_bytes);
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* blocks, int* threads, const void* kernel,
                                               std::size_t shared_bytes, int most_threads);
}

// The runtime's C++ overloads: a typed pointer instead of void**, a kernel by name.
template <class T>
cudaError_t cudaMalloc(T** pointer, std::size_t bytes) {
    return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
}
template <class T>
cudaError_t cudaMallocHost(T** pointer, std::size_t bytes) {
    return cudaMallocHost(reinterpret_cast<void**>(pointer), bytes);
}
template <class... Args>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Args...), cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}
template <class... Args>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void (*kernel)(Args...),
                                                          int threads, std::size_t shared_bytes) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks, reinterpret_cast<const void*>(kernel), threads, shared_bytes);
}
template <class T>
cudaError_t cudaMallocPitch(T** pointer, std::size_t* pitch, std::size_t row_bytes,
                            std::size_t rows) {
    return cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, row_bytes, rows);
}

/// The block size that maximizes occupancy of an SM, and the grid that fills the device.
template <class... Args>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* blocks, int* threads, void (*kernel)(Args...),
                                               std::size_t shared_bytes = 0, int most_threads = 0) {
    return cudaOccupancyMaxPotentialBlockSize(
        blocks, threads, reinterpret_cast<const void*>(kernel), shared_bytes, most_threads);
}

namespace sixdays::emulator {
/// The position in a variable for a copy; null, after a report, if the copy does not fit.
void* part_of_symbol(const char* call, const void* symbol, std::size_t offset, std::size_t bytes);
/// The emulator keeps these variables in host memory.
constexpr cudaMemcpyKind beside_symbol(cudaMemcpyKind kind) {
    return kind == cudaMemcpyDefault ? kind : cudaMemcpyHostToHost;
}
}  // namespace sixdays::emulator

// Always inline, so that a report names the line of the call.
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaMemcpyToSymbol(
    const T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
    cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    void* to = sixdays::emulator::part_of_symbol(__func__, &symbol, offset, bytes);
    if (to == nullptr) return cudaPeekAtLastError();
    return cudaMemcpy(to, from, bytes,
                      kind == cudaMemcpyDeviceToDevice ? cudaMemcpyDeviceToHost
                                                       : sixdays::emulator::beside_symbol(kind));
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaMemcpyFromSymbol(
    void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
    cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    const void* from = sixdays::emulator::part_of_symbol(__func__, &symbol, offset, bytes);
    if (from == nullptr) return cudaPeekAtLastError();
    return cudaMemcpy(to, from, bytes,
                      kind == cudaMemcpyDeviceToDevice ? cudaMemcpyHostToDevice
                                                       : sixdays::emulator::beside_symbol(kind));
}

#include "emulated/more_runtime.h"

#include "emulated/graphs.h"  // requires more_runtime.h
