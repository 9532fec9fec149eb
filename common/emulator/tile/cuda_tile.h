/// @file
/// CUDA Tile C++ on the CPU: the part of the documented interface that our kernels and published
/// programs use. A tile is an array, and a block executes the kernel sequentially. What compilers
/// cannot check is checked here: promises, tiles outside their span, elements stored by two blocks
/// (tile.hpp).
#pragma once

#include "parts/atomics.h"
#include "parts/functions.h"
#include "parts/matmul.h"
#include "parts/memory.h"
#include "parts/reductions.h"
#include "parts/shapes.h"
#include "parts/views.h"
