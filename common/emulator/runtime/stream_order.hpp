/// @file
/// Which launches and asynchronous copies, on which streams, are known to come before which. The
/// emulator runs them one after the other; a GPU may run two at the same time, unless they are on
/// one stream, or an event or a wait of the host is between them.
///
/// Each copy has its own serial number, and each launch one per block. The histories of words hold
/// them (clocks.hpp), so two launches that access one word are compared there like two threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "common/emulator/runtime/clocks.hpp"
#include "common/emulator/runtime/finding.hpp"
#include "common/emulator/runtime/in_flight.hpp"

namespace sixdays::emulator {

/// A launch or a copy begins on this stream: its serial numbers start at clocks.serial + 1. Sets
/// clocks.first_concurrent.
void begin_work(cudaStream_t stream, const char* what, const Place& where);

/// Did the launch or copy with this serial number come before the one that runs?
bool work_came_before(std::uint32_t serial);
/// "the launch of k in a.cu:12", where {0} stands for its place.
struct Work {
    std::uint32_t first;   // serial number
    std::uint32_t end;     // the next one's first
    std::uint64_t number;  // on its stream
    std::string what;
    Place where;
};
const Work* work_of(std::uint32_t serial);
/// What was started last and the host has not waited for; null if there is nothing.
const Work* unfinished_work();
/// Of two accesses by earlier work.
bool same_stream(const PastAccess& a, const PastAccess& b);

/// What is known to have ended before whatever the stream does next; null: the default stream.
StreamKnowledge known_to(cudaStream_t stream);
void learn(StreamKnowledge& mine, const StreamKnowledge& more);
bool host_knows(const StreamKnowledge& known);
/// The host has waited, so all that starts from now on knows this.
void host_learns(const StreamKnowledge& known);
void host_learns_everything();
void add_stream(CUstream_st* stream);
/// Was it created, and not destroyed since? Null, the default stream, is one.
bool is_stream(cudaStream_t stream);
void remove_stream(CUstream_st* stream);

/// An asynchronous copy, or cudaMemsetAsync, uses device memory in its stream's turn: a finding if
/// another stream may do so at the same time, and one of them writes.
void check_stream_order(const char* call, cudaStream_t stream, const Rows& rows, bool writes,
                        const Place& where);

}  // namespace sixdays::emulator
