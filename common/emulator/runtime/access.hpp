/// @file
/// Every load and store of a kernel comes through here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/emulator/runtime/block.hpp"
#include "common/emulator/runtime/memory.hpp"

namespace sixdays::emulator {

/// Called before the current thread reads or writes [address, address + bytes).
/// @param code      return address of the hook: where in the kernel that is
/// @param expected  what a compare-and-swap compares with
/// @param traced    false: the trace has this access already
void before_access(const void* address, std::size_t bytes, AccessKind what, const void* code,
                   const void* expected = nullptr, bool traced = true);

/// The address is no multiple of what such an access needs: a finding, where a kernel makes it.
void check_alignment(const void* address, std::size_t bytes, std::size_t alignment, AccessKind what,
                     const void* code);

/// Has the block written to this address of shared memory?
bool was_written(const void* address);
/// Marks shared memory where an asynchronous copy will arrive, or has.
void set_pending(const void* address, std::size_t bytes, bool pending);

/// The range of the launch's arguments, which kernels may read.
void set_arguments(const void* begin, std::size_t bytes);

}  // namespace sixdays::emulator
