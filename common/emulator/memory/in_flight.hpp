/// @file
/// Copies between the device and pinned host memory that cudaMemcpyAsync has started and the host
/// has not waited for. A copy to the device is done immediately, as later calls on the stream see
/// it; a copy to the host is delivered when the host waits. Until then the host must not access the
/// target, nor write the source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

#include "common/emulator/machine/stream_order.hpp"
#include "common/emulator/memory/host_access.hpp"
#include "cuda_runtime_api.h"

namespace sixdays::emulator {

/// A pitched range of host memory.
struct Rows {
    std::byte* begin;
    std::size_t pitch, row_bytes, count;
};
inline Rows rows_of(const void* begin, std::size_t pitch, std::size_t row_bytes,
                    std::size_t count) {
    return {static_cast<std::byte*>(const_cast<void*>(begin)), pitch, row_bytes, count};
}
/// Bytes from the start of the first row to the end of the last one.
inline std::size_t span(const Rows& rows) {
    return rows.count == 0 ? 0 : rows.pitch * (rows.count - 1) + rows.row_bytes;
}

void* allocate_pinned(std::size_t bytes);  // null if out of memory
bool release_pinned(void* pointer);        // false: not from allocate_pinned
bool is_pinned(const void* pointer);

/// Host memory that cudaHostRegister made accessible to kernels; the state of its bytes is unknown.
void register_host(const void* pointer, std::size_t bytes);
bool unregister_host(const void* pointer);  // false: not the start of a registered range
bool is_registered(const void* pointer);

/// Delivers the present contents of `from` to pinned `to` when the host waits for the stream.
void start_to_host(const Rows& to, const Rows& from, cudaStream_t stream);
/// Pinned `from` has been copied to the device; the host must not write it until it has waited.
void start_to_device(const Rows& from, cudaStream_t stream);

/// The host waits for everything, for all work of a stream, or for copies by number.
void wait_for_all();
void wait_for_stream(cudaStream_t stream);
void wait_for_copies(const std::set<std::uint64_t>& numbers);
/// The copies that wait_for_stream would wait for now.
std::set<std::uint64_t> copies_before_now(cudaStream_t stream);
/// From here on, the stream waits for these copies too.
void cover(cudaStream_t stream, const std::set<std::uint64_t>& numbers);
/// The device uses this memory next, in order.
void settle(const Rows& rows);

/// For a fault at this address: opens the page if a copy in flight had protected it, and reports
/// the access if the copy uses this byte.
bool open_in_flight(std::uintptr_t address, bool writes, const Calls& calls);

}  // namespace sixdays::emulator
