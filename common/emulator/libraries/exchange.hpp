/// @file
/// What the lanes of a warp show each other, for instructions that a whole warp makes together.
#pragma once

#include <cstddef>

#include "emulated/language.h"

namespace sixdays::emulator {

constexpr std::size_t kMostShown = 128;  // bytes that one lane can show

/// Every lane of the warp calls this, and shows `bytes` bytes; afterwards each may look at what the
/// lanes 0 to 31 have shown, one every kMostShown bytes, until the warp's next exchange but one.
const unsigned char* exchange(const void* mine, std::size_t bytes, Site site);

}  // namespace sixdays::emulator
