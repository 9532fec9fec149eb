/// @file
/// Managed memory, which the host and kernels share. A launch returns before its kernel has run, so
/// the host must wait before it accesses memory that the kernel uses. Until then the pages of
/// managed memory are protected. A fault there becomes a finding if unfinished work uses that very
/// word, and otherwise opens the page.
#pragma once

#include <cstdint>

#include "common/emulator/memory/host_access.hpp"

namespace sixdays::emulator {

/// Device work starts, or the host has waited.
void open_managed();
/// Protects it when the host continues, unless the host has waited for everything.
void close_managed();
/// For fault handlers: opens the page and returns true if this is managed memory.
bool open_managed_page(std::uintptr_t address, bool writes, const Calls& calls);

}  // namespace sixdays::emulator
