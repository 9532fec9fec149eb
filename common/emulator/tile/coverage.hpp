/// @file
/// For api/launch.cpp: which tiles of which spans a tile kernel has stored.
#pragma once

#include "emulated/launch.h"

namespace sixdays::emulator {

void begin_coverage();
/// Adds a remark for each span of which only some tiles were stored.
void remark_uncovered(const Launch& what);

}  // namespace sixdays::emulator
