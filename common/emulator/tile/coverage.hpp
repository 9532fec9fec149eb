/// @file
/// For launch.cpp: which tiles of which spans a launch of a tile kernel has stored.
#pragma once

#include "emulated/launch.h"

namespace sixdays::emulator {

void begin_coverage();
/// A span of which some tiles were stored and others were not is worth a note.
void remark_uncovered(const Launch& what);

}  // namespace sixdays::emulator
