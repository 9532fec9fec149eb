/// @file
/// Times GPU work with two events on a stream: the device's own clock, not the CPU's.
#pragma once

#include "common/gpu/stream.hpp"

struct CUevent_st;  // what cudaEvent_t points to

namespace sixdays::gpu {

/// Two events on a stream; the time between them is measured by the device's own clock. Neither
/// copied nor moved.
class Timer {
public:
    /// @throws gpu::Error  the events cannot be created
    Timer();
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    /// Frees the events. Never throws.
    ~Timer();

    /// Records the first event after the work queued on this stream. @throws gpu::Error  no such stream
    void start(Stream stream = {});
    /// Records the second event after the work queued on this stream. @throws gpu::Error  no such stream
    void stop(Stream stream = {});

    /// Seconds between start and stop; waits for stop. The resolution is about half a microsecond.
    /// On the emulator the value is meaningless.
    /// @throws gpu::Error  stop() was not called, or a kernel failed
    [[nodiscard]] double seconds();

private:
    ::CUevent_st* start_ = nullptr;
    ::CUevent_st* stop_ = nullptr;
};

}  // namespace sixdays::gpu
