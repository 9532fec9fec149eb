/// @file
/// Copies to, from and within device memory. All are done immediately, even where CUDA is
/// asynchronous, except copies between the device and pinned memory (in_flight.hpp).
#include <algorithm>
#include <cstring>

#include "common/emulator/api/api.hpp"
#include "common/emulator/checks/stream_race.hpp"
#include "common/emulator/machine/stream_order.hpp"
#include "common/emulator/machine/turn.hpp"
#include "common/emulator/memory/host_access.hpp"
#include "common/emulator/memory/in_flight.hpp"
#include "common/emulator/memory/memory.hpp"
#include "common/emulator/report.hpp"
#include "common/emulator/report/describe.hpp"
#include "common/emulator/report/finding.hpp"

namespace {

using namespace sixdays::emulator;  // this file implements the runtime's API

std::size_t (*known_bytes)(const void*) = nullptr;  // set by know_host_buffers()

// Bytes from here to the end of a buffer of the host; 0 if it is not known.
std::size_t bytes_from(const void* p) {
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    if (!heap.contains(address)) return known_bytes == nullptr ? 0 : known_bytes(p);
    const Extent in = nearest_allocation(address);  // pinned or managed
    return in.live && address - in.begin < in.bytes ? in.begin + in.bytes - address : 0;
}

}  // namespace

namespace sixdays::emulator {

cudaError_t check_side(const char* call, const char* side, const void* p, std::size_t bytes,
                       bool device, const void* code) {
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    if (const Extent in = device_variable_at(address); device && in.live) {
        const std::size_t left = in.bytes - (address - in.begin);
        if (bytes <= left) return cudaSuccess;
        return reject_pointer(Kind::out_of_bounds, cudaErrorInvalidValue, code,
                              format("%s of %zu bytes: its %s is the variable `%s`, which has only "
                                     "%zu bytes from there on.",
                                     call, bytes, side, in.name, left),
                              p);
    }
    if (device && !is_device_range(p, bytes)) {
        if (p == nullptr) {
            return reject_pointer(
                Kind::invalid_call, cudaErrorInvalidValue, code,
                format("%s of %zu bytes: its %s is a null pointer. Was cudaMalloc called, and did "
                       "it succeed?",
                       call, bytes, side),
                p);
        }
        if (!is_device_only(p)) {
            return reject_pointer(
                Kind::host_memory, cudaErrorInvalidValue, code,
                format("%s of %zu bytes: its %s is a host pointer, but a device pointer is "
                       "required. Are the arguments or the direction swapped?",
                       call, bytes, side),
                p);
        }
        const Extent near = nearest_allocation(address);
        return reject_pointer(
            near.live ? Kind::out_of_bounds : Kind::freed_memory, cudaErrorInvalidValue, code,
            format("%s of %zu bytes: its %s is not inside a single allocation; it starts ", call,
                   bytes, side) +
                (address >= near.begin && address < near.begin + near.bytes && near.live
                     ? describe_inside(heap, address, 1) + " and extends past its end."
                     : describe_outside(heap, address, 1)),
            p);
    }
    if (!device && is_device_only(p)) {
        return reject_pointer(
            Kind::device_memory, cudaErrorInvalidValue, code,
            format("%s of %zu bytes: its %s is a device pointer, but a host pointer is required. "
                   "Are the arguments or the direction swapped?",
                   call, bytes, side),
            p);
    }
    if (const std::size_t known = device ? 0 : bytes_from(p); known != 0 && known < bytes) {
        return reject_pointer(
            Kind::out_of_bounds, cudaErrorInvalidValue, code,
            format("%s of %zu bytes: its %s on the host has only %zu bytes from there on. On a GPU "
                   "this would run past its end. Is the size right, in bytes?",
                   call, bytes, side, known),
            p);
    }
    return cudaSuccess;
}

}  // namespace sixdays::emulator

namespace {

// A __device__ variable, as returned by cudaGetSymbolAddress: here it is in host memory.
bool is_variable(const void* p) {
    return device_variable_at(reinterpret_cast<std::uintptr_t>(p)).live;
}
bool to_device(cudaMemcpyKind kind, const void* to) {
    return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
           (kind == cudaMemcpyDefault && is_device_only(to));
}
bool from_device(cudaMemcpyKind kind, const void* from) {
    return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ||
           (kind == cudaMemcpyDefault && is_device_only(from));
}

bool written_somewhere(const Rows& rows) {
    for (std::size_t row = 0; row < rows.count; ++row) {
        const auto begin = reinterpret_cast<std::uintptr_t>(rows.begin + row * rows.pitch);
        const std::uint8_t* state = heap.state_of(begin);
        const auto written = [](std::uint8_t byte) { return (byte & kWritten) != 0; };
        if (std::any_of(state, state + rows.row_bytes, written)) return true;
    }
    return false;
}

// Only a remark: the host may never read those values.
void remark_on_unwritten(const char* call, const Rows& from, const void* code) {
    if (is_remarked(code) || is_excused(reinterpret_cast<std::uintptr_t>(from.begin))) return;
    std::size_t count = 0, first = 0, at = 0;
    const std::size_t unit = from.row_bytes % 4 == 0 ? 4 : 1;
    for (std::size_t row = 0; row < from.count; ++row) {
        const std::uint8_t* state =
            heap.state_of(reinterpret_cast<std::uintptr_t>(from.begin + row * from.pitch));
        for (std::size_t i = 0; i < from.row_bytes; i += unit, ++at) {
            if ((state[i] & kWritten) != 0) continue;
            if (count++ == 0) first = at;
        }
    }
    if (count == 0) return;
    remark(code, format("%s copies %zu %s to the host, but %zu of %zu were never written by any "
                        "kernel, copy or cudaMemset; the first is number %zu.",
                        call, at, unit == 4 ? "words of 4 bytes" : "bytes", count, at, first));
}

void move_rows(const Rows& to, const Rows& from, bool into, bool out_of) {
    for (std::size_t row = 0; row < to.count; ++row) {
        std::byte* target = to.begin + row * to.pitch;
        const std::byte* source = from.begin + row * from.pitch;
        std::memmove(target, source, to.row_bytes);
        if (into && out_of) {  // unwritten bytes stay unwritten
            std::memmove(heap.state_of(reinterpret_cast<std::uintptr_t>(target)),
                         heap.state_of(reinterpret_cast<std::uintptr_t>(source)), to.row_bytes);
            forget_splits(target, to.row_bytes);
        } else if (into) {
            mark_written(target, to.row_bytes);
        }
    }
}

// Where a copy runs: on a stream, or the host waits for it.
struct When {
    bool waits;
    cudaStream_t stream;
};

cudaError_t copy_rows(const char* call, const Rows& to, const Rows& from, cudaMemcpyKind kind,
                      const When& when, const void* code) {
    if (const auto e = reject_while_recording(); e != cudaSuccess) return e;
    if (when.waits) wait_for_stream(nullptr);
    if (const auto e = take_kernel_error(); e != cudaSuccess) return e;
    if (to.row_bytes > to.pitch || to.row_bytes > from.pitch) return cudaErrorInvalidPitchValue;
    if (to.row_bytes == 0 || to.count == 0) return cudaSuccess;
    if (to.begin == nullptr || from.begin == nullptr) return cudaErrorInvalidValue;
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
        return cudaErrorInvalidMemcpyDirection;
    }
    bool into = to_device(kind, to.begin), out_of = from_device(kind, from.begin);
    if (const auto e = check_side(call, "target", to.begin, span(to), into, code);
        e != cudaSuccess) {
        return e;
    }
    if (const auto e = check_side(call, "source", from.begin, span(from), out_of, code);
        e != cudaSuccess) {
        return e;
    }
    into = into && !is_variable(to.begin);
    out_of = out_of && !is_variable(from.begin);
    if (out_of && !into && !written_somewhere(from) &&
        !is_excused(reinterpret_cast<std::uintptr_t>(from.begin))) {
        return reject_pointer(
            Kind::uninitialised_read, cudaErrorLaunchFailure, code,
            format(
                "%s copies %zu bytes to the host, none of which were ever written by a kernel, a "
                "copy or cudaMemset. Was the kernel launched, and does it write to this pointer?",
                call, to.row_bytes * to.count),
            from.begin);
    }
    if (out_of && !into) remark_on_unwritten(call, from, code);
    if (into) check_stream_order(call, when.stream, to, true, code);
    if (out_of) check_stream_order(call, when.stream, from, false, code);
    if (when.waits) wait_for_stream(nullptr);
    const DeviceMemoryOpen open;
    if (!into) settle(to);
    if (!out_of) settle(from);
    if (!when.waits && out_of && !into && is_pinned(to.begin)) {
        start_to_host(to, from, when.stream);
        return cudaSuccess;
    }
    move_rows(to, from, into, out_of);
    if (!when.waits && into && !out_of && is_pinned(from.begin)) start_to_device(from, when.stream);
    return cudaSuccess;
}

cudaError_t copy(const char* call, void* to, const void* from, std::size_t bytes,
                 cudaMemcpyKind kind, const When& when, const void* code) {
    return copy_rows(call, rows_of(to, bytes, bytes, 1), rows_of(from, bytes, bytes, 1), kind, when,
                     code);
}

cudaError_t fill(const char* call, void* to, int byte, std::size_t bytes, cudaStream_t stream,
                 const void* code) {
    if (const auto e = reject_while_recording(); e != cudaSuccess) return e;
    if (const auto e = take_kernel_error(); e != cudaSuccess) return e;
    if (bytes == 0) return cudaSuccess;
    const cudaError_t error = check_side(call, "target", to, bytes, true, code);
    if (error != cudaSuccess) return error;
    const bool variable = is_variable(to);  // has no access history
    if (!variable) check_stream_order(call, stream, rows_of(to, bytes, bytes, 1), true, code);
    const DeviceMemoryOpen open;
    std::memset(to, byte, bytes);
    if (!variable) mark_written(to, bytes);
    return cudaSuccess;
}

}  // namespace

void sixdays::emulator::know_host_buffers(std::size_t (*find)(const void*)) {
    known_bytes = find;
}

#define SIXDAYS_HERE __builtin_return_address(0)

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    const Turn turn;
    return result(copy("cudaMemcpy", to, from, bytes, kind, {true, nullptr}, SIXDAYS_HERE));
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    const Turn turn;
    return in_order(stream, [=, code = SIXDAYS_HERE](cudaStream_t s) {
        return result(copy("cudaMemcpyAsync", to, from, bytes, kind, {false, s}, code));
    });
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t row_bytes, std::size_t rows, cudaMemcpyKind kind) {
    const Turn turn;
    return result(copy_rows("cudaMemcpy2D", rows_of(to, to_pitch, row_bytes, rows),
                            rows_of(from, from_pitch, row_bytes, rows), kind, {true, nullptr},
                            SIXDAYS_HERE));
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t row_bytes, std::size_t rows,
                              cudaMemcpyKind kind, cudaStream_t stream) {
    const Turn turn;
    const Rows there = rows_of(to, to_pitch, row_bytes, rows);
    const Rows here = rows_of(from, from_pitch, row_bytes, rows);
    return in_order(stream, [=, code = SIXDAYS_HERE](cudaStream_t s) {
        return result(copy_rows("cudaMemcpy2DAsync", there, here, kind, {false, s}, code));
    });
}

cudaError_t cudaMemset(void* to, int byte, std::size_t bytes) {
    const Turn turn;
    return result(fill("cudaMemset", to, byte, bytes, nullptr, SIXDAYS_HERE));
}
cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t stream) {
    const Turn turn;
    return in_order(stream, [=, code = SIXDAYS_HERE](cudaStream_t s) {
        return result(fill("cudaMemsetAsync", to, byte, bytes, s, code));
    });
}

cudaError_t cudaMemset2D(void* to, std::size_t pitch, int byte, std::size_t width,
                         std::size_t height) {
    const Turn turn;
    if (width > pitch) return result(cudaErrorInvalidPitchValue);
    for (std::size_t row = 0; row < height; ++row) {
        const cudaError_t error = fill("cudaMemset2D", static_cast<std::byte*>(to) + row * pitch,
                                       byte, width, nullptr, SIXDAYS_HERE);
        if (error != cudaSuccess) return result(error);
    }
    return cudaSuccess;
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           std::size_t bytes) {
    const Turn turn;
    if (to_device != 0 || from_device != 0) return result(cudaErrorInvalidDevice);
    return result(copy("cudaMemcpyPeer", to, from, bytes, cudaMemcpyDeviceToDevice, {true, nullptr},
                       SIXDAYS_HERE));
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes, cudaStream_t stream) {
    const Turn turn;
    if (to_device != 0 || from_device != 0) return result(cudaErrorInvalidDevice);
    return result(copy("cudaMemcpyPeerAsync", to, from, bytes, cudaMemcpyDeviceToDevice,
                       {false, stream}, SIXDAYS_HERE));
}

}  // extern "C"
