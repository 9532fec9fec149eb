/// @file
/// The device serves one thread of the host at a time.
#pragma once

namespace sixdays::emulator {

/// Calls of the runtime, and launches, begin with one: other threads of the host wait until it is
/// gone. A kernel's own calls belong to its launch.
class Turn {
public:
    Turn();
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

private:
    const bool taken_;
};

}  // namespace sixdays::emulator
