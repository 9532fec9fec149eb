/// @file
/// Races between streams: work of one that another does not wait for.
#pragma once

#include "common/emulator/machine/stream_order.hpp"
#include "common/emulator/memory/in_flight.hpp"

namespace sixdays::emulator {

/// An asynchronous copy or cudaMemsetAsync uses device memory in stream order: reports a race if
/// work of another stream may access it at the same time and one of the two writes.
void check_stream_order(const char* call, cudaStream_t stream, const Rows& rows, bool writes,
                        const Place& where);

}  // namespace sixdays::emulator
