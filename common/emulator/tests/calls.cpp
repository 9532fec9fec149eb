// Runtime calls with one invalid argument each must return CUDA's error. Also checks that
// properties, attributes and occupancy describe the same device.
#include <cuda_runtime_api.h>

#include <string>
#include <vector>

#include "common/emulator/recording.hpp"
#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/emulator/tests/findings.hpp"
#include "common/testing/catch.hpp"
#include "emulated/textures.h"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

struct Call {
    const char* name;
    cudaError_t error;
    cudaError_t (*make)();
};

// Valid arguments for all calls.
void* pointer = nullptr;
float* device = nullptr;
float host[64];
std::size_t bytes = 0;
int number = 0;
cudaStream_t stream = nullptr;
cudaEvent_t first, second, unrecorded;
cudaDeviceProp properties;
cudaFuncAttributes of_function;
float milliseconds = 0;
const char kernel = 0;  // just an address
cudaMemPool_t pool;
std::size_t limit = 0;
void nothing(void*) {}
template <class Enum>
Enum value_of(int value) {  // not an enumerator
    return static_cast<Enum>(value);
}
cudaTextureObject_t texture;
const cudaTextureDesc sampling{};
cudaArray_t array;
const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
cudaResourceDesc resource(cudaResourceType type) {
    cudaResourceDesc made{};
    made.resType = type;
    if (type == cudaResourceTypeLinear) made.res.linear = {device, format, 256};
    return made;
}
template <cudaResourceType type>
cudaError_t make_texture() {
    const cudaResourceDesc of = resource(type);
    return cudaCreateTextureObject(&texture, &of, &sampling, nullptr);
}
const cudaResourceDesc linear = resource(cudaResourceTypeLinear);
void nothing_on_stream(cudaStream_t, cudaError_t, void*) {}

constexpr cudaError_t kOk = cudaSuccess, kInvalid = cudaErrorInvalidValue;
constexpr cudaMemcpyKind kUp = cudaMemcpyHostToDevice, kBeside = cudaMemcpyDeviceToDevice;
constexpr auto kShared = cudaFuncAttributeMaxDynamicSharedMemorySize;

const Call kCalls[] = {
    {"malloc, no target", kInvalid, [] { return cudaMalloc(nullptr, 4); }},
    {"malloc, too much", cudaErrorMemoryAllocation,
     [] { return cudaMalloc(&pointer, std::size_t{1} << 40); }},
    {"malloc of nothing", kOk, [] { return cudaMalloc(&pointer, 0); }},
    {"pitched, no pitch", kInvalid, [] { return cudaMallocPitch(&pointer, nullptr, 4, 4); }},
    {"pinned, no target", kInvalid, [] { return cudaMallocHost(nullptr, 4); }},
    {"managed, no target", kInvalid, [] { return cudaMallocManaged(nullptr, 4); }},
    {"managed, nothing", kInvalid, [] { return cudaMallocManaged(&pointer, 0); }},
    {"device pointer, no target", kInvalid,
     [] { return cudaHostGetDevicePointer(nullptr, host, 0); }},
    {"device pointer of plain memory", kInvalid,
     [] { return cudaHostGetDevicePointer(&pointer, host, 0); }},
    {"register, no memory", kInvalid, [] { return cudaHostRegister(nullptr, 4, 0); }},
    {"register, nothing", kInvalid, [] { return cudaHostRegister(host, 0, 0); }},
    {"register", kOk, [] { return cudaHostRegister(host, sizeof(host), 0); }},
    {"register twice", kInvalid, [] { return cudaHostRegister(host + 63, 4, 0); }},
    {"register after it", kOk, [] { return cudaHostRegister(host + 64, 4, 0); }},
    {"device pointer of that", kOk, [] { return cudaHostGetDevicePointer(&pointer, host + 9, 0); }},
    {"unregister the middle", kInvalid, [] { return cudaHostUnregister(host + 1); }},
    {"unregister", kOk, [] { return cudaHostUnregister(host); }},
    {"unregister the next", kOk, [] { return cudaHostUnregister(host + 64); }},
    {"unregister again", kInvalid, [] { return cudaHostUnregister(host); }},
    {"memory, no free", kInvalid, [] { return cudaMemGetInfo(nullptr, &bytes); }},
    {"memory, no total", kInvalid, [] { return cudaMemGetInfo(&bytes, nullptr); }},
    {"pointer, no attributes", kInvalid, [] { return cudaPointerGetAttributes(nullptr, device); }},
    {"copy to null", kInvalid, [] { return cudaMemcpy(nullptr, host, 4, kUp); }},
    {"copy from null", kInvalid, [] { return cudaMemcpy(device, nullptr, 4, kUp); }},
    {"copy of nothing", kOk, [] { return cudaMemcpy(nullptr, nullptr, 0, kUp); }},
    {"copy, direction too small", cudaErrorInvalidMemcpyDirection,
     [] { return cudaMemcpy(device, host, 4, value_of<cudaMemcpyKind>(-1)); }},
    {"copy, direction too large", cudaErrorInvalidMemcpyDirection,
     [] { return cudaMemcpy(device, host, 4, value_of<cudaMemcpyKind>(5)); }},
    {"copy on the host", kOk, [] { return cudaMemcpy(host, host + 8, 4, cudaMemcpyHostToHost); }},
    {"copy by default", kOk, [] { return cudaMemcpy(device, host, 4, cudaMemcpyDefault); }},
    {"rows, target's too short", cudaErrorInvalidPitchValue,
     [] { return cudaMemcpy2D(device, 15, host, 16, 16, 2, kUp); }},
    {"rows, source's too short", cudaErrorInvalidPitchValue,
     [] { return cudaMemcpy2D(device, 16, host, 15, 16, 2, kUp); }},
    {"rows", kOk, [] { return cudaMemcpy2D(device, 16, host, 16, 16, 2, kUp); }},
    {"no rows", kOk, [] { return cudaMemcpy2D(nullptr, 16, host, 16, 16, 0, kUp); }},
    {"set rows, too short", cudaErrorInvalidPitchValue,
     [] { return cudaMemset2D(device, 15, 0, 16, 2); }},
    {"set rows", kOk, [] { return cudaMemset2D(device, 16, 0, 16, 16); }},
    {"set rows, one too many", kInvalid, [] { return cudaMemset2D(device, 16, 0, 16, 17); }},
    {"peers, other target", cudaErrorInvalidDevice,
     [] { return cudaMemcpyPeer(device, 1, device + 8, 0, 4); }},
    {"peers, other source", cudaErrorInvalidDevice,
     [] { return cudaMemcpyPeer(device, 0, device + 8, 1, 4); }},
    {"peers", kOk, [] { return cudaMemcpyPeer(device, 0, device + 8, 0, 4); }},
    {"peers on a stream, other target", cudaErrorInvalidDevice,
     [] { return cudaMemcpyPeerAsync(device, 1, device + 8, 0, 4, nullptr); }},
    {"peers on a stream, other source", cudaErrorInvalidDevice,
     [] { return cudaMemcpyPeerAsync(device, 0, device + 8, 1, 4, nullptr); }},
    {"peers on a stream", kOk,
     [] { return cudaMemcpyPeerAsync(device, 0, device + 8, 0, 4, nullptr); }},
    {"copy beside", kOk, [] { return cudaMemcpy(device, device + 8, 4, kBeside); }},

    {"stream, no target", kInvalid, [] { return cudaStreamCreate(nullptr); }},
    {"destroy no stream", cudaErrorInvalidResourceHandle,
     [] { return cudaStreamDestroy(nullptr); }},
    {"event, no target", kInvalid, [] { return cudaEventCreate(nullptr); }},
    {"destroy no event", cudaErrorInvalidResourceHandle, [] { return cudaEventDestroy(nullptr); }},
    {"record no event", cudaErrorInvalidResourceHandle,
     [] { return cudaEventRecord(nullptr, stream); }},
    {"wait for no event", cudaErrorInvalidResourceHandle,
     [] { return cudaEventSynchronize(nullptr); }},
    {"stream waits for no event", cudaErrorInvalidResourceHandle,
     [] { return cudaStreamWaitEvent(stream, nullptr, 0); }},
    {"time, no target", kInvalid, [] { return cudaEventElapsedTime(nullptr, first, second); }},
    {"time, no start", cudaErrorInvalidResourceHandle,
     [] { return cudaEventElapsedTime(&milliseconds, nullptr, second); }},
    {"time, no end", cudaErrorInvalidResourceHandle,
     [] { return cudaEventElapsedTime(&milliseconds, first, nullptr); }},
    {"time, start not recorded", cudaErrorInvalidResourceHandle,
     [] { return cudaEventElapsedTime(&milliseconds, unrecorded, second); }},
    {"time, end not recorded", cudaErrorInvalidResourceHandle,
     [] { return cudaEventElapsedTime(&milliseconds, first, unrecorded); }},
    {"time", kOk, [] { return cudaEventElapsedTime(&milliseconds, first, second); }},
    {"callback, none", kInvalid, [] { return cudaStreamAddCallback(stream, nullptr, nullptr, 0); }},
    {"callback", kOk, [] { return cudaStreamAddCallback(stream, nothing_on_stream, nullptr, 0); }},
    {"host function, none", kInvalid, [] { return cudaLaunchHostFunc(stream, nullptr, nullptr); }},
    {"host function", kOk, [] { return cudaLaunchHostFunc(stream, nothing, nullptr); }},

    {"texture, no target", kInvalid,
     [] { return cudaCreateTextureObject(nullptr, &linear, &sampling, nullptr); }},
    {"texture, no resource", kInvalid,
     [] { return cudaCreateTextureObject(&texture, nullptr, &sampling, nullptr); }},
    {"texture, no sampling", kInvalid,
     [] { return cudaCreateTextureObject(&texture, &linear, nullptr, nullptr); }},
    {"texture, no array", kInvalid, make_texture<cudaResourceTypeArray>},
    {"texture of mipmaps", cudaErrorNotSupported, make_texture<cudaResourceTypeMipmappedArray>},
    {"texture", kOk, make_texture<cudaResourceTypeLinear>},
    {"destroy texture", kOk, [] { return cudaDestroyTextureObject(texture); }},
    {"destroy it again", kInvalid, [] { return cudaDestroyTextureObject(texture); }},
    {"surface, no target", kInvalid, [] { return cudaCreateSurfaceObject(nullptr, &linear); }},
    {"array, no target", kInvalid, [] { return cudaMallocArray(nullptr, &format, 4); }},
    {"array, no format", kInvalid, [] { return cudaMallocArray(&array, nullptr, 4); }},
    {"array, no elements", kInvalid, [] { return cudaMallocArray(&array, &format, 0); }},
    {"devices, no target", kInvalid, [] { return cudaGetDeviceCount(nullptr); }},
    {"set device 1", cudaErrorInvalidDevice, [] { return cudaSetDevice(1); }},
    {"set device -1", cudaErrorInvalidDevice, [] { return cudaSetDevice(-1); }},
    {"set device 0", kOk, [] { return cudaSetDevice(0); }},
    {"device, no target", kInvalid, [] { return cudaGetDevice(nullptr); }},
    {"version, no target", kInvalid, [] { return cudaDriverGetVersion(nullptr); }},
    {"properties, no target", kInvalid, [] { return cudaGetDeviceProperties(nullptr, 0); }},
    {"properties of device 1", cudaErrorInvalidDevice,
     [] { return cudaGetDeviceProperties(&properties, 1); }},
    {"attribute, no target", kInvalid,
     [] { return cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0); }},
    {"attribute of device 1", cudaErrorInvalidDevice,
     [] { return cudaDeviceGetAttribute(&number, cudaDevAttrWarpSize, 1); }},
    {"unknown attribute", kInvalid,
     [] { return cudaDeviceGetAttribute(&number, value_of<cudaDeviceAttr>(9999), 0); }},
    {"attribute of no kernel", cudaErrorInvalidDeviceFunction,
     [] { return cudaFuncSetAttribute(static_cast<const void*>(nullptr), kShared, 4); }},
    {"shared memory below 0", kInvalid, [] { return cudaFuncSetAttribute(&kernel, kShared, -1); }},
    {"shared memory beyond the limit", kInvalid,
     [] { return cudaFuncSetAttribute(&kernel, kShared, 163 * 1024 + 1); }},
    {"shared memory up to the limit", kOk,
     [] { return cudaFuncSetAttribute(&kernel, kShared, 163 * 1024); }},
    {"no shared memory", kOk, [] { return cudaFuncSetAttribute(&kernel, kShared, 0); }},
    {"unknown attribute of a kernel", kInvalid,
     [] { return cudaFuncSetAttribute(&kernel, value_of<cudaFuncAttribute>(99), 4); }},
    {"attributes of no kernel", cudaErrorInvalidDeviceFunction,
     [] { return cudaFuncGetAttributes(&of_function, static_cast<const void*>(nullptr)); }},
    {"caches of no kernel", cudaErrorInvalidDeviceFunction,
     [] {
         return cudaFuncSetCacheConfig(static_cast<const void*>(nullptr), cudaFuncCachePreferL1);
     }},
    {"occupancy, no target", kInvalid,
     [] { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, &kernel, 32, 0); }},
    {"occupancy of no kernel", kInvalid,
     [] {
         return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
             &number, static_cast<const void*>(nullptr), 32, 0);
     }},
    {"occupancy of 0 threads", kInvalid,
     [] { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&number, &kernel, 0, 0); }},
    {"occupancy of 1025 threads", kInvalid,
     [] { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&number, &kernel, 1025, 0); }},
    {"peer access from device 1", cudaErrorInvalidDevice,
     [] { return cudaDeviceCanAccessPeer(&number, 1, 0); }},
    {"peer access to device 1", cudaErrorInvalidDevice,
     [] { return cudaDeviceCanAccessPeer(&number, 0, 1); }},
    {"peer access, no target", kInvalid, [] { return cudaDeviceCanAccessPeer(nullptr, 0, 0); }},
    {"pool of device 1", cudaErrorInvalidDevice,
     [] { return cudaDeviceGetDefaultMemPool(&pool, 1); }},
    {"pool, no target", kInvalid, [] { return cudaDeviceGetDefaultMemPool(nullptr, 0); }},
    {"limit below the first", kInvalid,
     [] { return cudaDeviceGetLimit(&limit, value_of<cudaLimit>(-1)); }},
    {"limit beyond the last", kInvalid,
     [] { return cudaDeviceGetLimit(&limit, value_of<cudaLimit>(7)); }},
    {"limit, no target", kInvalid,
     [] { return cudaDeviceGetLimit(nullptr, cudaLimitPrintfFifoSize); }},
    {"set limit below the first", kInvalid,
     [] { return cudaDeviceSetLimit(value_of<cudaLimit>(-1), 4); }},
    {"set limit beyond the last", kInvalid,
     [] { return cudaDeviceSetLimit(value_of<cudaLimit>(7), 4); }},
};

}  // namespace

TEST_CASE("a call with one invalid argument returns CUDA's error, and so does cudaGetLastError()") {
    const Device<float> x(std::vector<float>(64, 1.0f));
    device = x.data();
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    for (cudaEvent_t* event : {&first, &second, &unrecorded}) cudaEventCreate(event);
    cudaEventRecord(first, stream);
    cudaEventRecord(second, stream);
    cudaGetLastError();
    for (const Call& call : kCalls) {
        INFO(call.name);
        clear_report();
        CHECK(call.make() == call.error);
        CHECK(cudaGetLastError() == call.error);
        CHECK(cudaGetLastError() == cudaSuccess);
    }
    clear_report();
    for (const cudaEvent_t event : {first, second, unrecorded}) cudaEventDestroy(event);
    cudaStreamDestroy(stream);
}

TEST_CASE("properties, attributes and occupancy describe the same device") {
    cudaDeviceProp p;
    REQUIRE(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
    struct Attribute {
        cudaDeviceAttr which;
        std::size_t property;  // the member of cudaDeviceProp with the same meaning
        std::size_t value;
    };
    const auto n = [](auto property) { return static_cast<std::size_t>(property); };
    // Compute capability 8.0: CUDA Programming Guide, "Technical Specifications".
    const std::vector<Attribute> limits{
        {cudaDevAttrMaxThreadsPerBlock, n(p.maxThreadsPerBlock), 1024},
        {cudaDevAttrMaxBlockDimX, n(p.maxThreadsDim[0]), 1024},
        {cudaDevAttrMaxBlockDimY, n(p.maxThreadsDim[1]), 1024},
        {cudaDevAttrMaxBlockDimZ, n(p.maxThreadsDim[2]), 64},
        {cudaDevAttrMaxGridDimX, n(p.maxGridSize[0]), 2147483647},
        {cudaDevAttrMaxGridDimY, n(p.maxGridSize[1]), 65535},
        {cudaDevAttrMaxGridDimZ, n(p.maxGridSize[2]), 65535},
        {cudaDevAttrMaxSharedMemoryPerBlock, p.sharedMemPerBlock, 48 * 1024},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, p.sharedMemPerBlockOptin, 163 * 1024},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, p.sharedMemPerMultiprocessor, 164 * 1024},
        {cudaDevAttrTotalConstantMemory, p.totalConstMem, 65536},
        {cudaDevAttrWarpSize, n(p.warpSize), 32},
        {cudaDevAttrMaxRegistersPerBlock, n(p.regsPerBlock), 65536},
        {cudaDevAttrMaxRegistersPerMultiprocessor, n(p.regsPerMultiprocessor), 65536},
        {cudaDevAttrMaxThreadsPerMultiProcessor, n(p.maxThreadsPerMultiProcessor), 2048},
        {cudaDevAttrMaxBlocksPerMultiprocessor, n(p.maxBlocksPerMultiProcessor), 32},
        {cudaDevAttrComputeCapabilityMajor, n(p.major), 8},
        {cudaDevAttrComputeCapabilityMinor, n(p.minor), 0},
        // The emulator's own: few SMs, and no clock, bus or cache.
        {cudaDevAttrMultiProcessorCount, n(p.multiProcessorCount), 4},
        {cudaDevAttrClockRate, n(p.clockRate), 0},
        {cudaDevAttrMemoryClockRate, n(p.memoryClockRate), 0},
        {cudaDevAttrGlobalMemoryBusWidth, n(p.memoryBusWidth), 0},
        {cudaDevAttrL2CacheSize, n(p.l2CacheSize), 0},
        // What it can do, and what it cannot.
        {cudaDevAttrCanMapHostMemory, n(p.canMapHostMemory), 1},
        {cudaDevAttrCooperativeLaunch, n(p.cooperativeLaunch), 1},
        {cudaDevAttrClusterLaunch, n(p.clusterLaunch), 1},
        {cudaDevAttrGpuOverlap, n(p.deviceOverlap), 1},
        {cudaDevAttrConcurrentKernels, n(p.concurrentKernels), 1},
        {cudaDevAttrAsyncEngineCount, n(p.asyncEngineCount), 1},
        {cudaDevAttrUnifiedAddressing, n(p.unifiedAddressing), 1},
        {cudaDevAttrManagedMemory, n(p.managedMemory), 1},
        {cudaDevAttrConcurrentManagedAccess, n(p.concurrentManagedAccess), 1},
        {cudaDevAttrMemoryPoolsSupported, n(p.memoryPoolsSupported), 1},
        {cudaDevAttrIntegrated, n(p.integrated), 0},
        {cudaDevAttrComputeMode, n(p.computeMode), 0},
        {cudaDevAttrStreamPrioritiesSupported, n(p.streamPrioritiesSupported), 0},
        {cudaDevAttrPageableMemoryAccess, n(p.pageableMemoryAccess), 0},
        {cudaDevAttrHostNativeAtomicSupported, n(p.hostNativeAtomicSupported), 0}};
    for (const auto& [which, property, value] : limits) {
        INFO("attribute " << which);
        int got = -1;
        CHECK(cudaDeviceGetAttribute(&got, which, 0) == cudaSuccess);
        CHECK(n(got) == value);
        CHECK(property == value);
    }
    std::size_t unused = 0, total = 0;
    CHECK(cudaMemGetInfo(&unused, &total) == cudaSuccess);
    CHECK(p.totalGlobalMem == total);
    CHECK(p.globalL1CacheSupported + p.localL1CacheSupported == 2);
    CHECK(p.memPitch == 2147483647);
    CHECK((p.textureAlignment == 512 && p.surfaceAlignment == 512));
    CHECK(p.texturePitchAlignment == 32);
    CHECK(p.reservedSharedMemPerBlock == 1024);
    CHECK(std::string(p.name) == "sixdays CPU emulator");
    int driver = 0, runtime = 0, device_number = -1, devices = 0;
    CHECK((cudaGetDeviceCount(&devices) == cudaSuccess && devices == 1));
    CHECK((cudaDriverGetVersion(&driver) == cudaSuccess && driver == 13000));
    CHECK((cudaRuntimeGetVersion(&runtime) == cudaSuccess && runtime == driver));
    CHECK((cudaGetDevice(&device_number) == cudaSuccess && device_number == 0));
    const auto resident = [](int threads, std::size_t shared) {
        int blocks = -1;
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &kernel, threads, shared) ==
              cudaSuccess);
        return blocks;
    };
    CHECK(resident(1, 0) == 32);
    CHECK(resident(64, 0) == 32);
    CHECK(resident(65, 0) == 21);  // 64 warps, three per block
    CHECK(resident(1024, 0) == 2);
    CHECK(resident(32, 40 * 1024) == 4);  // each plus the 1 KB that CUDA reserves
    CHECK(resident(32, 163 * 1024) == 1);
}

TEST_CASE("settings have CUDA's defaults and are kept") {
    cudaFuncAttributes a;
    REQUIRE(cudaFuncGetAttributes(&a, &kernel) == cudaSuccess);
    CHECK((a.sharedSizeBytes == 0 && a.constSizeBytes == 0 && a.localSizeBytes == 0));
    CHECK((a.maxThreadsPerBlock == 1024 && a.numRegs == 0));
    CHECK((a.ptxVersion == 80 && a.binaryVersion == 80 && a.cacheModeCA == 0));
    CHECK((a.maxDynamicSharedSizeBytes == 48 * 1024 && a.preferredShmemCarveout == -1));
    CHECK(cudaFuncSetAttribute(&kernel, kShared, 100 * 1024) == cudaSuccess);
    REQUIRE(cudaFuncGetAttributes(&a, &kernel) == cudaSuccess);
    CHECK(a.maxDynamicSharedSizeBytes == 100 * 1024);
    CHECK(cudaFuncSetAttribute(&kernel, kShared, 0) == cudaSuccess);
    const auto prefer_shared = cudaFuncAttributePreferredSharedMemoryCarveout;
    CHECK(cudaFuncSetAttribute(&kernel, prefer_shared, 50) == cudaSuccess);
    CHECK(cudaFuncSetCacheConfig(&kernel, cudaFuncCachePreferL1) == cudaSuccess);

    const std::size_t defaults[] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};
    for (int i = 0; i < 7; ++i) {
        INFO("limit " << i);
        const auto which = value_of<cudaLimit>(i);
        CHECK((cudaDeviceGetLimit(&limit, which) == cudaSuccess && limit == defaults[i]));
        CHECK(cudaDeviceSetLimit(which, 7) == cudaSuccess);
        CHECK((cudaDeviceGetLimit(&limit, which) == cudaSuccess && limit == 7));
        CHECK(cudaDeviceSetLimit(which, defaults[i]) == cudaSuccess);
    }
    cudaFuncCache cache{};
    CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared) == cudaSuccess);
    CHECK(cudaDeviceGetCacheConfig(&cache) == cudaSuccess);
    CHECK(cache == cudaFuncCachePreferShared);
    cudaDeviceSetCacheConfig(cudaFuncCachePreferNone);
    int least = 1, greatest = 1, priority = 1, can = 1;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
    CHECK((least == 0 && greatest == -5));
    CHECK(cudaDeviceGetStreamPriorityRange(nullptr, nullptr) == cudaSuccess);
    CHECK((cudaStreamGetPriority(nullptr, &priority) == cudaSuccess && priority == 0));
    CHECK((cudaDeviceCanAccessPeer(&can, 0, 0) == cudaSuccess && can == 0));
    CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice);
    CHECK(cudaDeviceDisablePeerAccess(0) == cudaErrorInvalidDevice);
    cudaGetLastError();
}

TEST_CASE("allocations are multiples of 256 bytes, and 64 KB apart") {
    for (const std::size_t size : {1, 255, 256, 257}) {
        const Device<char> a(size), b(1);
        const auto begin = reinterpret_cast<std::uintptr_t>(a.data());
        const auto next = reinterpret_cast<std::uintptr_t>(b.data());
        CHECK((begin % 256 == 0 && next % 256 == 0));
        CHECK(next - begin == (size > 256 ? 512 : 256) + 64 * 1024);
    }
}

TEST_CASE("freed memory is used again when all of the heap has been, and live memory never") {
    const auto pinned = [] {
        void* p = nullptr;
        CHECK(cudaMallocHost(&p, 1) == cudaSuccess);
        return reinterpret_cast<std::uintptr_t>(p);
    };
    const auto free = [](std::uintptr_t p) { cudaFreeHost(reinterpret_cast<void*>(p)); };
    constexpr std::uintptr_t kStep = 256 + 64 * 1024;
    const std::uintptr_t kept = pinned();
    std::uintptr_t last = kept, p = pinned();
    for (; p > last; last = p, p = pinned()) {
        REQUIRE(p == last + kStep);
        free(p);
    }
    CHECK(last - kept > std::uintptr_t{3} << 30);
    for (; p < kept; p = pinned()) {
        REQUIRE(p + kStep <= kept);
        free(p);
    }
    CHECK(p == kept + kStep);
    free(p);
    free(kept);
}

TEST_CASE("launches are rejected on request, or recorded and run later") {
    const Device<float> x(std::vector<float>(2, 1.0f));
    reject_launches(true);
    add_one(x.data(), x.data(), nullptr);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    CHECK(last_report()->kind == Kind::invalid_launch);
    clear_report();
    reject_launches(false);
    const Recording recorded([&](cudaStream_t s) {
        for (int i = 0; i < 2; ++i) add_one(x.data(), x.data() + i, s);
    });
    CHECK(x.host() == std::vector<float>{1, 1});
    for (int i = 0; i < 2; ++i) recorded.run();
    CHECK(x.host() == std::vector<float>{4, 7});
    const Recording wrong([&](cudaStream_t s) { add_one(x.data(), x.data() + 9, s); });
    wrong.run();
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
    CHECK(last_report()->kind == Kind::out_of_bounds);
    clear_report();
}

TEST_CASE("attributes of a pointer name its memory and its addresses on both sides") {
    const Device<float> x(16);
    void *pinned = nullptr, *managed = nullptr, *freed = nullptr;
    cudaMallocHost(&pinned, 64);
    cudaMallocManaged(&managed, 64);
    cudaMalloc(&freed, 64);
    cudaFree(freed);
    const auto later = [](void* p, int bytes) -> void* { return static_cast<char*>(p) + bytes; };
    const struct {
        void* at;
        cudaMemoryType type;
        bool on_device, on_host;
    } cases[] = {{x.data(), cudaMemoryTypeDevice, true, false},
                 {later(x.data(), 63), cudaMemoryTypeDevice, true, false},
                 {later(x.data(), 64), cudaMemoryTypeUnregistered, false, false},
                 {later(pinned, 63), cudaMemoryTypeHost, true, true},
                 {later(pinned, 64), cudaMemoryTypeUnregistered, false, false},
                 {later(managed, 63), cudaMemoryTypeManaged, true, true},
                 {later(managed, 64), cudaMemoryTypeUnregistered, false, false},
                 {freed, cudaMemoryTypeUnregistered, false, false},
                 {host, cudaMemoryTypeUnregistered, false, false}};
    for (const auto& c : cases) {
        INFO(&c - cases);
        cudaPointerAttributes a{};
        CHECK(cudaPointerGetAttributes(&a, c.at) == cudaSuccess);
        CHECK(a.type == c.type);
        CHECK(a.device == (c.on_device ? 0 : -2));
        CHECK(a.devicePointer == (c.on_device ? c.at : nullptr));
        CHECK(a.hostPointer == (c.on_host ? c.at : nullptr));
    }
    cudaFreeHost(pinned);
    cudaFree(managed);
}
