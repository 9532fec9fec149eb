/// @file
/// Device memory, pinned and managed host memory, and queries about pointers.
#include "common/emulator/api/api.hpp"
#include "common/emulator/machine/turn.hpp"
#include "common/emulator/memory/in_flight.hpp"
#include "common/emulator/memory/memory.hpp"
#include "common/emulator/report.hpp"
#include "common/emulator/report/finding.hpp"

namespace {

using namespace sixdays::emulator;  // this file implements the runtime's API

cudaError_t free_device(const char* call, void* pointer, const void* code) {
    const cudaError_t earlier = take_kernel_error();
    if (pointer == nullptr || release(pointer, call)) return earlier;
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const bool freed = is_device_only(pointer) && nearest_allocation(address).begin == address;
    return reject_pointer(
        Kind::invalid_call, cudaErrorInvalidValue, code,
        std::string(call) + (freed ? ": this pointer was already freed."
                                   : ": this is not a pointer that cudaMalloc returned."),
        pointer);
}

}  // namespace

namespace sixdays::emulator {

cudaError_t reject_pointer(Kind kind, cudaError_t error, const void* code, std::string text,
                           const void* address, Site made) {
    note({kind,
          error,
          code,
          std::move(text),
          reinterpret_cast<std::uintptr_t>(address),
          {},
          nullptr,
          false,
          made});
    return error;
}

}  // namespace sixdays::emulator

#define SIXDAYS_HERE __builtin_return_address(0)

extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
    const Turn turn;
    if (pointer == nullptr) return result(cudaErrorInvalidValue);
    if (const auto e = reject_while_recording(); e != cudaSuccess) return e;
    const InRuntime guard;  // a kernel may allocate too
    *pointer = bytes == 0 ? nullptr : allocate(bytes);
    return result(bytes != 0 && *pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}

// Rows begin at multiples of 512 bytes, as they do on a GPU of compute capability 8.0.
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t row_bytes,
                            std::size_t rows) {
    if (pitch == nullptr) return result(cudaErrorInvalidValue);
    *pitch = (row_bytes + 511) / 512 * 512;
    return cudaMalloc(pointer, *pitch * rows);
}

cudaError_t cudaFree(void* pointer) {
    const Turn turn;
    if (current != nullptr) {
        free_here(pointer);
        return cudaSuccess;
    }
    wait_for_all();
    return free_device("cudaFree", pointer, SIXDAYS_HERE);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
    const Turn turn;
    return in_order(stream, [pointer, code = SIXDAYS_HERE](cudaStream_t) {
        return free_device("cudaFreeAsync", pointer, code);
    });
}
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
    const Turn turn;
    if (!capturing()) return cudaMalloc(pointer, bytes);
    *pointer = allocate(bytes);  // its address is known now, and it persists between launches
    if (*pointer == nullptr) return result(cudaErrorMemoryAllocation);
    release(*pointer, "the graph");
    return in_order(stream, [p = *pointer](cudaStream_t) {
        return result(live_again(p) ? cudaSuccess : cudaErrorMemoryAllocation);
    });
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
    const Turn turn;
    if (pointer == nullptr) return result(cudaErrorInvalidValue);
    *pointer = allocate_pinned(bytes);
    return result(*pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
    return cudaMallocHost(pointer, bytes);
}
cudaError_t cudaFreeHost(void* pointer) {
    const Turn turn;
    if (pointer == nullptr || release_pinned(pointer)) return cudaSuccess;
    return reject_pointer(Kind::invalid_call, cudaErrorInvalidValue, SIXDAYS_HERE,
                          "cudaFreeHost: this is not a pointer that cudaMallocHost returned.",
                          pointer);
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned) {
    const Turn turn;
    if (pointer == nullptr || bytes == 0) return result(cudaErrorInvalidValue);
    if (const auto e = reject_while_recording(); e != cudaSuccess) return e;
    *pointer = allocate_shared_with_host(bytes);
    return result(*pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
    if (device == nullptr || !(is_pinned(host) || is_registered(host)))
        return result(cudaErrorInvalidValue);
    *device = host;
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void* host, std::size_t bytes, unsigned) {
    const Turn turn;
    if (host == nullptr || bytes == 0 || is_registered(host)) return result(cudaErrorInvalidValue);
    register_host(host, bytes);
    return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* host) {
    const Turn turn;
    return result(unregister_host(host) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
    const Turn turn;
    if (free_bytes == nullptr || total_bytes == nullptr) return result(cudaErrorInvalidValue);
    *total_bytes = kHeapBytes;
    *free_bytes = kHeapBytes - allocated_bytes();
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    const Turn turn;
    if (attributes == nullptr) return result(cudaErrorInvalidValue);
    const bool device = is_device_range(pointer, 1);
    void* p = const_cast<void*>(pointer);
    if (is_pinned(pointer)) {
        *attributes = {cudaMemoryTypeHost, 0, p, p};
    } else if (device && is_shared_with_host(pointer)) {
        *attributes = {cudaMemoryTypeManaged, 0, p, p};
    } else if (device) {
        *attributes = {cudaMemoryTypeDevice, 0, p, nullptr};
    } else {
        *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, nullptr};
    }
    return cudaSuccess;
}

}  // extern "C"
