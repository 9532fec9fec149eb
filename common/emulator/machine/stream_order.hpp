/// @file
/// Which launches and asynchronous copies on which streams are ordered. The emulator runs them one
/// after the other. A GPU may run two at the same time, unless they are on one stream, or an event
/// or a host wait is between them.
///
/// Each copy has its own serial number, and each launch one per block. The access histories contain
/// them (clocks.hpp), so accesses by two launches are compared like those by two threads.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "common/emulator/machine/clocks.hpp"
#include "common/emulator/machine/place.hpp"
#include "cuda_runtime_api.h"

namespace sixdays::emulator {
/// By stream: its work up to that number is known to have ended.
using StreamKnowledge = std::map<std::uint64_t, std::uint64_t>;
std::uint64_t next_stream_number();
}  // namespace sixdays::emulator

/// A stream has no queue: except here, every launch and copy is done before its call returns.
struct CUstream_st {
    bool joins_default;               // false: created with cudaStreamNonBlocking
    std::set<std::uint64_t> covered;  // numbers of other streams' copies that it waits for
    std::uint64_t id = sixdays::emulator::next_stream_number();
    sixdays::emulator::StreamKnowledge knows{};
};

namespace sixdays::emulator {

/// Null means the default stream.
CUstream_st* real(cudaStream_t stream);

/// A launch or a copy starts on this stream: its serial numbers begin at clocks.serial + 1. Sets
/// clocks.first_concurrent.
void begin_work(cudaStream_t stream, const char* what, const Place& where);

/// True if the launch or copy with this serial number came before the running one.
bool work_came_before(std::uint32_t serial);
/// `what` is "the launch of k in a.cu:12", with {0} for file and line.
struct Work {
    std::uint32_t first;   // first serial number
    std::uint32_t end;     // first serial number of the next work
    std::uint64_t number;  // counted per stream
    std::string what;
    Place where;
};
const Work* work_of(std::uint32_t serial);
/// The most recent work that the host has not waited for; null if there is none.
const Work* unfinished_work();
/// True if two past accesses belong to work of the same stream.
bool same_stream(const PastAccess& a, const PastAccess& b);

/// The work known to have ended before the next work of this stream; null: the default stream.
StreamKnowledge known_to(cudaStream_t stream);
void learn(StreamKnowledge& mine, const StreamKnowledge& more);
bool host_knows(const StreamKnowledge& known);
/// The host has waited: everything started from now on knows this.
void host_learns(const StreamKnowledge& known);
void host_learns_everything();
void add_stream(CUstream_st* stream);
bool has_streams();  // besides the default stream
/// True if it was created and not destroyed. Null, the default stream, always counts.
bool is_stream(cudaStream_t stream);
void remove_stream(CUstream_st* stream);

}  // namespace sixdays::emulator
