/// @file
/// Copies that cudaMemcpyAsync has started between the device and pinned host memory, and that the
/// host has not waited for. What goes to the device is there at once, as later calls on the stream
/// see it; what comes to the host arrives when the host waits. Until then the host must not touch
/// the one nor change the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "common/emulator/runtime/host_access.hpp"
#include "cuda_runtime_api.h"

namespace sixdays::emulator {
/// By stream: what it did up to that number is known to have ended (stream_order.hpp).
using StreamKnowledge = std::map<std::uint64_t, std::uint64_t>;
std::uint64_t next_stream_number();
}  // namespace sixdays::emulator

/// A stream is a name; every launch and copy is done before its call returns, except here.
struct CUstream_st {
    bool joins_default;               // false: made with cudaStreamNonBlocking
    std::set<std::uint64_t> covered;  // copies of other streams that it waits for, by number
    std::uint64_t id = sixdays::emulator::next_stream_number();
    sixdays::emulator::StreamKnowledge knows{};
};

namespace sixdays::emulator {

/// Null means the default stream.
CUstream_st* real(cudaStream_t stream);

/// Rows of host memory.
struct Rows {
    std::byte* begin;
    std::size_t pitch, row_bytes, count;
};
inline Rows rows_of(const void* begin, std::size_t pitch, std::size_t row_bytes,
                    std::size_t count) {
    return {static_cast<std::byte*>(const_cast<void*>(begin)), pitch, row_bytes, count};
}
/// Bytes from the first row's start to the last one's end.
inline std::size_t span(const Rows& rows) {
    return rows.count == 0 ? 0 : rows.pitch * (rows.count - 1) + rows.row_bytes;
}

void* allocate_pinned(std::size_t bytes);  // null if there is no memory
bool release_pinned(void* pointer);        // false: not what allocate_pinned returned
bool is_pinned(const void* pointer);

/// What `from` holds now arrives in pinned `to` when the host waits for the stream.
void start_to_host(const Rows& to, const Rows& from, cudaStream_t stream);
/// Pinned `from` has been copied to the device; the host must not change it until it has waited.
void start_to_device(const Rows& from, cudaStream_t stream);

/// The host waits for everything, for all that a stream does, or for copies by number.
void wait_for_all();
void wait_for_stream(cudaStream_t stream);
void wait_for_copies(const std::set<std::uint64_t>& numbers);
/// What wait_for_stream would wait for now.
std::set<std::uint64_t> copies_before_now(cudaStream_t stream);
/// From here on, the stream waits for these too.
void cover(cudaStream_t stream, const std::set<std::uint64_t>& numbers);
/// The device itself uses this memory next, and it keeps the order.
void settle(const Rows& rows);

/// The host may not touch this address: because of a copy in flight? Then its page is open
/// afterwards, and if the byte is one that the copy uses, this is a finding.
bool open_in_flight(std::uintptr_t address, bool writes, const Calls& calls);

}  // namespace sixdays::emulator
