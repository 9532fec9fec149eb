/// @file
/// Times GPU work with two events on a stream: the device's own clock, not the CPU's.
#pragma once

#include "common/gpu/stream.hpp"

struct CUevent_st;  // what cudaEvent_t points to

namespace sixdays::gpu {

class Timer {
public:
    Timer();
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    ~Timer();

    void start(Stream stream = {});
    void stop(Stream stream = {});

    /// Seconds between start and stop; waits for stop. The resolution is about half a microsecond.
    /// On the emulator the value is meaningless.
    [[nodiscard]] double seconds();

private:
    ::CUevent_st* start_ = nullptr;
    ::CUevent_st* stop_ = nullptr;
};

}  // namespace sixdays::gpu
