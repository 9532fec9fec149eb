// The gpu headers, implemented over the CUDA runtime. Compiled twice from this source: with the
// toolkit's cuda_runtime.h into sixdays_gpu_cuda, with the emulator's into sixdays_gpu_emulated.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "common/gpu/buffer.hpp"
#include "common/gpu/check.hpp"
#include "common/gpu/device.hpp"
#include "common/gpu/launch.hpp"
#include "common/gpu/timer.hpp"
#include "common/tensor/sentence.hpp"

#ifdef SIXDAYS_EMULATED
#include "common/emulator/report.hpp"
#endif

namespace sixdays::gpu {
namespace {

thread_local const char* last_kernel_name = "";

std::string misreported;  // a sentence

struct Configuration {
    std::array<std::uint32_t, 3> grid, block;
    std::uint64_t shared_bytes;

    bool operator==(const Configuration&) const = default;
};

// Of the launch that is about to be checked: on a GPU what the launcher says.
Configuration configuration_of_last_launch([[maybe_unused]] const Configuration& told) {
#ifdef SIXDAYS_EMULATED
    const emulator::LastLaunch& last = emulator::last_launch();
    return {last.grid, last.block, last.shared_bytes};
#else
    return told;
#endif
}

std::string to_string(const std::array<std::uint32_t, 3>& d) {
    return sentence("(", d[0], ", ", d[1], ", ", d[2], ")");
}

std::string to_string(const Configuration& c) {
    const std::string shared =
        c.shared_bytes > 0 ? sentence(" and ", c.shared_bytes, " bytes of dynamic shared memory")
                           : "";
    return sentence("grid ", to_string(c.grid), " and block ", to_string(c.block), shared);
}

std::string attribute(cudaDeviceAttr which) {
    int value = 0, device = 0;
    const bool known = cudaGetDevice(&device) == cudaSuccess &&
                       cudaDeviceGetAttribute(&value, which, device) == cudaSuccess;
    return known ? std::to_string(value) : "?";
}

// Frees or destroys. If that fails, the error is cleared, so that no later check reports it as its
// own.
void forget_failure(cudaError_t code) noexcept {
    if (code != cudaSuccess) (void)cudaGetLastError();
}

// What the user can do about it; empty where the runtime's own text is sufficient.
std::string advice(cudaError_t code) {
    switch (code) {
        case cudaErrorNoKernelImageForDevice:
            return " The program was built for architecture " SIXDAYS_ARCHITECTURES
                   ", this device is " +
                   attribute(cudaDevAttrComputeCapabilityMajor) +
                   attribute(cudaDevAttrComputeCapabilityMinor) +
                   ": configure with -DCMAKE_CUDA_ARCHITECTURES=native and build again.";
#ifndef SIXDAYS_EMULATED
        case cudaErrorUnsupportedPtxVersion:
            return " The compiler is newer than the driver, which accepts its machine code but not "
                   "its PTX: configure with -DCMAKE_CUDA_ARCHITECTURES=native, so that there is "
                   "machine code for this device, and build again.";
        case cudaErrorIllegalAddress:
        case cudaErrorMisalignedAddress:
        case cudaErrorLaunchFailure:
        case cudaErrorAssert:
        case cudaErrorHardwareStackError:
            return " An earlier kernel caused this, and every CUDA call of this process will now "
                   "fail: restart it under `compute-sanitizer` to find the line.";
#endif
        default:
            return "";
    }
}

// The same for a launch, whose configuration may be the cause.
std::string launch_advice(cudaError_t code) {
    switch (code) {
        case cudaErrorInvalidConfiguration:
        case cudaErrorInvalidValue:
            return " This device allows " + attribute(cudaDevAttrMaxThreadsPerBlock) +
                   " threads per block, a grid of at least one block and at most (" +
                   attribute(cudaDevAttrMaxGridDimX) + ", " + attribute(cudaDevAttrMaxGridDimY) +
                   ", " + attribute(cudaDevAttrMaxGridDimZ) + "), and " +
                   attribute(cudaDevAttrMaxSharedMemoryPerBlock) +
                   " bytes of shared memory per block (more only after cudaFuncSetAttribute).";
        case cudaErrorLaunchOutOfResources:
            return " One block needs more registers or shared memory than an SM has: use fewer "
                   "threads per block.";
        default:
            return advice(code);
    }
}

// On the emulator the cause is known: kernel, line, thread and address.
std::string finding() {
#ifdef SIXDAYS_EMULATED
    if (const auto report = emulator::last_report()) return "\n" + report->text;
#endif
    return "";
}

std::string name_and_text(cudaError_t code) {
    return std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code) + ".";
}

}  // namespace

// --- check.hpp, launch.hpp -----------------------------------------------------------------------

void check(cudaError_t code, const char* call, const char* file, int line) {
    if (code == cudaSuccess) return;
    (void)cudaGetLastError();  // clears a non-sticky error, or the next check would find it again
    throw Error(code, std::string(file) + ":" + std::to_string(line) + ": " + call +
                          " failed with " + name_and_text(code) + advice(code) + finding());
}

void check_launch(const char* kernel, dim3 grid, dim3 block, std::size_t shared_bytes,
                  const char* file, int line) {
    last_kernel_name = kernel;
    const cudaError_t code = cudaGetLastError();
    const Configuration told = {
        {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes};
    const auto text = [&] {
        return sentence(file, ":", line, ": the launch of ", kernel, " with ", told);
    };
    if (code != cudaSuccess) {
        throw Error(code, sentence(text(), " failed with ", name_and_text(code),
                                   launch_advice(code), finding()));
    }
    const Configuration launched = configuration_of_last_launch(told);
    if (launched != told && misreported.empty()) misreported = sentence(text(), " had ", launched);
}

std::string misreported_launch() {
    return std::exchange(misreported, "");
}

const char* last_kernel() noexcept {
    return last_kernel_name;
}

namespace {

std::int64_t blocks(std::int64_t items, int threads) {
    if (items < 0 || threads < 1) {
        reject(items, " items in blocks of ", threads, " threads were asked for");
    }
    return items / threads + (items % threads != 0);
}

}  // namespace

unsigned blocks_for(std::int64_t items, int threads) {
    constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
    const std::int64_t n = blocks(items, threads);
    if (n > kMost) {
        reject(items, " items in blocks of ", threads, " threads need ", n,
               " blocks, but a grid has at most ", kMost);
    }
    return static_cast<unsigned>(n);
}

unsigned blocks_at_most(std::int64_t items, int threads, unsigned most) {
    return static_cast<unsigned>(std::min<std::int64_t>(blocks(items, threads), most));
}

// --- device.hpp ----------------------------------------------------------------------------------

bool is_emulated() noexcept {
#ifdef SIXDAYS_EMULATED
    return true;
#else
    return false;
#endif
}

std::string why_unavailable() {
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess) {
        (void)cudaGetLastError();
        // 35 means either "no driver" or "driver older than this toolkit".
        return "no GPU answers: " + name_and_text(code);
    }
    return count > 0 ? "" : "no GPU answers: the driver runs, but counts 0 devices.";
}

Device device() {
    int id = 0;
    SIXDAYS_CUDA(cudaGetDevice(&id));
    cudaDeviceProp p{};
    SIXDAYS_CUDA(cudaGetDeviceProperties(&p, id));
    Device d;
    d.name = p.name;
    d.major = p.major;
    d.minor = p.minor;
    d.multiprocessors = p.multiProcessorCount;
    d.threads_per_block = p.maxThreadsPerBlock;
    d.warp_size = p.warpSize;
    d.memory_bytes = static_cast<std::int64_t>(p.totalGlobalMem);
    d.l2_bytes = p.l2CacheSize;
    d.shared_bytes = static_cast<std::int64_t>(p.sharedMemPerBlock);
    SIXDAYS_CUDA(cudaDriverGetVersion(&d.driver_version));
    SIXDAYS_CUDA(cudaRuntimeGetVersion(&d.runtime_version));
    return d;
}

int multiprocessors() {
    int id = 0, count = 0;
    SIXDAYS_CUDA(cudaGetDevice(&id));
    SIXDAYS_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, id));
    return count;
}

bool on_hopper() {
    int id = 0, major = 0, minor = 0;
    SIXDAYS_CUDA(cudaGetDevice(&id));
    SIXDAYS_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, id));
    SIXDAYS_CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, id));
    return major == 9 && minor == 0;
}

std::int64_t free_bytes() {
    std::size_t free = 0, total = 0;
    SIXDAYS_CUDA(cudaMemGetInfo(&free, &total));
    return static_cast<std::int64_t>(free);
}

void check_pending() {
    const cudaError_t code = cudaGetLastError();
    if (code == cudaSuccess) return;
    throw Error(code, "an earlier error was not checked: " + name_and_text(code) +
                          " Is gpu::check_launch() missing after a launch?" + launch_advice(code) +
                          finding());
}

void synchronize() {
    SIXDAYS_CUDA(cudaDeviceSynchronize());
}

// --- buffer.hpp ----------------------------------------------------------------------------------

namespace detail {

void* allocate(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    void* device = nullptr;
    const cudaError_t code = cudaMalloc(&device, bytes);
    if (code == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        std::size_t free = 0, total = 0;
        (void)cudaMemGetInfo(&free, &total);
        throw Error(code, std::to_string(bytes) +
                              " bytes of device memory were asked for, but only " +
                              std::to_string(free) + " of " + std::to_string(total) + " are free");
    }
    SIXDAYS_CUDA(code);
    return device;
}

void release(void* device) noexcept {
    (void)cudaFree(device);
}

void copy_to_device(void* device, const void* host, std::size_t bytes) {
    if (bytes > 0) SIXDAYS_CUDA(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
}

void copy_to_host(void* host, const void* device, std::size_t bytes) {
    if (bytes > 0) SIXDAYS_CUDA(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
}

void fill_bytes(void* device, int byte, std::size_t bytes) {
    if (bytes > 0) SIXDAYS_CUDA(cudaMemset(device, byte, bytes));
}

}  // namespace detail

// --- timer.hpp -----------------------------------------------------------------------------------

Timer::Timer() {
    SIXDAYS_CUDA(cudaEventCreate(&start_));
    const cudaError_t code = cudaEventCreate(&stop_);
    if (code != cudaSuccess) forget_failure(cudaEventDestroy(start_));
    SIXDAYS_CUDA(code);
}

Timer::~Timer() {
    forget_failure(cudaEventDestroy(start_));
    forget_failure(cudaEventDestroy(stop_));
}

void Timer::start(Stream stream) {
    SIXDAYS_CUDA(cudaEventRecord(start_, stream));
}

void Timer::stop(Stream stream) {
    SIXDAYS_CUDA(cudaEventRecord(stop_, stream));
}

double Timer::seconds() {
    float milliseconds = 0;
    SIXDAYS_CUDA(cudaEventSynchronize(stop_));
    SIXDAYS_CUDA(cudaEventElapsedTime(&milliseconds, start_, stop_));
    return milliseconds * 1e-3;
}

}  // namespace sixdays::gpu
