/// @file
/// CUDA Tile C++ on the CPU: the documented interface as far as our ports and published programs use
/// it. A tile is an array, a block one walk from the kernel's first line to its last. What no
/// compiler checks is checked here: promises, tiles that reach outside, elements that two blocks
/// store (tile.hpp).
#pragma once

#include "parts/atomics.h"
#include "parts/functions.h"
#include "parts/matmul.h"
#include "parts/memory.h"
#include "parts/reductions.h"
#include "parts/shapes.h"
#include "parts/views.h"
