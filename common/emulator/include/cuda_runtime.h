/// @file
/// What nvcc includes before every .cu file. A kernel file, which the emulator compiles with its
/// eyes open (-fsanitize=thread), gets the kernel language too; a host file gets the runtime's
/// calls.
#pragma once

#if defined(__SANITIZE_THREAD__)
#include "emulated/memory_calls.h"
#endif

#include "cuda_runtime_api.h"

#define __CUDA_RUNTIME_H__  // by which others ask whether this header was included

#if defined(__SANITIZE_THREAD__)
#include "emulated/atomics.h"
#include "emulated/conversions.h"
#include "emulated/language.h"
#include "emulated/launch.h"
#include "emulated/more_math.h"
#include "emulated/ptx.h"
#include "emulated/warp.h"
#endif

#include "emulated/textures.h"
