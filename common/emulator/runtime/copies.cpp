/// @file
/// Memory of the device, and copies to, from and in it. Everything happens at once, also what CUDA
/// does asynchronously.
#include <cstdlib>
#include <cstring>

#include "common/emulator/runtime/api.hpp"
#include "common/emulator/runtime/finding.hpp"
#include "common/emulator/runtime/memory.hpp"

namespace {

using namespace sixdays::emulator;  // this file is the runtime's face

bool in_heap(const void* p) {
    return heap.contains(reinterpret_cast<std::uintptr_t>(p));
}

cudaError_t refuse(Kind kind, cudaError_t error, const void* code, std::string text,
                   const void* address) {
    note({kind,
          error,
          code,
          std::move(text),
          reinterpret_cast<std::uintptr_t>(address),
          {},
          nullptr,
          false});
    return error;
}

// One side of a copy or a cudaMemset.
cudaError_t check_side(const char* call, const char* side, const void* p, std::size_t bytes,
                       bool device, const void* code) {
    if (device && !is_device_range(p, bytes)) {
        const auto address = reinterpret_cast<std::uintptr_t>(p);
        if (!in_heap(p)) {
            return refuse(
                Kind::host_memory, cudaErrorInvalidValue, code,
                format("%s of %zu bytes: its %s is a host pointer, where a device pointer "
                       "was announced. Are the arguments or the direction swapped?",
                       call, bytes, side),
                p);
        }
        const Extent near = nearest_allocation(address);
        return refuse(near.live ? Kind::out_of_bounds : Kind::freed_memory, cudaErrorInvalidValue,
                      code,
                      format("%s of %zu bytes: its %s is not inside one allocation; it starts ",
                             call, bytes, side) +
                          (address >= near.begin && address < near.begin + near.bytes && near.live
                               ? describe_inside(heap, address, 1) + " and ends beyond it."
                               : describe_outside(heap, address, 1)),
                      p);
    }
    if (!device && in_heap(p)) {
        return refuse(
            Kind::device_memory, cudaErrorInvalidValue, code,
            format("%s of %zu bytes: its %s is a device pointer, where a host pointer was "
                   "announced. Are the arguments or the direction swapped?",
                   call, bytes, side),
            p);
    }
    return cudaSuccess;
}

bool to_device(cudaMemcpyKind kind, const void* to) {
    return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
           (kind == cudaMemcpyDefault && in_heap(to));
}
bool from_device(cudaMemcpyKind kind, const void* from) {
    return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ||
           (kind == cudaMemcpyDefault && in_heap(from));
}

cudaError_t copy(const char* call, void* to, const void* from, std::size_t bytes,
                 cudaMemcpyKind kind, const void* code) {
    if (bytes == 0) return cudaSuccess;
    if (to == nullptr || from == nullptr) return cudaErrorInvalidValue;
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
        return cudaErrorInvalidMemcpyDirection;
    }
    const bool into = to_device(kind, to), out_of = from_device(kind, from);
    if (const auto e = check_side(call, "target", to, bytes, into, code); e != cudaSuccess)
        return e;
    if (const auto e = check_side(call, "source", from, bytes, out_of, code); e != cudaSuccess) {
        return e;
    }
    std::memmove(to, from, bytes);
    if (into && out_of) {  // what was unwritten stays so
        std::memmove(heap.state_of(reinterpret_cast<std::uintptr_t>(to)),
                     heap.state_of(reinterpret_cast<std::uintptr_t>(from)), bytes);
        forget_splits(to, bytes);
    } else if (into) {
        mark_written(to, bytes);
    }
    return cudaSuccess;
}

cudaError_t copy_rows(const char* call, void* to, std::size_t to_pitch, const void* from,
                      std::size_t from_pitch, std::size_t row_bytes, std::size_t rows,
                      cudaMemcpyKind kind, const void* code) {
    if (row_bytes > to_pitch || row_bytes > from_pitch) return cudaErrorInvalidPitchValue;
    for (std::size_t row = 0; row < rows; ++row) {
        const cudaError_t error =
            copy(call, static_cast<std::byte*>(to) + row * to_pitch,
                 static_cast<const std::byte*>(from) + row * from_pitch, row_bytes, kind, code);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

cudaError_t fill(const char* call, void* to, int byte, std::size_t bytes, const void* code) {
    if (bytes == 0) return cudaSuccess;
    const cudaError_t error = check_side(call, "target", to, bytes, true, code);
    if (error != cudaSuccess) return error;
    std::memset(to, byte, bytes);
    mark_written(to, bytes);
    return cudaSuccess;
}

}  // namespace

#define SIXDAYS_HERE __builtin_return_address(0)

extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
    if (pointer == nullptr) return result(cudaErrorInvalidValue);
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
    const cudaError_t earlier = take_kernel_error();
    if (pointer == nullptr) return earlier;
    if (!release(pointer)) {
        const auto address = reinterpret_cast<std::uintptr_t>(pointer);
        const bool freed = in_heap(pointer) && nearest_allocation(address).begin == address;
        return refuse(Kind::invalid_call, cudaErrorInvalidValue, SIXDAYS_HERE,
                      freed ? "cudaFree: this pointer was freed before."
                            : "cudaFree: this is not a pointer that cudaMalloc returned.",
                      pointer);
    }
    return earlier;
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t) {
    return cudaMalloc(pointer, bytes);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) {
    return cudaFree(pointer);
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
    if (pointer == nullptr) return result(cudaErrorInvalidValue);
    *pointer = std::malloc(bytes == 0 ? 1 : bytes);
    return result(*pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
    return cudaMallocHost(pointer, bytes);
}
cudaError_t cudaFreeHost(void* pointer) {
    std::free(pointer);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    if (const auto e = take_kernel_error(); e != cudaSuccess) return e;
    return result(copy("cudaMemcpy", to, from, bytes, kind, SIXDAYS_HERE));
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
    if (const auto e = take_kernel_error(); e != cudaSuccess) return e;
    return result(copy("cudaMemcpyAsync", to, from, bytes, kind, SIXDAYS_HERE));
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t row_bytes, std::size_t rows, cudaMemcpyKind kind) {
    if (const auto e = take_kernel_error(); e != cudaSuccess) return e;
    return result(copy_rows("cudaMemcpy2D", to, to_pitch, from, from_pitch, row_bytes, rows, kind,
                            SIXDAYS_HERE));
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t row_bytes, std::size_t rows,
                              cudaMemcpyKind kind, cudaStream_t) {
    if (const auto e = take_kernel_error(); e != cudaSuccess) return e;
    return result(copy_rows("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, row_bytes, rows,
                            kind, SIXDAYS_HERE));
}

cudaError_t cudaMemset(void* to, int byte, std::size_t bytes) {
    if (const auto e = take_kernel_error(); e != cudaSuccess) return e;
    return result(fill("cudaMemset", to, byte, bytes, SIXDAYS_HERE));
}
cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t) {
    if (const auto e = take_kernel_error(); e != cudaSuccess) return e;
    return result(fill("cudaMemsetAsync", to, byte, bytes, SIXDAYS_HERE));
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
    if (free_bytes == nullptr || total_bytes == nullptr) return result(cudaErrorInvalidValue);
    *total_bytes = kHeapBytes;
    *free_bytes = kHeapBytes - allocated_bytes();
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    if (attributes == nullptr) return result(cudaErrorInvalidValue);
    const bool device = is_device_range(pointer, 1);
    *attributes = {device ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered, device ? 0 : -2,
                   device ? const_cast<void*>(pointer) : nullptr, nullptr};
    return cudaSuccess;
}

}  // extern "C"
