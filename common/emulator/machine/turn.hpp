/// @file
/// The device serves one host thread at a time.
#pragma once

namespace sixdays::emulator {

/// Held by runtime calls and launches: other host threads wait until it is destroyed. Calls by a
/// kernel belong to its launch.
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
