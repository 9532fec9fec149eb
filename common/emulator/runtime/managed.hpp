/// @file
/// Managed memory, which host and kernels share. A launch returns before its kernel has run, so the
/// host must wait before it touches what the kernel uses. Until then the pages of managed memory
/// are closed to it; a fault there is a finding if work that the host has not waited for used that
/// very word, and otherwise opens the page.
#pragma once

#include <cstdint>

#include "common/emulator/runtime/host_access.hpp"

namespace sixdays::emulator {

/// The device is at work, or the host has waited.
void open_managed();
/// The host goes on: closed, unless it has waited for everything.
void close_managed();
/// For a handler of faults: is this managed memory? Then its page is open afterwards.
bool open_managed_page(std::uintptr_t address, bool writes, const Calls& calls);

}  // namespace sixdays::emulator
