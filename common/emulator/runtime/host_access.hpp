/// @file
/// Memory that host code must not touch: the device's, always, and pinned memory while a copy is in
/// flight. Its pages are protected meanwhile, and a fault there becomes a finding.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/emulator/runtime/finding.hpp"
#include "common/emulator/runtime/turn.hpp"

namespace sixdays::emulator {

/// From here on the host cannot touch device memory.
void close_device_memory();

/// While one of these lives, device memory opens where it is touched: by a kernel, or by a copy.
class DeviceMemoryOpen {
public:
    DeviceMemoryOpen();
    ~DeviceMemoryOpen();
    DeviceMemoryOpen(const DeviceMemoryOpen&) = delete;
    DeviceMemoryOpen& operator=(const DeviceMemoryOpen&) = delete;

private:
    const Turn turn_;
};

/// For a handler of faults: was it only that this place is not open yet? Then it is now.
bool open_device_memory(std::uintptr_t address);

/// What the host may do with the pages that hold [begin, begin + bytes).
enum class HostMay { write, read, nothing };
void protect(const void* begin, std::size_t bytes, HostMay what);

/// The calls that led here, innermost first, as return addresses.
struct Calls {
    void* addresses[24];
    int count = 0;
};
Calls calls_so_far();
/// The innermost of them that is the program's own: no library, no part of the emulator.
Place own_place(const Calls& calls);

}  // namespace sixdays::emulator
