/// @file
/// Memory that host code must not access: device memory always, pinned memory while a copy is in
/// flight. Its pages are protected, and a fault there becomes a finding.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/emulator/machine/place.hpp"
#include "common/emulator/machine/turn.hpp"

namespace sixdays::emulator {

/// From here on the host cannot access device memory.
void close_device_memory();

/// During its lifetime a kernel or a copy may access device memory, which opens on first use.
class DeviceMemoryOpen {
public:
    DeviceMemoryOpen();
    ~DeviceMemoryOpen();
    DeviceMemoryOpen(const DeviceMemoryOpen&) = delete;
    DeviceMemoryOpen& operator=(const DeviceMemoryOpen&) = delete;

private:
    const Turn turn_;
};

/// For fault handlers: true if device memory was only closed here; it is open afterwards.
bool open_device_memory(std::uintptr_t address);

/// The host's access to the pages that hold [begin, begin + bytes).
enum class HostMay { write, read, nothing };
void protect(const void* begin, std::size_t bytes, HostMay what);

/// The call stack, innermost frame first, as return addresses.
struct Calls {
    void* addresses[24];
    int count = 0;
};
Calls calls_so_far();
/// The innermost frame in the program's own code, outside libraries and the emulator.
Place own_place(const Calls& calls);

}  // namespace sixdays::emulator
